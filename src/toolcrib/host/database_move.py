"""Moves the data of a home from one database to another, and changes the setting: what would be copied, and
the errors for a target that is in use.

Runs without a host, under the lock of the home. The source is left as it was; a SQLite file in the target's
place is renamed.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from toolcrib.clock import Clock, SystemClock
from toolcrib.config.database_url import connection_url, split_secrets, without_secrets
from toolcrib.config.paths import Paths
from toolcrib.config.secrets import SecretStore
from toolcrib.config.settings_file import OWN, take_profiles
from toolcrib.config.store import ConfigStore
from toolcrib.errors import UsageError
from toolcrib.host.database_key import use_key
from toolcrib.host.database_setting import ensure_driver, keep_secrets
from toolcrib.host.lock import sole_host
from toolcrib.store.copying import Copied, copy_all, count_rows, last_copied
from toolcrib.store.database import AsyncDatabase, open_database
from toolcrib.store.shared_profiles import add_profiles, read_profiles

SQLITE = "sqlite"


@dataclass(frozen=True, kw_only=True)
class MovePlan:
    """What a move would do."""

    source: str
    target: str
    rows: Mapping[str, int]
    """Rows of each table in the source."""
    present: Mapping[str, int]
    """Rows of each table in the target, if it is a shared database."""
    repeated: bool
    """The same source was moved there before."""


@dataclass(frozen=True, kw_only=True)
class Move:
    """An open move; created by `open_move`."""

    plan: MovePlan
    _source: AsyncDatabase = field(repr=False)
    _url: str = field(repr=False)
    """Of the target, with its password; empty for the SQLite file."""
    _paths: Paths
    _label: str

    async def run(
        self, *, merge: bool = False, key: str | None = None, clock: Clock | None = None
    ) -> MoveResult:
        """Copy everything, then change the setting; raises `UsageError` if the target has other data.

        `key` is that of a target which other machines use already, else `DatabaseKeyMissing`.
        """
        self.check(merge=merge)
        clock = clock or SystemClock()
        secrets = SecretStore(self._paths)
        if self._source.shared:
            await use_key(self._source, secrets)
        backup = None if self._url else await asyncio.to_thread(_set_aside, self._paths.database)
        async with open_database(self._url or self._paths.database) as target:
            if target.shared:
                await use_key(target, secrets, key, new=True)
            copied = await copy_all(self._source, target, self._label, clock)
            profiles = await self._move_profiles(target, clock)
        return MoveResult(copied=copied, profiles=profiles, backup=backup)

    def check(self, *, merge: bool) -> None:
        if any(self.plan.present.values()) and not self.plan.repeated and not merge:
            raise UsageError(
                f"{self.plan.target} already holds the data of another crib.",
                hint="Add --merge to add yours: where both have a decision, the one in the database stays. "
                "To use that database without moving anything: toolcrib settings set database URL",
            )

    async def _move_profiles(self, target: AsyncDatabase, clock: Clock) -> int:
        """Profiles and tokens: from the config file to a shared database, or back."""
        store, secrets = ConfigStore(self._paths.config_file, self._paths.files), SecretStore(self._paths)
        source = self._source
        shared = await source.run(partial(read_profiles, source.decisions)) if source.shared else {}
        own = await asyncio.to_thread(_profiles_of, store)
        if target.shared:
            profiles = {**own, **shared}
            await target.run(lambda connection: add_profiles(profiles, clock, target.decisions, connection))
        plain, given = split_secrets(self._url) if self._url else ("", {})
        await asyncio.to_thread(keep_secrets, secrets, given)
        await asyncio.to_thread(_write, store, plain, {} if target.shared else {**own, **shared})
        return len({**own, **shared})


@dataclass(frozen=True, kw_only=True)
class MoveResult:
    copied: list[Copied]
    profiles: int
    backup: Path | None
    """Where the earlier SQLite file is now, if there was one."""


@asynccontextmanager
async def open_move(paths: Paths, target: str) -> AsyncIterator[Move]:
    """Prepare a move of this home to a URL, or to `sqlite`; raises `HostRunning` if a host uses the home."""
    await asyncio.to_thread(paths.ensure)
    secrets = SecretStore(paths)
    config = await asyncio.to_thread(ConfigStore(paths.config_file, paths.files).read)
    setting = config.settings.database
    if target != SQLITE:
        await ensure_driver()
    url = "" if target == SQLITE else _complete(target, setting, secrets)
    plain = without_secrets(url)
    if plain == setting:
        raise UsageError(f"The data is already in {setting or paths.database}.", hint="Nothing was changed.")
    with sole_host(paths.lock_file, paths.home or paths.config_file.parent):
        async with open_database(connection_url(setting, secrets) or paths.database) as source:
            label = source.name if source.shared else f"{socket.gethostname()}:{source.name}"
            plan = await _plan(source, url, str(paths.database), label)
            yield Move(plan=plan, _source=source, _url=url, _paths=paths, _label=label)


async def _plan(source: AsyncDatabase, url: str, file: str, label: str) -> MovePlan:
    rows = await source.run(count_rows)
    present: Mapping[str, int] = {}
    repeated = False
    if url:
        async with open_database(url) as target:
            present = await target.run(count_rows)
            repeated = await target.run(lambda connection: last_copied(label, connection)) is not None
    where = without_secrets(url) or file
    return MovePlan(source=source.name, target=where, rows=rows, present=present, repeated=repeated)


def _complete(target: str, setting: str, secrets: SecretStore) -> str:
    """The URL with its password: its own, or the stored one of the same URL."""
    if not target.startswith(("postgresql://", "postgres://")):
        raise UsageError("That is not a database.", hint="Use postgresql://user@host/name, or sqlite.")
    return connection_url(target, secrets) if target == setting else target


def _set_aside(file: Path) -> Path | None:
    """Rename a SQLite file, which is complete by itself once it was closed."""
    if not file.exists():
        return None
    number = 1
    while (backup := file.with_name(f"{file.name}.before-move-{number}")).exists():
        number += 1
    for ending in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            file.with_name(file.name + ending).rename(backup.with_name(backup.name + ending))
    return file.rename(backup)


def _profiles_of(store: ConfigStore) -> dict[str, dict[str, Any]]:
    with store.edit() as document:
        return take_profiles(document, remove=False)


def _write(store: ConfigStore, url: str, profiles: Mapping[str, Mapping[str, Any]]) -> None:
    """Set the database; the profiles of the file become these."""
    with store.edit() as document:
        take_profiles(document)
        own = document.setdefault(OWN, {})
        named = {name: dict(raw) for name, raw in profiles.items() if name}
        if named:
            own["profiles"] = named
        if profiles.get(""):
            own["gateway"] = {**own.get("gateway", {}), **profiles[""]}
        if url:
            own["database"] = url
        else:
            own.pop("database", None)
