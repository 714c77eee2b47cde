"""Compares chats that did the same with other values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.errors import UsageError
from toolcrib.features.workflows.from_chat.calls import ChatCall
from toolcrib.features.workflows.from_chat.origins import Origin
from toolcrib.graph.references import Path

MISSING = object()


def check_same_shape(chats: Sequence[Sequence[ChatCall]]) -> None:
    """Raises `UsageError` that says where chats differ in more than values."""
    first = [call.tool for call in chats[0]]
    for number, chat in enumerate(chats[1:], 2):
        tools = [call.tool for call in chat]
        if tools == first:
            continue
        place = next(
            (at for at, pair in enumerate(zip(first, tools, strict=False)) if pair[0] != pair[1]), None
        )
        at = min(len(first), len(tools)) if place is None else place
        names = [(sequence[at] if at < len(sequence) else "nothing") for sequence in (first, tools)]
        raise UsageError(
            f"The chats did different things: call {at + 1} is {names[0]} in the first chat and {names[1]} "
            f"in chat {number}.",
            hint="Make one workflow from each of them.",
        )


def value_at(value: Any, path: Path) -> Any:
    """A part of an argument; `MISSING` if there is none."""
    for part in path:
        is_key = isinstance(value, Mapping) and part in value
        is_index = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if not is_key and not is_index:
            return MISSING
        value = value[part]
    return value


def varies(chats: Sequence[Sequence[ChatCall]], call: int, path: Path) -> bool:
    """Whether the value at this place of the arguments is not the same in all chats."""
    values = [value_at(chat[call].arguments, path) for chat in chats]
    return any(value != values[0] for value in values[1:])


def holds_everywhere(chats: Sequence[Sequence[ChatCall]], call: int, path: Path, origin: Origin) -> bool:
    """Whether the value came from the same place in every chat."""
    return all(value_at(chat[call].arguments, path) == origin.value(chat) for chat in chats)
