"""Changes the setting `database`: the URL is tried first, and its password goes to the secrets."""

from __future__ import annotations

import asyncio
import contextlib
from importlib.util import find_spec
from urllib.parse import urlsplit

from toolcrib.config.database_url import SECRET, split_password, with_password
from toolcrib.config.secrets import SecretStore
from toolcrib.errors import DatabaseError, NotFound, UsageError

KEY = "database"
SECONDS = 15.0


async def prepare_database(secrets: SecretStore, value: object, before: str) -> str | None:
    """The value for the config file; raises `UsageError` if the database cannot be reached."""
    if value is None or value == "":
        await asyncio.to_thread(_forget, secrets)
        return None
    if not isinstance(value, str):
        raise UsageError("database must be text.", hint="Use a URL: postgresql://user@host/name")
    plain, password = split_password(value)
    if password is None and _login(plain) == _login(before):
        password = await asyncio.to_thread(secrets.get, SECRET)
    await try_database(with_password(plain, password))
    await asyncio.to_thread(keep_password, secrets, password)
    return plain


async def try_database(url: str) -> None:
    """Connect once; raises `UsageError` with the reason."""
    if find_spec("psycopg") is None:
        from toolcrib.serverkit.extras import ensure

        await ensure("postgres")
    from toolcrib.store.postgres.server import connect

    try:
        async with asyncio.timeout(SECONDS):
            (await asyncio.to_thread(connect, url)).raw.close()
    except (DatabaseError, TimeoutError) as error:
        reason = error.message if isinstance(error, DatabaseError) else "The database did not answer in time."
        raise UsageError(
            reason, hint="Nothing was changed. Check the URL: postgresql://user@host/name"
        ) from None


def _login(url: str) -> str:
    return urlsplit(url).netloc


def keep_password(secrets: SecretStore, password: str | None) -> None:
    """Store the password; without one, an earlier one must not reach another server or user."""
    if password:
        secrets.set(SECRET, password)
    else:
        _forget(secrets)


def _forget(secrets: SecretStore) -> None:
    with contextlib.suppress(NotFound):
        secrets.delete(SECRET)
