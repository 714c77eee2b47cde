"""The key of the shared database at this host: found among the secrets, made, stored and replaced; with the
errors for a home that has none.
"""

from __future__ import annotations

import asyncio
import os
from functools import partial

from toolcrib.config.database_key import SECRET, VARIABLE, Signer, stored_signer
from toolcrib.config.database_url import connection_url
from toolcrib.config.paths import Paths
from toolcrib.config.secrets import SecretStore
from toolcrib.config.store import ConfigStore
from toolcrib.errors import UsageError
from toolcrib.host.lock import sole_host
from toolcrib.store.connection import DatabaseConnection, transact
from toolcrib.store.database import open_database
from toolcrib.store.decisions import (
    Decided,
    Decisions,
    claim_key,
    read_fingerprint,
    replace_fingerprint,
    signed_tables,
)
from toolcrib.store.work_queue import AsyncDatabase


async def use_key(
    database: AsyncDatabase, secrets: SecretStore, given: str | None = None, *, new: bool = False
) -> None:
    """Check and sign the decisions of a shared database with its key, which is stored here if it was not.

    `given` is the key from another machine; `new` if the stored key may be that of another database. Raises
    `DatabaseKeyMissing`.
    """
    fingerprint = await database.run(read_fingerprint)
    signer = Signer.read(given) if given else await asyncio.to_thread(_find, secrets, fingerprint, new)
    if signer is None and fingerprint is None:
        # Stored first, so that the key is not lost if the process ends after its fingerprint is.
        signer = Signer.new()
        await asyncio.to_thread(secrets.set, _earlier(signer.fingerprint), signer.text)
    claimed = await database.run(partial(claim_key, signer))
    database.decisions.signer = claimed
    if given or await asyncio.to_thread(stored_signer, secrets, os.environ) != claimed:
        await asyncio.to_thread(store_key, secrets, claimed)


async def signer_of(url: str, secrets: SecretStore) -> Signer | None:
    """The signer of a database that is not that of the settings; raises `DatabaseKeyMissing`."""
    async with open_database(url) as database:
        await use_key(database, secrets, new=True)
        return database.decisions.signer


def _find(secrets: SecretStore, fingerprint: str | None, new: bool) -> Signer | None:
    """The current key; for another database an earlier one with its fingerprint."""
    current = stored_signer(secrets, os.environ)
    if current is not None and (os.environ.get(VARIABLE) or current.fingerprint == fingerprint):
        return current
    if fingerprint and (earlier := secrets.get(_earlier(fingerprint))):
        return Signer.read(earlier)
    return None if new else current


def store_key(secrets: SecretStore, signer: Signer) -> None:
    """Store a key; one of another database is kept under another name."""
    before = secrets.get(SECRET)
    if before and before != signer.text:
        secrets.set(_earlier(Signer.read(before).fingerprint), before)
    secrets.set(SECRET, signer.text)


def _earlier(fingerprint: str) -> str:
    return f"{SECRET}-{fingerprint}"


async def rotate_key(database: AsyncDatabase, secrets: SecretStore) -> int:
    """Sign every valid decision with a new key; returns how many. Other hosts then need the new key."""
    if os.environ.get(VARIABLE):
        raise UsageError("The key is set in the environment.", hint=f"Unset {VARIABLE}, then rotate it.")
    signer = Signer.new()
    old, new = database.decisions, Decisions(signer, shared=True)

    def rotate(connection: DatabaseConnection) -> int:
        count = 0
        for table, signed in signed_tables().items():
            where = " AND ".join(f"{column} = ?" for column in signed.key)
            statement = f"UPDATE {table} SET decided = ? WHERE {where}"  # noqa: S608 - names of ours
            for *values, decided in old.read(connection, table):
                again = new.decide(table, *values, decided=Decided.read(decided))
                connection.execute(statement, (again, *values[: len(signed.key)]))
                count += 1
        replace_fingerprint(signer, connection)
        return count

    # Stored first, so that the key is not lost if the process ends between the two.
    await asyncio.to_thread(secrets.set, _earlier(signer.fingerprint), signer.text)
    count = await database.run(lambda connection: transact(connection, rotate))
    await asyncio.to_thread(store_key, secrets, signer)
    database.decisions.signer = signer
    return count


def home_key(paths: Paths) -> Signer:
    """The key of this home's database; raises `UsageError` if it has none."""
    signer = stored_signer(SecretStore(paths), os.environ)
    if signer is None:
        raise UsageError(
            "This home has no key of a shared database.", hint="See: toolcrib settings set database --help"
        )
    return signer


async def rotate_home_key(paths: Paths) -> int:
    """Replace the key of this home's database; raises `HostRunning` if a host uses the home."""
    secrets = SecretStore(paths)
    config = await asyncio.to_thread(ConfigStore(paths.config_file, paths.files).read)
    if not config.settings.database:
        raise UsageError("The database of this home is not shared, and has no key.")
    url = await asyncio.to_thread(connection_url, config.settings.database, secrets)
    with sole_host(paths.lock_file, paths.home or paths.config_file.parent):
        async with open_database(url) as database:
            await use_key(database, secrets)
            return await rotate_key(database, secrets)
