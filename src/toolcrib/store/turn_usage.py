"""Usage and cost of turns over all chats; functions for the database's thread."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from toolcrib.agent.chat import Took
from toolcrib.agent.entry_json import read_entry
from toolcrib.store.columns import from_stored, to_stored
from toolcrib.store.connection import DatabaseConnection


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
