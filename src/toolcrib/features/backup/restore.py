"""Restores a home from a backup: checks and unpacks everything first, then replaces all of it at once.

Until the last moment the home is as it was. A process that is killed while it replaces files leaves a
journal, and the next one that opens the home puts the old files back.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from toolcrib.config.backup_parts import Part
from toolcrib.config.contents import interpret
from toolcrib.config.document import parse_document
from toolcrib.config.file_swap import Replacement, discard, recovered, remove_leftovers, replacement, swap
from toolcrib.config.paths import Paths, make_private
from toolcrib.config.secrets import SecretStore
from toolcrib.errors import ConfigError
from toolcrib.features.backup import database_check as databases
from toolcrib.features.backup.archive import OpenArchive, check_space, open_archive
from toolcrib.features.backup.config_restore import literals_of, missing_secrets, restored_config
from toolcrib.features.backup.create import OnProgress, create_backup
from toolcrib.features.backup.encryption import unseal
from toolcrib.features.backup.install_list import needs_of
from toolcrib.features.backup.layout import CONFIG, DATABASE, feature_backups, part_of, parts
from toolcrib.features.backup.manifest import BackupRefused
from toolcrib.features.backup.origin import is_own
from toolcrib.features.backup.plan import RestorePlan, granting_settings, launches_of
from toolcrib.host.lock import clear_disk_errors, sole_host
from toolcrib.store import incidents

KEPT_BACKUPS = 3
LOCK_SECONDS = 10.0
_FOLDER = ".restore-"


def _silent(what: str, done: int, total: int) -> None:
    pass


@dataclass(kw_only=True)
class Restore:
    """An unpacked and checked backup; created by `open_restore`."""

    plan: RestorePlan
    paths: Paths
    folder: Path
    """Where the backup is unpacked."""
    archive: OpenArchive = field(repr=False)
    secrets: dict[str, str] = field(default_factory=dict, repr=False)
    """Secrets to add."""

    async def unlock(self, passphrase: str) -> None:
        """Decrypt the secrets, of which those are added that this home does not have."""
        context = hashlib.sha256(self.archive.manifest_bytes).digest()
        values = await asyncio.to_thread(unseal, self.archive.secrets or b"", passphrase, context)
        await asyncio.to_thread(self._choose, values)

    def _choose(self, values: Mapping[str, str]) -> None:
        store = SecretStore(self.paths)
        present = set(store.names())
        added = {name: value for name, value in {**self.secrets, **values}.items() if name not in present}
        self.secrets = added
        missing = [name for name in self.plan.secrets_missing if name not in added]
        self.plan = replace(
            self.plan,
            secrets_new=sorted(added),
            secrets_kept=sorted(present & values.keys()),
            secrets_missing=missing,
        )

    async def back_up_present(self, on_progress: OnProgress = _silent) -> Path:
        """Make a backup of the home as it is; the latest ones are kept."""
        await asyncio.to_thread(make_private, self.paths.backups)
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        file = self.paths.backups / f"before-restore-{stamp}.zip"
        await create_backup(self.paths, file, on_progress=on_progress)
        for old in sorted(self.paths.backups.glob("before-restore-*.zip"))[:-KEPT_BACKUPS]:
            old.unlink(missing_ok=True)
        return file

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep a host that is closing from opening again while files are replaced."""
        with recovered(self.paths.restore_journal, LOCK_SECONDS):
            yield

    def apply(self, *, keep_approvals: bool) -> None:
        """Replace the files, inside `locked`; raises `HostRunning` while a host runs. Blocks."""
        home = self.paths.home or self.paths.config_file.parent
        with sole_host(self.paths.lock_file, home), clear_disk_errors(home):
            self._prepare(keep_approvals=keep_approvals or self.plan.own)
            remove_leftovers(part.target(self.paths) for part in parts())
            prepared: list[Replacement] = []
            try:
                prepared += self._replacements()
                swap(self.paths.restore_journal, prepared)
                incidents.forget(self.paths.database)
            finally:
                discard(prepared)
        self._move_to_keyring()

    def _prepare(self, *, keep_approvals: bool) -> None:
        """Take from the unpacked files what must not act here."""

        def clean(connection: sqlite3.Connection) -> None:
            databases.forget_questions(connection)
            if not self.plan.own:
                databases.forget_browsers(connection)
            if not keep_approvals:
                databases.forget_approvals(connection)

        databases.change(self.folder / DATABASE.key, clean)
        present = [part.key for part in parts() if part.database and (self.folder / part.key).exists()]
        for saved in feature_backups():
            for key in present:
                databases.change(self.folder / key, partial(saved.clean, key))
            if not keep_approvals:
                saved.distrust(self.folder, self.paths)
        config = self.folder / CONFIG.key
        content = restored_config(
            config.read_bytes(), self.archive.manifest, self.paths, keep_approvals=keep_approvals
        )
        config.write_bytes(content)

    def _replacements(self) -> Iterator[Replacement]:
        for part in parts():
            if part.key in self.plan.manifest.parts:
                yield from _replaced(part, self.folder / part.key, self.paths)
        if self.secrets:
            yield self._secrets_file()

    def _secrets_file(self) -> Replacement:
        """The file of secrets with the new ones, which a working keyring takes over afterwards."""
        store = SecretStore(self.paths)
        new = self.folder / "secrets.json"
        new.touch(mode=0o600)
        new.write_bytes(store.with_added(self.secrets))
        return replacement(self.paths.secrets_file, new)

    def _move_to_keyring(self) -> None:
        store = SecretStore(self.paths)
        for name, value in self.secrets.items():
            store.set(name, value)


