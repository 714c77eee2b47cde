"""Turns an error into a result that a model can read and act on: what failed, why, and what to try."""

from __future__ import annotations

from toolcrib.errors import ToolcribError
from toolcrib.schema.tools import ToolResult

ERROR_NOTE = "toolcrib/error"
"""The key under `_meta` with the kind of error and whether trying again may help."""


def as_result(error: ToolcribError) -> ToolResult:
    """The MCP result that stands for an error."""
    text = f"{error.message}\n{error.hint}" if error.hint else error.message
    return {
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "_meta": {ERROR_NOTE: {"kind": error.kind, "retryable": error.retryable}},
    }
