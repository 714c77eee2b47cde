"""The texts that stand for a tool while the model learns; the first is the one it meets at run time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolcrib.retrieval.finder import passage, spaced

_FILLER = re.compile(r"\b(?:mcp|server|integration|tool|api)\b", re.IGNORECASE)


def views(tool: Mapping[str, Any]) -> list[str]:
    """The passage of the run-time index, then variants that teach the model not to lean on one form."""
    name, server, told = tool["name"], tool.get("server") or "", tool.get("description") or ""
    whole = passage(name, server, told)
    parameters = ", ".join(spaced(one) for one in _parameters(tool)[:12])
    short = _FILLER.sub("", spaced(server)).strip() or server
    variants = [
        f"{spaced(server)} {spaced(name)}".strip(),
        passage(name, short.lower(), told),
        passage(name, "", told),
        f"{whole} Parameters: {parameters}" if parameters else whole,
        f"{spaced(server)}: {spaced(name)}. {' '.join(told.split())[:400]}",
    ]
    return list(dict.fromkeys([whole, *variants]))


def _parameters(tool: Mapping[str, Any]) -> list[str]:
    schema = tool.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return list(properties) if isinstance(properties, dict) else []
