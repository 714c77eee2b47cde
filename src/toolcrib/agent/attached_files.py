"""Attaches text files to a question: how many, how long, which share of the model's context they may take,
and the errors for files that cannot be attached.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from toolcrib.agent.chat import Chat, TextFile
from toolcrib.agent.compaction import share, tokens
from toolcrib.chats.attached import file_name
from toolcrib.errors import UsageError

MOST_FILES = 8
LONGEST_FILE = 1_000_000
"""Characters."""
_CONTEXT_SHARE = 4
"""All files of a question together take at most one part in so many of the model's context."""


class GivenFile(Protocol):
    name: str
    text: str


def attach(files: Sequence[GivenFile], chat: Chat | None, context_tokens: int) -> tuple[TextFile, ...]:
    """The files for a question of this chat, the longest ones shown in part; raises `UsageError`."""
    for file in files:
        if "\0" in file.text:
            raise UsageError(f"{file_name(file.name)} is not a text file.", hint="Attach text in UTF-8.")
    before = len(chat.files) if chat is not None else 0
    room, attached = context_tokens // _CONTEXT_SHARE, dict[int, TextFile]()
    # The shortest first: what they leave is for the others.
    by_length = sorted(range(len(files)), key=lambda at: len(files[at].text))
    for left, at in zip(range(len(files), 0, -1), by_length, strict=True):
        text = files[at].text
        shown = min(len(text), share(text, room // left))
        room -= tokens(text[:shown])
        key = f"f{before + at + 1}"
        attached[at] = TextFile(key=key, name=file_name(files[at].name), text=text, shown=shown)
    return tuple(attached[at] for at in range(len(files)))
