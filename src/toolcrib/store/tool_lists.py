"""Stores each server's last tool list, so that its tools can be offered before it runs."""

from __future__ import annotations

import json
import logging
from functools import partial
from typing import Any

from toolcrib.schema.servers import CachedTools
from toolcrib.store.columns import from_column, from_stored, to_column, to_stored
from toolcrib.store.connection import DatabaseConnection
from toolcrib.store.decisions import Decisions, upsert_decision
from toolcrib.store.work_queue import AsyncDatabase

logger = logging.getLogger(__name__)

_TABLE = "tool_lists"
_UPSERT = upsert_decision(_TABLE)
_LONG = 64 * 1024


class ToolLists:
    """Created by `open`; kept in memory, written in the background.

    A list that was not written is requested again next time.
    """

    def __init__(self, database: AsyncDatabase, lists: dict[str, CachedTools]) -> None:
        self._database = database
        self._lists = lists

    @classmethod
    async def open(cls, database: AsyncDatabase) -> ToolLists:
        """Read all lists; one that is damaged, or that no host stored, is ignored."""
        return cls(database, await database.run(partial(_read_all, database.decisions)))

    def load(self, server: str, fingerprint: str) -> CachedTools | None:
        """The last list of a server, if listed under the same entry."""
        tools = self._lists.get(server)
        return tools if tools is not None and tools.fingerprint == fingerprint else None

    def last(self, server: str) -> CachedTools | None:
        """The last list of a server, under any entry."""
        return self._lists.get(server)

    def save(self, tools: CachedTools) -> None:
        self._lists[tools.server] = tools
        self._database.keep(partial(_write, tools, self._database.decisions), "A tool list")

    def forget(self, server: str) -> None:
        if self._lists.pop(server, None) is not None:
            self._database.keep(partial(_delete, server), "A tool list")


def _read_all(decisions: Decisions, connection: DatabaseConnection) -> dict[str, CachedTools]:
    lists = (_from_row(row[:-1]) for row in decisions.read(connection, _TABLE))
    return {tools.server: tools for tools in lists if tools is not None}


def _write(tools: CachedTools, decisions: Decisions, connection: DatabaseConnection) -> None:
    # One by one, because the encoder holds the GIL: thousands at once would stop the event loop.
    definitions = ",".join(json.dumps(dict(definition)) for definition in tools.definitions)
    row = (
        tools.server,
        tools.fingerprint,
        to_column(tools.protocol),
        None if tools.version is None else to_column(tools.version),
        f"[{definitions}]",
        to_stored(tools.saved_at),
    )
    connection.execute(_UPSERT, (*row, decisions.decide(_TABLE, *row)))


def _delete(server: str, connection: DatabaseConnection) -> None:
    connection.execute("DELETE FROM tool_lists WHERE server = ?", (server,))


def _read_list(text: str) -> list[Any]:
    """A long list is read in short steps, which let the event loop run."""
    if len(text) < _LONG:
        value = json.loads(text)
    else:
        from toolcrib.serverkit.encoding import read_large  # rarely needed

        value, _ = read_large(text.encode("utf-8", "surrogatepass"))
    return value if isinstance(value, list) else []


def _from_row(row: tuple[Any, ...]) -> CachedTools | None:
    server, fingerprint, protocol, version, definitions, saved_at = row
    try:
        listed = tuple(_read_list(definitions))
    except ValueError:
        logger.warning("The stored tool list of %s is damaged", server)
        return None
    return CachedTools(
        server=server,
        fingerprint=fingerprint,
        protocol=from_column(protocol),
        version=None if version is None else from_column(version),
        definitions=listed,
        saved_at=from_stored(saved_at),
    )
