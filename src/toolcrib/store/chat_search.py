"""Finds chats by words: in their titles, and in what was said by the person or the model.

All words have to stand in the same message, or in the title; a part of a word will do.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from toolcrib.agent.chat import ChatInfo
from toolcrib.store.chat_records import read_infos

AROUND = 80
"""Characters before and after a word in an excerpt."""
_PLACES = "SELECT chat, position, text FROM chat_words"
_PARTIAL = (
    "SELECT chat, position, json_extract(body, '$.text') FROM chat_entries WHERE kind = 'partial'"
    " ORDER BY position"
)
_SHORTEST = 3
"""Characters of a word that the index knows; shorter ones are looked for in every message."""


@dataclass(frozen=True, kw_only=True)
class ChatMatch:
    """A chat that was found."""

    info: ChatInfo
    excerpt: str = ""
    """What stands around the words; empty when they are in the title."""
    position: int | None = None
    """The entry in which they are; None for the title."""


def search(words: str, limit: int, connection: sqlite3.Connection) -> list[ChatMatch]:
    """The latest chats first."""
    wanted = words.split()
    if not wanted:
        return []
    places = _said(wanted, connection)
    found: list[ChatMatch] = []
    for info in read_infos(connection, "WHERE deleted IS NULL ORDER BY updated DESC, id", ()):
        title = info.title.casefold()
        if all(word.casefold() in title for word in wanted):
            found.append(ChatMatch(info=info))
        elif info.id in places:
            position, text = places[info.id]
            found.append(ChatMatch(info=info, excerpt=_excerpt(text, wanted[0]), position=position))
        if len(found) == limit:
            break
    return found


def _said(words: list[str], connection: sqlite3.Connection) -> dict[str, tuple[int, str]]:
    """By chat, the last message that has all words."""
    long = [word for word in words if len(word) >= _SHORTEST]
    short = [word.casefold() for word in words if len(word) < _SHORTEST]
    if long:
        wanted = " AND ".join(_quoted(word) for word in long)
        rows = connection.execute(f"{_PLACES} WHERE chat_words MATCH ? ORDER BY position", (wanted,))
    else:
        rows = connection.execute(f"{_PLACES} ORDER BY position")
    found = {
        chat: (position, text)
        for chat, position, text in rows
        if not short or all(word in text.casefold() for word in short)
    }
    return {**_interrupted(words, connection), **found}


def _interrupted(words: list[str], connection: sqlite3.Connection) -> dict[str, tuple[int, str]]:
    """By chat, the last interrupted answer that has all words."""
    wanted = [word.casefold() for word in words]
    return {
        chat: (position, text)
        for chat, position, text in connection.execute(_PARTIAL)
        if all(word in text.casefold() for word in wanted)
    }


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _excerpt(text: str, word: str) -> str:
    plain = " ".join(text.split())
    at = max(0, plain.casefold().find(word.casefold()))
    start, end = max(0, at - AROUND), at + len(word) + AROUND
    return f"{'…' if start else ''}{plain[start:end]}{'…' if end < len(plain) else ''}"
