"""Restores a home from a backup: checks and unpacks everything first, then replaces all of it at once.
Decides what is taken out (open questions, browsers, approvals) and how many copies of the state before are
kept.

Until the last moment the home is as it was. A process that is killed while it replaces files leaves a
journal, and the next one that opens the home puts the old files back.

Checks the databases of a backup before they are used, and takes from them what must not act again. A database
is more than its rows: triggers, views and pickled values in it would run when it is used. So its schema must
be exactly that of a Toolcrib of its version, and its values must be JSON.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from toolcrib.config.backup_parts import BackupPart
from toolcrib.config.contents import SERVERS, interpret
from toolcrib.config.document import parse_document, render_document
from toolcrib.config.file_swap import Replacement, discard, recovered, remove_leftovers, replacement, swap
from toolcrib.config.paths import Paths, make_private
from toolcrib.config.review import is_bundled
from toolcrib.config.secrets import SecretStore
from toolcrib.config.settings_file import OWN
from toolcrib.errors import ConfigError, DatabaseUnavailable
from toolcrib.features.backup.archive import OpenArchive, check_space, open_archive
from toolcrib.features.backup.create import (
    OnProgress,
    config_for_backup,
    counted_bytes,
    create_backup,
    silent,
)
from toolcrib.features.backup.encryption import unseal
from toolcrib.features.backup.install_list import needs_of
from toolcrib.features.backup.manifest import (
    CONFIG,
    DATABASE,
    BackupRefused,
    Manifest,
    feature_backups,
    is_own,
    part_of,
    parts,
)
from toolcrib.features.backup.plan import GRANTING, RestorePlan, granting_settings, launches_of
from toolcrib.host.lock import clear_disk_errors, sole_host
from toolcrib.schema.system_failures import explained
from toolcrib.store import incidents
from toolcrib.store.migrations import STEPS, applied_steps, apply_steps, migrate
from toolcrib.store.snapshots import open_existing
from toolcrib.store.tables import feature_tables

_INTERNAL = re.compile(r"sqlite_(?:sequence|stat[0-9])")
_FULL_TEXT = re.compile(r"chat_words_(?:data|idx|content|docsize|config)")
"""Created by SQLite itself, with texts that depend on its version."""
_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"
_OTHER = "Use another copy of the backup."
Change = Callable[[sqlite3.Connection], None]

_REFERENCE = re.compile(r"\$\{secret:([A-Za-z0-9_.-]{1,100})\}")

KEPT_BACKUPS = 3
LOCK_SECONDS = 10.0
_FOLDER = ".restore-"


def check_database(file: Path) -> None:
    """Raises `BackupRefused` unless it is a sound database of this or an earlier version; migrates it."""
    with _opened(file) as connection:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > len(STEPS):
            raise BackupRefused(
                "The database in the backup was written by a newer Toolcrib.",
                hint="Update Toolcrib on this machine, then restore it.",
            )
        if version < 1 or _schema(connection) != _expected(version, connection):
            raise BackupRefused("The database in the backup has a foreign schema.", hint=_OTHER)
        _check_pages(connection)
        migrate(connection)


def check_plain(file: Path, part: BackupPart) -> None:
    """Raises `BackupRefused` if the database of a feature is damaged, or contains more than rows."""
    with _opened(file) as connection:
        rows = connection.execute(_SCHEMA).fetchall()
        if any(kind not in ("table", "index") or _is_virtual(sql) for kind, _, _, sql in rows):
            raise BackupRefused(
                f"The database of {part.title} in the backup has a foreign schema.", hint=_OTHER
            )
        _check_pages(connection)
        if part.problem is not None and (problem := part.problem(connection)):
            raise BackupRefused(problem, hint=_OTHER)


def change(file: Path, work: Change) -> None:
    """Change a staged database; raises `BackupRefused` if that fails."""
    with _opened(file) as connection:
        connection.execute("BEGIN IMMEDIATE")
        work(connection)
        connection.execute("COMMIT")


def forget_questions(connection: sqlite3.Connection) -> None:
    """An approval that was asked for would let its call run twice."""
    connection.execute("DELETE FROM approval_requests WHERE answer IS NULL")


def forget_browsers(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM page_keys")


def forget_approvals(connection: sqlite3.Connection) -> None:
    """Nothing may start or run because another home allowed it; rules that deny or ask stay."""
    for table in ("trust", "tool_pins", "approval_requests"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours
    connection.execute(
        "UPDATE approval_rules SET off = 1 WHERE NOT json_valid(rule)"
        " OR coalesce(json_extract(rule, '$.effect'), '') NOT IN ('deny', 'ask')"
    )


@contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(open_existing(file)) as connection:
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("PRAGMA journal_mode = DELETE")
            yield connection
    except (sqlite3.Error, UnicodeError, OverflowError) as error:
        reason = explained(error)
        if isinstance(reason, DatabaseUnavailable):  # a full disk, not a damaged backup
            raise reason from error
        raise BackupRefused(f"{file.name} in the backup is damaged: {error}."[:300], hint=_OTHER) from error


def _schema(connection: sqlite3.Connection) -> list[tuple[str, ...]]:
    rows = connection.execute(_SCHEMA).fetchall()
    return [row for row in rows if row[0] != "table" or not _is_made_by_sqlite(row[1])]


def _is_made_by_sqlite(name: str) -> bool:
    return bool(_INTERNAL.fullmatch(name) or _FULL_TEXT.fullmatch(name))


def _expected(version: int, checked: sqlite3.Connection) -> list[tuple[str, ...]]:
    """The schema of this version, with those tables of features that the checked database has."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        apply_steps(connection, STEPS[:version])
        for tables in feature_tables():
            for step in tables.steps[: applied_steps(checked, tables)]:
                for statement in step.sqlite:
                    connection.execute(statement)
        return _schema(connection)