@asynccontextmanager
async def open_restore(paths: Paths, file: Path, on_progress: OnProgress = _silent) -> AsyncIterator[Restore]:
    """Check and unpack a backup; raises `BackupRefused` with the reason. Nothing is changed."""
    await asyncio.to_thread(paths.ensure)
    home = paths.home or paths.config_file.parent
    with open_archive(file) as archive, _work_folder(paths) as folder:
        check_space(archive.manifest, folder)
        with clear_disk_errors(home):
            await asyncio.to_thread(_unpack, archive, folder, on_progress)
        yield await asyncio.to_thread(_planned, paths, archive, folder)


@contextmanager
def _work_folder(paths: Paths) -> Iterator[Path]:
    """A private folder on the disk of the database; those of killed processes are removed."""
    place = paths.database.parent
    home = paths.home or paths.config_file.parent
    with clear_disk_errors(home):
        folder = Path(mkdtemp(prefix=f"{_FOLDER}{os.getpid()}-", dir=place))
    try:
        for old in place.glob(f"{_FOLDER}*"):
            if old != folder and not _is_running(old):
                shutil.rmtree(old, ignore_errors=True)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_running(folder: Path) -> bool:
    """Whether the process that unpacks there still runs."""
    number = folder.name.removeprefix(_FOLDER).partition("-")[0]
    try:
        os.kill(int(number), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


def _unpack(archive: OpenArchive, folder: Path, on_progress: OnProgress) -> None:
    total, done = archive.manifest.size, 0

    def count(size: int) -> None:
        nonlocal done
        done += size
        on_progress("checking", done, total)

    for file in archive.manifest.files:
        archive.extract(file, folder / file.name, count)
    for name, check in _CHECKS.items():
        if (folder / name).exists():
            check(folder / name)
    for part in parts():
        if part.database and part != DATABASE and (folder / part.key).exists():
            databases.check_plain(folder / part.key, part)


def _check_json(file: Path) -> None:
    """A file that we would not understand is refused now rather than after it replaced a good one."""
    try:
        json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        raise BackupRefused(f"{file.name} in the backup is damaged.", hint="Use another copy.") from None


def _check_config(file: Path) -> None:
    try:
        interpret(parse_document(file.read_bytes()), "")
    except ConfigError as error:
        reason = f"The config file in the backup is invalid: {error.message}"
        raise BackupRefused(reason, hint="Use another copy of the backup.") from error


_CHECKS: Mapping[str, Callable[[Path], None]] = {
    DATABASE.key: databases.check_database,
    CONFIG.key: _check_config,
    "accounts.json": _check_json,
    "server-notes.json": _check_json,
}


def _planned(paths: Paths, archive: OpenArchive, folder: Path) -> Restore:
    if not (folder / DATABASE.key).exists() or not (folder / CONFIG.key).exists():
        raise BackupRefused("The backup has no database or no config file.", hint="Use another copy.")
    config = (folder / CONFIG.key).read_bytes()
    store = SecretStore(paths)
    literals = literals_of(paths, store)
    missing = missing_secrets(config, {*store.names()})
    plan = RestorePlan(
        manifest=archive.manifest,
        own=is_own(paths, archive.manifest_bytes, archive.signature),
        launches=launches_of(config),
        settings=granting_settings(config),
        installs=needs_of(paths, archive.manifest.installs),
        secrets_missing=[name for name in missing if name not in literals],
    )
    secrets = {name: literals[name] for name in missing if name in literals}
    return Restore(plan=plan, paths=paths, folder=folder, archive=archive, secrets=secrets)


def _replaced(part: Part, new: Path, paths: Paths) -> Iterator[Replacement]:
    target = part.target(paths)
    if part.folder and target.is_dir():
        new.mkdir(mode=0o700, exist_ok=True)
        _keep_foreign_files(part, target, new)
    if part.database:
        beside = (target.with_name(target.name + ending) for ending in ("-wal", "-shm"))
        yield from (replacement(file, None) for file in beside if file.exists())
    if new.exists():
        make_private(target.parent)
        yield replacement(target, new)
    elif target.exists():
        yield replacement(target, None)


def _keep_foreign_files(part: Part, folder: Path, new: Path) -> None:
    """Files that are in the folder and in no backup stay."""
    for file in folder.rglob("*"):
        inside = file.relative_to(folder)
        if not file.is_file() or file.is_symlink() or part_of(f"{part.key}/{inside.as_posix()}"):
            continue
        if not file.name.endswith((".lock", ".tmp")):
            (new / inside).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            shutil.copy2(file, new / inside)
