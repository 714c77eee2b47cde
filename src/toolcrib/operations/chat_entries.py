"""The entries of a chat in the store, as turns are made of them."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.chats.replay import StoredEntry
from toolcrib.host import Host
from toolcrib.schema.json_values import moment
from toolcrib.store.chat_rows import ChatRow
from toolcrib.store.reading import beside_loop


async def stored_entries(host: Host, chat: str) -> list[StoredEntry]:
    """All of them, by the chat's whole id."""
    rows = await host.chats.rows.read(chat)
    return await beside_loop(rows, _stored, rows)


def _stored(rows: Sequence[ChatRow]) -> list[StoredEntry]:
    return [
        StoredEntry(position=row.position, time=moment(row.time), kind=row.kind, body=row.body)
        for row in rows
    ]
