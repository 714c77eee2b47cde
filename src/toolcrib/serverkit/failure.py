"""What a tool raises when it has something to tell the model."""

from __future__ import annotations

from toolcrib.errors import CallFailed


class ToolFailure(CallFailed):
    """The tool could not do it; the model reads the message and the hint and may try another way."""

    kind = "tool_failed"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
