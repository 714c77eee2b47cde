"""Results of calls: one that is too large is cut, with the note "This result was cut"; an error becomes a
result with its message, hint and whether a retry may help. Measures a result's size in bytes.

The source's own dict is never changed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from toolcrib.errors import (
    ApprovalPending,
    CallTimeout,
    Denied,
    NotFound,
    ServerUnavailable,
    ToolcribError,
    UsageError,
)
from toolcrib.schema.tools import Outcome, Tool, ToolResult
from toolcrib.tools.ports import Decision

_SAMPLE = 16_384
_SHORT_ANSWER = 61
"""`content`, `type` and `isError` around one text."""
_CONTAINER = 2
_CONTAINERS = frozenset((dict, list))
_PLAIN = frozenset((int, float, bool, type(None)))
_SCALAR = 5
"""About the size of a number, a boolean or null in JSON."""


def outcome_of(error: ToolcribError) -> Outcome:
    if isinstance(error, UsageError | NotFound):
        return "invalid"
    if isinstance(error, Denied):
        return "denied"
    if isinstance(error, CallTimeout):
        return "timeout"
    if isinstance(error, ServerUnavailable):
        return "unavailable"
    return "failed"


def refusal(tool: Tool, decision: Decision) -> Denied:
    """The error for a denied call."""
    reason = f": {decision.reason.rstrip('.')}" if decision.reason else ""
    hint = f"The rule {decision.rule} decided this." if decision.rule else "The user has to approve it first."
    return Denied(f"The call of {tool.name} was refused{reason}.", hint=hint)


ERROR_NOTE = "toolcrib/error"
"""The key under `_meta` with the kind of error and whether a retry may help."""


def as_result(error: ToolcribError) -> ToolResult:
    text = f"{error.message}\n{error.hint}" if error.hint else error.message
    note = {"kind": error.kind, "retryable": error.retryable}
    pending = {"status": error.kind, "id": error.question} if isinstance(error, ApprovalPending) else {}
    return {
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "_meta": {ERROR_NOTE: {**note, **pending}},
    }


def result_size(result: ToolResult) -> int:
    """The bytes of a result: as its source received it if known, else about its size as JSON."""
    content = result.get("content")
    if type(content) is list and len(content) == 1 and len(result) == 1 + ("isError" in result):
        # The usual answer is one plain text, which is cheap to measure.
        block = content[0]
        text = block.get("text") if type(block) is dict and len(block) == 2 else None
        if type(text) is str and text.isascii():
            return len(text) + _SHORT_ANSWER
    hint = getattr(result, "wire_bytes", None)
    return hint if isinstance(hint, int) else value_size(result)


def value_size(value: Any, most: float = math.inf) -> int:
    """About the size of a value as JSON in UTF-8, without escapes in strings; not counted beyond `most`."""
    total = -_CONTAINER
    pending: list[Any] = [(value,)]
    while pending and total <= most:
        many = pending.pop()
        total += _CONTAINER
        if isinstance(many, Mapping):
            total += 4 * len(many)
            for key in many:
                total += len(key) if type(key) is str else 1
            many = many.values()
        for item in many:
            kind = type(item)
            if kind is str:
                total += (len(item) if item.isascii() else text_size(item)) + 3
            elif kind in _CONTAINERS or (kind not in _PLAIN and isinstance(item, list | tuple | Mapping)):
                pending.append(item)
            else:
                total += _SCALAR
    return total


def text_size(text: str) -> int:
    """Bytes of a text in UTF-8; a long one beyond ASCII is estimated from its beginning."""
    if text.isascii():
        return len(text)
    sample = text[:_SAMPLE]
    bytes_of_sample = len(sample.encode("utf-8", "surrogatepass"))
    return bytes_of_sample * len(text) // len(sample)


CUT_NOTE = "toolcrib/cut"
"""The key under `_meta` with the note for programs."""
_ALWAYS_KEPT = 1024
"""Smaller fields, such as `isError`, are always kept."""


def cap(result: ToolResult, limit: int) -> tuple[ToolResult, int]:
    """The result, or a cut copy if it is larger than `limit` bytes; and its size.

    `result_size` may count escapes, which can make six bytes of two: only the measured size decides.
    """
    size = value_size(result, limit)
    if size <= limit:
        return result, size
    known = getattr(result, "wire_bytes", None)
    size = known if isinstance(known, int) else value_size(result)
    return _cut(result, limit, size), size


def _cut(result: ToolResult, limit: int, size: int) -> ToolResult:
    content, left, dropped = _cut_content(result.get("content"), limit)
    kept: ToolResult = {"content": content}
    for key, value in result.items():
        if key == "content":
            continue
        taken = value_size(value, max(left, _ALWAYS_KEPT))
        if taken > max(left, _ALWAYS_KEPT):
            dropped.append(key)
            continue
        left = max(0, left - taken)
        kept[key] = value
    return _annotate(kept, size, limit - left, dropped)


def _cut_content(content: Any, limit: int) -> tuple[list[Any], int, list[str]]:
    """The blocks that fit; the first text that does not fit is cut, other blocks are dropped."""
    kept: list[Any] = []
    dropped: list[str] = []
    left = limit
    for block in content if isinstance(content, list) else []:
        taken = value_size(block, left)
        if taken <= left:
            kept.append(block)
            left -= taken
        elif left and _is_text(block):
            kept.append({**block, "text": _first_bytes(block["text"], left)})
            left = 0
        elif len(dropped) < 10:
            dropped.append(_kind(block))
    return kept, left, dropped


def _annotate(kept: ToolResult, size: int, used: int, dropped: list[str]) -> ToolResult:
    note = f"[This result was cut: {used:,} of about {size:,} bytes are shown."
    if dropped:
        note += f" Left out: {', '.join(dropped)}."
    note += " Request less, or one part at a time.]"
    kept["content"].append({"type": "text", "text": note})
    meta = kept.get("_meta")
    cut = {"bytes": size, "kept": used, "dropped": dropped}
    kept["_meta"] = {**(meta if isinstance(meta, dict) else {}), CUT_NOTE: cut}
    return kept


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _kind(block: Any) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) and len(kind) < 40 else "content"


def _first_bytes(text: str, limit: int) -> str:
    head = text[:limit]
    if head.isascii():
        return head
    return head.encode("utf-8", "surrogatepass")[:limit].decode("utf-8", "ignore")
