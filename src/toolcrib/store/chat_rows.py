"""Chats for display: entries with position and time, how each chat's latest turn ended (such as interrupted),
its number of calls, and the tokens and cost of turns.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ParamSpec, TypeVar

from toolcrib.agent.chat import Took
from toolcrib.agent.entry_json import read_entry
from toolcrib.chats.replay import StoredEntry
from toolcrib.schema.json_values import moment
from toolcrib.store.columns import from_stored, to_stored
from toolcrib.store.connection import DatabaseConnection
from toolcrib.store.work_queue import AsyncDatabase

P = ParamSpec("P")
R = TypeVar("R")

FEW = 100
"""Rows that are handled at once: a few milliseconds."""

_MOST_KNOWN = 5000
"""Cached states: they change only when an entry is added."""


@dataclass(frozen=True, kw_only=True)
class TurnTaken:
    chat: str
    title: str
    time: datetime
    took: Took


def turns(connection: DatabaseConnection, limit: int) -> list[TurnTaken]:
    statement = (
        "SELECT chat, title, time, body FROM chat_entries JOIN chats ON chats.id = chat"
        " WHERE kind = 'took' ORDER BY time DESC LIMIT ?"
    )
    rows = connection.execute(statement, (limit,)).fetchall()
    return [
        TurnTaken(chat=chat, title=title, time=from_stored(time), took=took)
        for chat, title, time, body in rows
        if isinstance(took := read_entry("took", json.loads(body)), Took)
    ]


def sums(connection: DatabaseConnection, since: datetime) -> tuple[int, int, float | None]:
    """Input and output tokens since then, and the cost; None if the cost of any turn is unknown."""
    statement = (
        "SELECT sum(CAST(json_extract(body, '$.usage.input') AS INTEGER)),"
        " sum(CAST(json_extract(body, '$.usage.output') AS INTEGER)),"
        " sum(CAST(json_extract(body, '$.cost') AS DOUBLE PRECISION)),"
        " count(json_extract(body, '$.cost')), count(*)"
        " FROM chat_entries WHERE kind = 'took' AND time >= ?"
    )
    used, written, cost, known, every = connection.execute(statement, (to_stored(since),)).fetchone()
    return used or 0, written or 0, cost if known == every else None


async def beside_loop(rows: Sized, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The result of a function that goes through these rows; in a thread if there are many."""
    if len(rows) <= FEW:
        return function(*args, **kwargs)
    return await asyncio.to_thread(function, *args, **kwargs)


@dataclass(frozen=True, kw_only=True)
class ChatStanding:
    ending: str | None
    """How its latest turn ended; None if there was none."""
    calls: int
    reason: str = ""


class ChatRows:
    """Reads chats; `Chats` writes them."""

    def __init__(self, database: AsyncDatabase) -> None:
        self._database = database
        self._known: OrderedDict[tuple[str, int], ChatStanding] = OrderedDict()

    async def read(self, chat: str) -> list[StoredEntry]:
        """All entries of a chat, by its full id."""
        statement = "SELECT position, time, kind, body FROM chat_entries WHERE chat = ? ORDER BY position"
        rows = await self._database.run(lambda within: within.execute(statement, (chat,)).fetchall())
        return await beside_loop(rows, _read_rows, rows)

    async def standings(self, chats: Sequence[tuple[str, int]]) -> dict[str, ChatStanding]:
        """The states of these chats, each given with its number of entries."""
        unknown = [chat for chat in chats if chat not in self._known]
        if unknown:
            found = await self._database.run(lambda within: [_standing(chat, within) for chat, _ in unknown])
            self._known.update(zip(unknown, found, strict=True))
        standings = {chat[0]: self._known[chat] for chat in chats}
        while len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return standings


def _read_rows(rows: Sequence[tuple[int, int, str, str]]) -> list[StoredEntry]:
    return [
        StoredEntry(position=position, time=moment(from_stored(time)), kind=kind, body=json.loads(body))
        for position, time, kind, body in rows
    ]


INTERRUPTED = "interrupted"
"""The turn has no stored ending: its process was killed."""


def _ending(rows: Sequence[tuple[str, Mapping[str, Any]]]) -> str | None:
    """How the latest turn ended, from its last entries, newest first."""
    if not rows:
        return None
    kind, body = rows[0]
    if kind == "took" and body.get("ending"):
        return str(body["ending"])
    remark = next((body for kind, body in rows if kind == "remark"), None)
    if kind in ("remark", "took") and remark is not None:
        return str(remark.get("kind"))
    said = kind == "said" and body["from"] == "model"
    calls = said and any(part["type"] == "call" for part in body["parts"])
    return "answered" if said and not calls else INTERRUPTED


def _standing(chat: str, connection: DatabaseConnection) -> ChatStanding:
    calls = connection.execute(
        "SELECT count(*) FROM chat_entries AS entry, json_each(entry.body, '$.parts') AS part"
        " WHERE entry.chat = ? AND entry.kind = 'said' AND json_extract(part.value, '$.type') = 'call'",
        (chat,),
    ).fetchone()[0]
    last = connection.execute(
        "SELECT kind, body FROM chat_entries WHERE chat = ?"
        " AND kind IN ('said', 'remark', 'took', 'partial', 'continued')"
        " AND NOT (kind = 'remark' AND json_extract(body, '$.kind') = 'notice')"
        " ORDER BY position DESC LIMIT 2",
        (chat,),
    ).fetchall()
    rows = [(kind, json.loads(body)) for kind, body in last]
    ending = _ending(rows)
    reasons = [str(body.get("text", "")) for kind, body in rows if kind == "remark" and ending == "failed"]
    return ChatStanding(ending=ending, calls=calls, reason=reasons[0] if reasons else "")
