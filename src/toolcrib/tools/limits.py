"""Keeps a result within its limit: what is too large is replaced by a cut copy that says how much is missing.

The source's own dict is never changed.
"""

from __future__ import annotations

from typing import Any

from toolcrib.schema.tools import ToolResult
from toolcrib.tools.sizes import result_size, short_answer_size, value_size

CUT_NOTE = "toolcrib/cut"
"""The key under `_meta` that tells programs what the note in the text tells people."""
_ALWAYS_KEPT = 1024
"""Fields this small, such as `isError`, stay whatever the limit."""


def cap(result: ToolResult, limit: int) -> tuple[ToolResult, int]:
    """The result, or a cut copy of it when it is larger than `limit` bytes; and the size it came with."""
    size = short_answer_size(result) or result_size(result)
    if size <= limit:
        return result, size
    # A hint counts escapes too, which can make six bytes of two: only the measured size decides.
    size = value_size(result)
    if size <= limit:
        return result, size
    return _cut(result, limit, size), size


def _cut(result: ToolResult, limit: int, size: int) -> ToolResult:
    content, left, dropped = _cut_content(result.get("content"), limit)
    kept: ToolResult = {"content": content}
    for key, value in result.items():
        if key == "content":
            continue
        taken = value_size(value)
        if taken > max(left, _ALWAYS_KEPT):
            dropped.append(key)
            continue
        left = max(0, left - taken)
        kept[key] = value
    return _annotate(kept, size, limit - left, dropped)


def _cut_content(content: Any, limit: int) -> tuple[list[Any], int, list[str]]:
    """The blocks that fit; the first text that does not is kept in part, any other is named as dropped."""
    kept: list[Any] = []
    dropped: list[str] = []
    left = limit
    for block in content if isinstance(content, list) else []:
        taken = value_size(block)
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
    note = f"[This result was cut: it has about {size:,} bytes, of which {used:,} are shown."
    if dropped:
        note += f" Left out: {', '.join(dropped)}."
    note += " Ask for less, or for one part at a time.]"
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
