"""Makes a backup of a home, whether a host runs on it or not; the file appears when it is complete. Decides
what is left out and reported as such, and the errors for a full disk or an existing file.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import re
import shutil
import socket
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from toolcrib.clock import SystemClock
from toolcrib.config.backup_parts import BackupPart
from toolcrib.config.contents import SERVERS
from toolcrib.config.database_url import connection_url
from toolcrib.config.document import parse_document, render_document
from toolcrib.config.paths import Paths
from toolcrib.config.secret_detection import FORMS_OF_SECRETS, looks_secret
from toolcrib.config.secret_extraction import SecretExtractor, Stored
from toolcrib.config.secrets import SecretStore
from toolcrib.config.settings_file import OWN, take_profiles
from toolcrib.config.store import ConfigStore
from toolcrib.errors import ConfigError, MissingSecret, UsageError
from toolcrib.features.backup.archive import MANIFEST, SECRETS, SIGNATURE, ArchiveWriter, new_archive
from toolcrib.features.backup.encryption import check_passphrase, seal
from toolcrib.features.backup.install_list import installs_of
from toolcrib.features.backup.manifest import CONFIG, DATABASE, FORMAT, PRODUCT, Manifest, parts, sign
from toolcrib.host.database_key import use_key
from toolcrib.schema.system_failures import full_disk
from toolcrib.store.copying import copy_all, count_rows
from toolcrib.store.database import open_database
from toolcrib.store.migrations import is_current
from toolcrib.store.shared_profiles import read_profiles
from toolcrib.store.snapshots import copy_database, open_existing
from toolcrib.version import __version__

EMBEDDER_SECRET = "embedder-api-key"  # noqa: S105 - its name

OnProgress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and how much there is."""
NOT_INCLUDED = (
    "installed programs",
    "logs",
    "caches",
    "the folder of the filesystem server",
    "the home folder of programs on the desktop server's own display",
)


