"""Gives calls ids that no earlier call of the chat has; some vendors count from the start in each round."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import replace

from toolcrib.agent.chat import ByHand, Entry, Said
from toolcrib.schema.messages import FromModel, Opaque, Text, ToolUse


def with_new_ids(message: FromModel, entries: Iterable[Entry]) -> FromModel:
    """The message; a call whose id was used before gets another one."""
    if not message.calls:
        return message
    used = set(_ids(entries))
    return FromModel(parts=tuple(_renamed(part) if _clashes(part, used) else part for part in message.parts))


def _ids(entries: Iterable[Entry]) -> Iterable[str]:
    for entry in entries:
        if isinstance(entry, ByHand):
            yield entry.call.id
        elif isinstance(entry, Said) and isinstance(entry.message, FromModel):
            yield from (call.id for call in entry.message.calls)


def _clashes(part: Text | ToolUse | Opaque, used: set[str]) -> bool:
    return isinstance(part, ToolUse) and part.id in used


def _renamed(part: Text | ToolUse | Opaque) -> Text | ToolUse | Opaque:
    return replace(part, id=f"call_{secrets.token_hex(6)}") if isinstance(part, ToolUse) else part
