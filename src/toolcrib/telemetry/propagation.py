"""Passes a client's trace context (`traceparent`, `tracestate`, `baggage`) on to the server; needs no
OpenTelemetry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

TRACEPARENT = "traceparent"
_PARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII)
_LONGEST = {"tracestate": 512, "baggage": 8192}
"""Further trace keys, and the length that W3C requires to be passed on."""

Trace = Mapping[str, str]

carried: ContextVar[Trace | None] = ContextVar("carried", default=None)
"""The trace keys for `_meta` of a call; each call has its own context."""


def carry(meta: Mapping[str, Any]) -> None:
    """Use the trace in a request's `_meta`, if any, for the current context."""
    trace = read_trace(meta)
    if trace is not None:
        carried.set(trace)


def read_trace(meta: Mapping[str, Any]) -> dict[str, str] | None:
    """The W3C trace in a request's `_meta`; None if missing or invalid."""
    parent = meta.get(TRACEPARENT)
    if not isinstance(parent, str) or not _PARENT.fullmatch(parent):
        return None
    trace = {TRACEPARENT: parent}
    for key, longest in _LONGEST.items():
        value = meta.get(key)
        if isinstance(value, str) and len(value) <= longest:
            trace[key] = value
    return trace
