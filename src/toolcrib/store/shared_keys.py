"""The key with which all hosts on a shared database sign what clients of the gateway bring back."""

from __future__ import annotations

import secrets

from toolcrib.store.connection import Connection

_NAME = "gateway request state"


def signing_key(connection: Connection) -> bytes:
    """The key, made by the first host that asks for it."""
    made = (_NAME, secrets.token_hex(32))
    connection.execute("INSERT INTO signing_keys VALUES (?, ?) ON CONFLICT DO NOTHING", made)
    row = connection.execute("SELECT key FROM signing_keys WHERE name = ?", (_NAME,)).fetchone()
    return bytes.fromhex(row[0])
