"""The fingerprint of the key of a shared database: all its hosts have the same key, or do not start."""

from __future__ import annotations

from toolcrib.config.database_key import VARIABLE, Signer
from toolcrib.errors import DatabaseKeyMissing
from toolcrib.store.connection import DatabaseConnection


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
