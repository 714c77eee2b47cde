"""Changes the setting `database`: installs the driver, tries the URL within a time limit, stores its password
as a secret, and finds the servers that are not trusted there.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from importlib.util import find_spec

from toolcrib.config.database_url import (
    SECRET_KEYS,
    connection_url,
    parameters_of,
    secret_name,
    split_secrets,
    with_secrets,
)
from toolcrib.config.secrets import SecretStore
from toolcrib.errors import DatabaseError, NotFound, UsageError
from toolcrib.host.core import HostCore
from toolcrib.host.database_key import use_key
from toolcrib.store.database import open_database
from toolcrib.store.trust import Trust

KEY = "database"
SECONDS = 15.0


async def prepare_database(
    secrets: SecretStore, value: object, before: str, key: str | None = None
) -> str | None:
    """The value for the config file; raises `UsageError` if the database cannot be reached.

    `key` is that of a database which other machines use already, else `DatabaseKeyMissing`.
    """
    if value is None or value == "":
        await asyncio.to_thread(_forget, secrets)
        return None
    if not isinstance(value, str):
        raise UsageError("database must be text.", hint="Use a URL: postgresql://user@host/name")
    await ensure_driver()
    plain, given = split_secrets(value)
    if not given and before and _login(plain) == _login(before):
        _, given = split_secrets(await asyncio.to_thread(connection_url, before, secrets))
    url = with_secrets(plain, given)
    await try_database(url)
    async with open_database(url) as database:
        await use_key(database, secrets, key, new=plain != before)
    await asyncio.to_thread(keep_secrets, secrets, given)
    return plain


async def lost_trust(core: HostCore, database: str) -> list[str]:
    """The servers that the user trusts, but not in this database; empty for the SQLite file."""
    url = await asyncio.to_thread(connection_url, database, core.secrets)
    async with open_database(url or core.paths.database) as other:
        if other.shared:
            await use_key(other, core.secrets)
        trust = await Trust.open(other, {}, clock=core.clock)
    return [
        name
        for name, entry in core.config.servers.items()
        if core.trust.holds(entry) and await core.trust.agreed_at(name) and not trust.holds(entry)
    ]


async def ensure_driver() -> None:
    """Install the driver of PostgreSQL if it is missing: libpq, which reads URLs, is part of it."""
    if find_spec("psycopg") is None:
        from toolcrib.serverkit.extras import ensure

        await ensure("postgres")


async def try_database(url: str) -> None:
    """Connect once; raises `UsageError` with the reason."""
    from toolcrib.store.postgres.server import connect

    try:
        async with asyncio.timeout(SECONDS):
            (await asyncio.to_thread(connect, url)).raw.close()
    except (DatabaseError, TimeoutError) as error:
        reason, hint = "The database did not answer in time.", "Check the URL: postgresql://user@host/name"
        if isinstance(error, DatabaseError):
            reason, hint = error.message, error.hint if "sslmode" in error.hint else hint
        raise UsageError(reason, hint=f"Nothing was changed. {hint}") from None


def _login(url: str) -> dict[str, str | None]:
    """Whose password it is, and who gets it."""
    given = parameters_of(url)
    return {key: given.get(key) for key in ("user", "host", "hostaddr", "port", "service", "sslkey")}


def keep_secrets(secrets: SecretStore, given: Mapping[str, str]) -> None:
    """Store the secrets of a URL; earlier ones must not reach another server or user."""
    for key in SECRET_KEYS:
        if given.get(key):
            secrets.set(secret_name(key), given[key])
        else:
            with contextlib.suppress(NotFound):
                secrets.delete(secret_name(key))


def _forget(secrets: SecretStore) -> None:
    keep_secrets(secrets, {})