def config_for_backup(
    content: bytes, stored: Stored, profiles: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[bytes, dict[str, str]]:
    """The file with references in place of secrets, and these secrets by name.

    A file without secrets stays as it is, with its comments. `profiles` of a shared database replace those of
    the file.
    """
    document = parse_document(content)
    data = document.data
    found: dict[str, str] = {}
    servers: Any = data.get(SERVERS)
    for name, entry in list(servers.items()) if isinstance(servers, dict) else ():
        if isinstance(entry, dict):
            extractor = SecretExtractor(name, looks_secret, stored)
            servers[name] = extractor.hide(entry)
            found.update(extractor.secrets)
    found.update(_hide_embedder_key(data))
    if profiles is not None:
        _put_profiles(data, profiles)
    comments = document.commented and re.search(FORMS_OF_SECRETS, document.text, re.DOTALL)
    changed = found or profiles is not None or comments
    return (render_document(data) if changed else content), found


def _hide_embedder_key(data: dict[str, Any]) -> dict[str, str]:
    own = data.get(OWN)
    retrieval = own.get("retrieval") if isinstance(own, dict) else None
    embedder = retrieval.get("embedder") if isinstance(retrieval, dict) else None
    if not isinstance(embedder, dict):
        return {}
    for key in ("api_key", "apiKey"):
        value = embedder.get(key)
        if isinstance(value, str) and value and "${" not in value:
            embedder[key] = f"${{secret:{EMBEDDER_SECRET}}}"
            return {EMBEDDER_SECRET: value}
    return {}


def _put_profiles(data: dict[str, Any], profiles: Mapping[str, Mapping[str, Any]]) -> None:
    all_of_them = {**take_profiles(data), **profiles}
    own = data.setdefault(OWN, {})
    if named := {name: dict(raw) for name, raw in all_of_them.items() if name}:
        own["profiles"] = named
    if token := all_of_them.get(""):
        own["gateway"] = {**own.get("gateway", {}), **token}
    own.pop("database", None)


def silent(what: str, done: int, total: int) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class BackupRequest:
    passphrase: str | None = None
    """Encrypts the secrets; without one they are left out."""
    artifacts: bool = True
    replace: bool = False


@dataclass(frozen=True, kw_only=True)
class _Exported:
    """What was copied before the archive is written."""

    database: Path
    url: str = ""
    profiles: Mapping[str, Mapping[str, Any]] | None = None


async def create_backup(
    paths: Paths, file: Path, request: BackupRequest | None = None, on_progress: OnProgress = silent
) -> Manifest:
    """Write a backup of the home; raises `ToolcribError`, and then leaves no file."""
    request = request or BackupRequest()
    if request.passphrase is not None:
        check_passphrase(request.passphrase)
    await asyncio.to_thread(_check_target, file, request.replace)
    await asyncio.to_thread(paths.ensure)
    with _work_folder(file) as folder:
        exported = await _export(paths, folder, on_progress)
        writing = asyncio.to_thread(_write, paths, folder, exported, request, on_progress)
        try:
            manifest = await asyncio.shield(asyncio.ensure_future(writing))
        except (OSError, sqlite3.Error) as error:
            raise _failed(folder, error) from error
        await asyncio.to_thread((folder / "backup").replace, file)
    return manifest


async def _export(paths: Paths, folder: Path, on_progress: OnProgress) -> _Exported:
    """A copy of the database: of the file, or of all rows in the shared one."""
    copy = folder / DATABASE.key
    secrets = SecretStore(paths)
    config = await asyncio.to_thread(ConfigStore(paths.config_file, paths.files).read)
    setting = config.settings.database
    if setting:
        url = await asyncio.to_thread(connection_url, setting, secrets)
        on_progress("shared database", 0, 0)
        async with open_database(url) as source, open_database(copy) as target:
            await use_key(source, secrets)
            await copy_all(source, target, "backup", SystemClock())
            profiles = await source.run(partial(read_profiles, source.decisions))
        return _Exported(database=copy, url=setting, profiles=profiles)
    if not paths.database.exists():
        async with open_database(copy):
            return _Exported(database=copy)
    try:
        await asyncio.to_thread(copy_database, paths.database, copy, _pages("database", on_progress))
    except OSError as error:
        raise _failed(copy.parent, error) from error
    return _Exported(database=copy)


def _write(
    paths: Paths, folder: Path, exported: _Exported, request: BackupRequest, on_progress: OnProgress
) -> Manifest:
    """Blocks; reads one file after the other."""
    secrets = SecretStore(paths)
    descriptor = os.open(folder / "backup", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w+b") as file:  # noqa: PTH123 - a descriptor, not a path
        with new_archive(file) as archive:
            parts, left_out = _parts(exported, request)
            literal: dict[str, str] = {}
            for part in parts:
                if part == CONFIG:
                    literal = _add_config(archive, paths, exported, secrets)
                else:
                    left_out += _add_part(archive, part, paths, folder, on_progress)
            sealed = _secrets(secrets, literal, left_out) if request.passphrase else {}
            left_out += [] if request.passphrase else ["secrets"]
            manifest = _manifest(paths, exported, parts, archive, left_out, len(sealed))
            _finish(archive, paths, manifest, sealed, request.passphrase or "")
        file.flush()
        os.fsync(file.fileno())
    return manifest


def _parts(exported: _Exported, request: BackupRequest) -> tuple[list[BackupPart], list[str]]:
    saved, left_out = list[BackupPart](), list(NOT_INCLUDED)
    for part in parts():
        if exported.url and part.shared_as:
            left_out.append(part.shared_as)
        elif part.optional and not request.artifacts:
            left_out.append(part.title)
        else:
            saved.append(part)
    return saved, left_out


def _add_config(
    archive: ArchiveWriter, paths: Paths, exported: _Exported, secrets: SecretStore
) -> dict[str, str]:
    content = ConfigStore(paths.config_file, paths.files).path.read_bytes()
    content, literal = config_for_backup(content, secrets.get, exported.profiles)
    archive.add(CONFIG.key, content)
    return literal


def _add_part(
    archive: ArchiveWriter, part: BackupPart, paths: Paths, folder: Path, on_progress: OnProgress
) -> list[str]:
    """Add the files of a part; returns what is too large."""
    too_large = []
    for name, file in part.files(paths) if part != DATABASE else [(DATABASE.key, folder / DATABASE.key)]:
        if part.database and part != DATABASE:
            copy_database(file, folder / part.key, _pages(part.title, on_progress))
            file = folder / part.key
        try:
            size = file.stat().st_size
            if size > part.largest:
                too_large.append(name)
                continue
            archive.add_file(name, file, counted_bytes(part.title, size, on_progress))
        except FileNotFoundError:
            continue  # removed meanwhile
    return too_large


def _secrets(store: SecretStore, literal: Mapping[str, str], left_out: list[str]) -> dict[str, str]:
    """All secrets; one that the keyring withholds is left out and named."""
    values = dict(literal)
    for name in store.names():
        try:
            value = store.get(name)
        except MissingSecret:
            left_out.append(f"the secret {name}, which the keyring did not return")
            continue
        if value is not None:
            values[name] = value
    return values


def _manifest(
    paths: Paths,
    exported: _Exported,
    parts: list[BackupPart],
    archive: ArchiveWriter,
    left_out: list[str],
    secrets: int,
) -> Manifest:
    with open_existing(exported.database) as connection:
        rows = count_rows(connection) if is_current(connection) else {}
        schema = _schema(connection)
    connection.close()
    return Manifest(
        product=PRODUCT,
        format=FORMAT,
        version=__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=socket.gethostname()[:200],
        home=str(paths.home or paths.config_file.parent),
        files_folder=str(paths.files),
        database_url=exported.url,
        database_schema=schema,
        rows=rows,
        parts=[part.key for part in parts],
        files=archive.files,
        installs=installs_of(paths),
        secrets=secrets,
        left_out=left_out,
    )


def _schema(connection: sqlite3.Connection) -> int:
    schema: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return schema


def _finish(
    archive: ArchiveWriter, paths: Paths, manifest: Manifest, secrets: Mapping[str, str], passphrase: str
) -> None:
    content = manifest.model_dump_json(indent=1).encode()
    archive.add(MANIFEST, content, listed=False)
    archive.add(SIGNATURE, sign(paths, content), listed=False)
    if secrets:
        sealed = seal(secrets, passphrase, hashlib.sha256(content).digest())
        archive.add(SECRETS, sealed, listed=False)


@contextmanager
def _work_folder(file: Path) -> Iterator[Path]:
    """A private folder beside the file, on the same disk."""
    try:
        folder = Path(mkdtemp(prefix=f".{file.name}.", suffix=".part", dir=file.parent))
    except OSError as error:
        raise _failed(file.parent, error) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check_target(file: Path, replace: bool) -> None:
    if os.path.lexists(file) and not (replace and file.is_file()):
        raise UsageError(f"{file} already exists.", hint="Choose another name, or add --replace.")


def _failed(folder: Path, error: OSError | sqlite3.Error) -> ConfigError:
    """`folder` is where the backup is made, for an error that names no file."""
    if isinstance(error, sqlite3.Error):
        return ConfigError(f"The backup cannot be made: {error}.", hint="No backup was written.")
    failed = Path(str(error.filename or folder))
    if failed.is_relative_to(folder):
        failed = folder.parent  # the file has a temporary name
    hint = "Check the permissions; no backup was written."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = f"{full_disk(failed)} No backup was written: choose another disk, or free some space."
    return ConfigError(f"The backup cannot be made: {failed}: {error.strerror}.", hint=hint)


def _pages(what: str, on_progress: OnProgress) -> Callable[[int, int], None]:
    return lambda done, total: on_progress(what, done, total)


def counted_bytes(what: str, total: int, on_progress: OnProgress) -> Callable[[int], None]:
    """Called with the size of each piece."""
    done = 0

    def count(size: int) -> None:
        nonlocal done
        done += size
        on_progress(what, done, total)

    return count
