"""The entries of a chat in the store, as turns are made of them."""

from __future__ import annotations

from toolcrib.chats.replay import StoredEntry
from toolcrib.host import Host
from toolcrib.operations.results.times import moment


async def stored_entries(host: Host, chat: str) -> list[StoredEntry]:
    """All of them, by the chat's whole id."""
    return [
        StoredEntry(position=row.position, time=moment(row.time), kind=row.kind, body=row.body)
        for row in await host.chats.rows.read(chat)
    ]
