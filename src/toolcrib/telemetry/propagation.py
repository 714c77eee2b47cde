"""The trace that a call belongs to, on its way from the client's request to the server's.

Light enough for everyone: whether anything is traced here is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

TRACEPARENT = "traceparent"
_PARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII)
_LONGEST = {"tracestate": 512, "baggage": 8192}
"""What goes with a trace, and the most characters of it that W3C asks anybody to pass on."""

Trace = Mapping[str, str]

carried: ContextVar[Trace | None] = ContextVar("carried", default=None)
"""The keys of `_meta` that a call to a server gets; each call has a context of its own."""


def carry(meta: Mapping[str, Any]) -> None:
    """What is done from here on belongs to the trace that a request's `_meta` names, if it names one."""
    trace = read_trace(meta)
    if trace is not None:
        carried.set(trace)


def read_trace(meta: Mapping[str, Any]) -> dict[str, str] | None:
    """The trace that a request's `_meta` names; None where it names none, or not as W3C has it."""
    parent = meta.get(TRACEPARENT)
    if not isinstance(parent, str) or not _PARENT.fullmatch(parent):
        return None
    trace = {TRACEPARENT: parent}
    for key, longest in _LONGEST.items():
        value = meta.get(key)
        if isinstance(value, str) and len(value) <= longest:
            trace[key] = value
    return trace
