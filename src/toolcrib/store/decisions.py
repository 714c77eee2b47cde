"""Decisions (rules, approvals, trust, keys of browsers) as rows: who made each, at which host and when,
signed if the database is shared. Decides which tables are signed, and the error messages about a missing or
wrong key.

Someone who can write to a shared database, but has not its key, cannot decide: a row without a valid
signature is refused wherever it is read, and reported. The signature covers the table, the key and every
column with a meaning, so that a row is valid nowhere else. A decision that this process has seen replaced or
removed is not accepted again.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from toolcrib.config.database_key import VARIABLE, Signer
from toolcrib.errors import ConfigError, DatabaseKeyMissing
from toolcrib.schema.deciders import decider, this_host
from toolcrib.store.columns import Row, from_column, upsert
from toolcrib.store.connection import DatabaseConnection
from toolcrib.store.tables import SignedTable, feature_tables

logger = logging.getLogger(__name__)

Refused = Mapping[str, Mapping[Row, Row]]
"""Rows by table and key."""
COLUMN = "decided"
"""The column of each signed table: JSON of `Decided`."""
_MOST_RETIRED = 100_000


SIGNED: dict[str, SignedTable] = {
    "approval_rules": SignedTable(
        title="approval rule", key=("id",), columns=("id", "rule", "made_at", "off")
    ),
    "approval_requests": SignedTable(
        title="approval request", key=("id",), columns=("id", "digest", "question", "asked_at", "answer")
    ),
    "tool_pins": SignedTable(
        title="approved definition",
        key=("server", "tool"),
        columns=("server", "tool", "hash", "definition", "pinned_at"),
    ),
    "tool_lists": SignedTable(
        title="stored tool list",
        key=("server",),
        columns=("server", "fingerprint", "protocol", "version", "definitions", "saved_at"),
    ),
    "trust": SignedTable(title="approved launch", key=("server",), columns=("server", "launch", "agreed_at")),
    "page_keys": SignedTable(
        title="signed-in browser", key=("id",), columns=("id", "hash", "name", "made_at", "used_at")
    ),
    "gateway_profiles": SignedTable(
        title="gateway profile", key=("name",), columns=("name", "profile", "changed_at"), shared_only=True
    ),
}
"""Those of the kernel."""


def upsert_decision(table: str) -> str:
    """The statement for a row of one of these tables, with its column `decided`."""
    return upsert(table, (*SIGNED[table].columns, COLUMN), SIGNED[table].key)


@cache
def signed_tables() -> Mapping[str, SignedTable]:
    """All tables of decisions by name, those of features last."""
    return SIGNED | {name: table for tables in feature_tables() for name, table in tables.signed.items()}


@dataclass(frozen=True, kw_only=True)
class Decided:
    """Who decided, where and when (as stored); the signature is empty in a database of one host."""

    by: str = ""
    host: str = ""
    at: int = 0
    signature: str = ""

    @classmethod
    def read(cls, stored: str) -> Decided:
        try:
            found = json.loads(stored or "{}")
            return cls(
                by=str(found["by"]),
                host=str(found["host"]),
                at=int(found["at"]),
                signature=str(found["signature"]),
            )
        except (ValueError, KeyError, TypeError):
            return cls()

    @property
    def stored(self) -> str:
        return json.dumps(vars(self))


class Decisions:
    """Signs the decisions of one host, and checks those it reads from its database."""

    def __init__(self, signer: Signer | None, *, shared: bool) -> None:
        self.signer = signer
        self.shared = shared
        self.refused: dict[str, dict[Row, Row]] = {}
        """By table and key: rows without a valid signature, as last read."""
        self._reported: set[tuple[str, Row]] = set()
        self._current: dict[str, dict[Row, str]] = {}
        self._retired: dict[str, None] = {}
        """Signatures of decisions that were replaced or removed."""

    def decide(self, table: str, *values: Any, decided: Decided | None = None) -> str:
        """The column `decided` for a row of these values; `decided` is kept if it was decided before."""
        made = decided or Decided(by=decider(), host=this_host(), at=time.time_ns() // 1000)
        if not self.shared:
            return replace(made, signature="").stored
        if self.signer is None:
            raise ConfigError(
                "This host has no key of the shared database.", hint="See: toolcrib settings set database URL"
            )
        signature = self.signer.sign(table, *_plain(values), made.by, made.host, made.at)
        return replace(made, signature=signature).stored

    def fits(self, table: str, row: Sequence[Any]) -> bool:
        """Whether a row, with `decided` as its last value, was signed; reports it otherwise."""
        key = tuple(row[: len(signed_tables()[table].key)])
        if self._is_signed(table, row):
            self.refused.get(table, {}).pop(key, None)
            return True
        self.refused.setdefault(table, {})[key] = tuple(row)
        if (table, key) not in self._reported:
            self._reported.add((table, key))
            what = f"{signed_tables()[table].title} {' '.join(map(str, key))}"
            logger.warning("refused, because its signature is not valid: %s", what)
        return False

    def _is_signed(self, table: str, row: Sequence[Any]) -> bool:
        if not self.shared:
            return True
        *values, stored = row
        made = Decided.read(stored)
        if self.signer is None or not made.signature or made.signature in self._retired:
            return False
        return self.signer.fits(made.signature, table, *_plain(values), made.by, made.host, made.at)

    def accepted(self, table: str, rows: Iterable[Row]) -> list[Row]:
        """The signed rows of all rows of a table."""
        rows = [tuple(row) for row in rows]
        if not self.shared:
            return rows
        self.refused.pop(table, None)
        found = [row for row in rows if self.fits(table, row)]
        width = len(signed_tables()[table].key)
        self._follow(table, {row[:width]: Decided.read(row[-1]).signature for row in found})
        return found

    def _follow(self, table: str, current: dict[Row, str]) -> None:
        before, self._current[table] = self._current.get(table, {}), current
        for key, signature in before.items():
            if current.get(key) != signature:
                self.retire(signature)

    def retire(self, signature: str) -> None:
        """Do not accept this decision again: it was used, replaced or removed."""
        self._retired[signature] = None
        if len(self._retired) > _MOST_RETIRED:
            del self._retired[next(iter(self._retired))]

    def read(self, connection: DatabaseConnection, table: str, order: str = "") -> list[Row]:
        """The signed rows of a table: its signed columns and `decided`."""
        states = signed_tables()[table].open_states
        where = f"WHERE state IN ({', '.join('?' * len(states))})" if states else ""
        return self.accepted(table, connection.execute(f"{select(table)} {where} {order}", states).fetchall())


def select(table: str) -> str:
    return f"SELECT {', '.join(signed_tables()[table].columns)}, {COLUMN} FROM {table}"  # noqa: S608 - names of ours


def _plain(values: Iterable[Any]) -> list[Any]:
    """Values as they are read again, whichever database they come from."""
    return [from_column(value) if isinstance(value, str | bytes) else value for value in values]


def look_for_refused(decisions: Decisions, connection: DatabaseConnection) -> Refused:
    """All rows of all tables without a valid signature."""
    if not decisions.shared:
        return {}
    for table in signed_tables():
        decisions.read(connection, table)
    return {table: dict(rows) for table, rows in decisions.refused.items() if rows}


def sign_rows(
    decisions: Decisions, refused: Refused, connection: DatabaseConnection, *, remove: bool = False
) -> int:
    """Sign rows as they were shown, or remove them; returns how many were still the same."""
    changed = 0
    for table, signed in signed_tables().items():
        where = " AND ".join(f"{column} = ?" for column in signed.key)
        same = f"{where} AND {COLUMN} = ?"
        for row in refused.get(table, {}).values():
            key = row[: len(signed.key)]
            if remove:
                statement, values = f"DELETE FROM {table} WHERE {same}", (*key, row[-1])  # noqa: S608
            else:
                assigned = ", ".join(f"{column} = ?" for column in (*signed.columns, COLUMN))
                statement = f"UPDATE {table} SET {assigned} WHERE {same}"  # noqa: S608 - names of ours
                values = (*row[:-1], decisions.decide(table, *row[:-1]), *key, row[-1])
            changed += connection.execute(statement, values).rowcount
    return changed


def read_fingerprint(connection: DatabaseConnection) -> str | None:
    row = connection.execute("SELECT fingerprint FROM database_key").fetchone()
    return None if row is None else str(row[0])


def claim_key(signer: Signer | None, connection: DatabaseConnection) -> Signer:
    """The signer of the database's key; that of the first host becomes it. Raises `DatabaseKeyMissing`."""
    if signer is not None and read_fingerprint(connection) is None:
        statement = "INSERT INTO database_key VALUES (TRUE, ?) ON CONFLICT DO NOTHING"
        connection.execute(statement, (signer.fingerprint,))
    if signer is not None and read_fingerprint(connection) == signer.fingerprint:
        return signer
    raise DatabaseKeyMissing(
        "This host has another key than the database."
        if signer is not None
        else "This host has not the key of the database.",
        hint="Show it on a machine that has it with: toolcrib database key. Then set it here with: "
        f"toolcrib settings set database URL (it asks for the key), or in the variable {VARIABLE}.",
    )


def replace_fingerprint(signer: Signer, connection: DatabaseConnection) -> None:
    connection.execute("DELETE FROM database_key")
    connection.execute("INSERT INTO database_key VALUES (TRUE, ?)", (signer.fingerprint,))