def _check_pages(connection: sqlite3.Connection) -> None:
    found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if found != "ok":
        raise BackupRefused(f"A database in the backup is damaged: {found}"[:300], hint=_OTHER)


def _is_virtual(sql: str | None) -> bool:
    return sql is not None and re.match(r"\s*create\s+virtual", sql, re.IGNORECASE) is not None


def restored_config(content: bytes, manifest: Manifest, paths: Paths, *, keep_approvals: bool) -> bytes:
    """The file for this home: with its own folder for files, and without a shared database.

    Without `keep_approvals`, settings that let calls run without asking are those of this home.
    """
    data = parse_document(content).data
    before = json.dumps(data)
    _move_files_folder(data, manifest.files_folder, str(paths.files))
    own = data.get(OWN)
    if isinstance(own, dict):
        own.pop("database", None)
    if not keep_approvals:
        _take_granting(data, _present(paths))
    return content if json.dumps(data) == before else render_document(data)


def literals_of(paths: Paths, store: SecretStore) -> dict[str, str]:
    """Secrets that are written into the present config file, under the names that a backup gives them."""
    try:
        return config_for_backup(paths.config_file.read_bytes(), store.get)[1]
    except (OSError, ConfigError):
        return {}


def missing_secrets(config: bytes, known: Collection[str]) -> list[str]:
    """The secrets that the file refers to and that are not known."""
    text = json.dumps(parse_document(config).data, ensure_ascii=False)
    return sorted({name for name in _REFERENCE.findall(text) if name not in known})


def _present(paths: Paths) -> dict[str, Any]:
    try:
        return parse_document(paths.config_file.read_bytes()).data
    except (OSError, ConfigError):
        return {}


def _take_granting(data: dict[str, Any], present: dict[str, Any]) -> None:
    own, ours = data.get(OWN), present.get(OWN)
    ours = ours if isinstance(ours, dict) else {}
    if not isinstance(own, dict):
        return
    for key in GRANTING:
        own.pop(key, None)
        if key in ours:
            own[key] = ours[key]
    if isinstance(own.get("agent"), dict):
        own["agent"].pop("sampling", None)


def _move_files_folder(data: dict[str, Any], before: str, now: str) -> None:
    """Lend the folder of this home to the bundled filesystem server, in place of that of the old one."""
    servers = data.get(SERVERS)
    if before == now or not isinstance(servers, dict):
        return
    old, new = before.replace("${", "$${"), now.replace("${", "$${")
    for entry in servers.values():
        if isinstance(entry, dict) and is_bundled(entry) and isinstance(entry.get("args"), list):
            entry["args"] = [new if word == old else word for word in entry["args"]]


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

    async def back_up_present(self, on_progress: OnProgress = silent) -> Path:
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
            forget_questions(connection)
            if not self.plan.own:
                forget_browsers(connection)
            if not keep_approvals:
                forget_approvals(connection)

        change(self.folder / DATABASE.key, clean)
        present = [part.key for part in parts() if part.database and (self.folder / part.key).exists()]
        for saved in feature_backups():
            for key in present:
                change(self.folder / key, partial(saved.clean, key))
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
async def open_restore(paths: Paths, file: Path, on_progress: OnProgress = silent) -> AsyncIterator[Restore]:
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
    count = counted_bytes("checking", archive.manifest.size, on_progress)
    for file in archive.manifest.files:
        archive.extract(file, folder / file.name, count)
    for name, check in _CHECKS.items():
        if (folder / name).exists():
            check(folder / name)
    for part in parts():
        if part.database and part != DATABASE and (folder / part.key).exists():
            check_plain(folder / part.key, part)


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
    DATABASE.key: check_database,
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


def _replaced(part: BackupPart, new: Path, paths: Paths) -> Iterator[Replacement]:
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


def _keep_foreign_files(part: BackupPart, folder: Path, new: Path) -> None:
    """Files that are in the folder and in no backup stay."""
    for file in folder.rglob("*"):
        inside = file.relative_to(folder)
        if not file.is_file() or file.is_symlink() or part_of(f"{part.key}/{inside.as_posix()}"):
            continue
        if not file.name.endswith((".lock", ".tmp")):
            (new / inside).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            shutil.copy2(file, new / inside)
