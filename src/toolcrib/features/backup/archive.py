"""The file of a backup: a ZIP archive that is written and read in pieces of a megabyte. Decides compression,
largest sizes, the disk space to leave free, and why a damaged or foreign file is refused.

Reading allows what the writer writes and nothing else: regular files that the list of contents names, once
each, with their size and hash. Everything else is refused with a reason, before or while it is read.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from toolcrib.config.backup_parts import MIB
from toolcrib.errors import ConfigError
from toolcrib.features.backup.manifest import (
    MAX_FILES,
    BackupFile,
    BackupRefused,
    Manifest,
    part_of,
    parts,
    read_manifest,
)

MANIFEST, SIGNATURE, SECRETS = "manifest.json", "manifest.mac", "secrets.sealed"
_OWN = {MANIFEST: 64 * MIB, SIGNATURE: 64, SECRETS: 32 * MIB}
"""The files that are not listed, and their largest sizes."""
CHUNK = MIB
LEVEL = 1
"""The fastest: a database of gigabytes takes a third of the time of the usual level."""
MAX_RATIO = 500
"""Deflate reaches 1030; databases with data stay far below this."""
SMALL = 64 * MIB
"""A file of this size may be compressed as much as it can."""
RESERVE = 64 * MIB
"""Bytes of the disk that a restore leaves free."""
_MAX_DIRECTORY = 128 * MIB
_END = struct.Struct("<4s4H2LH")
_END64_LOCATOR = struct.Struct("<4sLQL")
_DAMAGED = "Use another copy of the backup."
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)
OnBytes = Callable[[int], None]


class ArchiveWriter:
    """Adds files to an archive and remembers their sizes and hashes."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.files: list[BackupFile] = []

    def add_file(self, name: str, file: Path, on_bytes: OnBytes) -> None:
        with file.open("rb") as source, self._archive.open(_entry(name), "w", force_zip64=True) as target:
            size, digest = _copy(source, target, on_bytes)
        self.files.append(BackupFile(name=name, size=size, sha256=digest))

    def add(self, name: str, content: bytes, *, listed: bool = True) -> None:
        self._archive.writestr(_entry(name), content, zipfile.ZIP_DEFLATED, LEVEL)
        if listed:
            digest = hashlib.sha256(content).hexdigest()
            self.files.append(BackupFile(name=name, size=len(content), sha256=digest))


@contextmanager
def new_archive(file: IO[bytes]) -> Iterator[ArchiveWriter]:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        yield ArchiveWriter(archive)


@dataclass(frozen=True, kw_only=True)
class OpenArchive:
    """A backup whose structure is checked; the content of a file is checked when it is extracted."""

    manifest: Manifest
    manifest_bytes: bytes = field(repr=False)
    signature: bytes = field(repr=False)
    secrets: bytes | None = field(repr=False)
    _archive: zipfile.ZipFile = field(repr=False)

    def extract(self, file: BackupFile, target: Path, on_bytes: OnBytes) -> None:
        """Write one file, for this user alone; raises `BackupRefused` if its size or hash is another."""
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        copy = open(descriptor, "wb")  # noqa: PTH123, SIM115 - a descriptor, closed below
        with copy, _reading(file.name), self._archive.open(file.name) as source:
            size, digest = _copy(source, copy, on_bytes, limit=file.size)
        if (size, digest) != (file.size, file.sha256):
            raise BackupRefused(f"{file.name} in the backup was changed or is damaged.", hint=_DAMAGED)


@contextmanager
def open_archive(path: Path) -> Iterator[OpenArchive]:
    """Open a backup and check its structure; raises `BackupRefused` with the reason."""
    with _open_regular(path) as file:
        _check_directory(file, path)
        with _reading(path.name):
            archive = zipfile.ZipFile(file)
        with archive:
            yield _checked(archive, path)


def check_space(manifest: Manifest, folder: Path) -> None:
    """Raises `ConfigError` if the disk has no room for the content."""
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if manifest.size + RESERVE > free:
        raise ConfigError(
            f"The backup needs {manifest.size // MIB} MiB, and {folder} has {free // MIB} MiB left.",
            hint="Free some disk space, or set TOOLCRIB_HOME to a folder on another disk.",
        )


def _checked(archive: zipfile.ZipFile, path: Path) -> OpenArchive:
    found = _members(archive)
    if MANIFEST not in found or SIGNATURE not in found:
        raise BackupRefused(f"{path} is not a backup of Toolcrib: it has no list of contents.", hint=_DAMAGED)
    content = _small(archive, MANIFEST)
    manifest = read_manifest(content)
    _check_files(manifest, found)
    if sum(info.compress_size for info in found.values()) > path.stat().st_size:
        raise BackupRefused("Files in the backup overlap each other.", hint=_DAMAGED)
    if bool(manifest.secrets) != (SECRETS in found):
        raise BackupRefused("The secrets of the backup do not fit its list of contents.", hint=_DAMAGED)
    return OpenArchive(
        manifest=manifest,
        manifest_bytes=content,
        signature=_small(archive, SIGNATURE),
        secrets=_small(archive, SECRETS) if SECRETS in found else None,
        _archive=archive,
    )


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    found: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        kind = stat.S_IFMT(info.external_attr >> 16)
        if info.is_dir() or kind not in (0, stat.S_IFREG):
            raise BackupRefused(f"{_shown(info)} in the backup is not a plain file.", hint=_DAMAGED)
        if info.orig_filename != info.filename or info.filename.casefold() in found:
            raise BackupRefused(f"{_shown(info)} is in the backup twice.", hint=_DAMAGED)
        if info.flag_bits & 0x1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BackupRefused(f"{_shown(info)} in the backup has an unknown form.", hint=_DAMAGED)
        if info.file_size > max(SMALL, MAX_RATIO * info.compress_size):
            raise BackupRefused(f"{_shown(info)} in the backup expands too much.", hint=_DAMAGED)
        found[info.filename.casefold()] = info
    return {info.filename: info for info in found.values()}


def _check_files(manifest: Manifest, found: dict[str, zipfile.ZipInfo]) -> None:
    """What is listed and what is there must be the same, and belong to a part."""
    listed = {file.name: file for file in manifest.files}
    if len(listed) != len(manifest.files):
        raise BackupRefused("The backup lists a file twice.", hint=_DAMAGED)
    for name in listed.keys() ^ {name for name in found if name not in _OWN}:
        there = "not listed in" if name in found else "missing from"
        raise BackupRefused(f"{name[:80]!r} is {there} the backup.", hint=_DAMAGED)
    known = {part.key for part in parts()}
    for name, file in listed.items():
        part = part_of(name)
        if part is None or part.key not in manifest.parts:
            raise BackupRefused(f"{name[:80]!r} does not belong into a backup.", hint=_DAMAGED)
        if file.size != found[name].file_size or file.size > part.largest:
            raise BackupRefused(f"{name[:80]!r} in the backup does not have the listed size.", hint=_DAMAGED)
    if unknown := [part for part in manifest.parts if part not in known]:
        raise BackupRefused(
            f"The backup has a part that this version does not know: {unknown[0][:40]!r}.",
            hint="Update Toolcrib on this machine, then restore it.",
        )


def _small(archive: zipfile.ZipFile, name: str) -> bytes:
    largest = _OWN[name]
    with _reading(name), archive.open(name) as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise BackupRefused(f"{name} in the backup is too large.", hint=_DAMAGED)
    return content


@contextmanager
def _open_regular(path: Path) -> Iterator[IO[bytes]]:
    try:
        # Not blocking: a pipe without a writer would be waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.", hint="Check the path.") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BackupRefused(f"{path} is not a plain file.", hint="Copy the backup to a file first.")
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        yield file


def _check_directory(file: IO[bytes], path: Path) -> None:
    """Check the size of the archive's directory, which is read at once; it stands at the very end."""
    size = file.seek(0, os.SEEK_END)
    tail = _tail(file, size, _END.size + _END64_LOCATOR.size)
    end = tail[-_END.size :]
    if len(end) < _END.size or end[:4] != b"PK\5\6":
        raise BackupRefused(f"{path} is truncated, damaged or not a backup of Toolcrib.", hint=_DAMAGED)
    _, _, _, _, entries, directory, _, comment = _END.unpack(end)
    if tail[:4] == b"PK\6\7":
        entries, directory = _directory64(file, tail)
    if comment or entries > MAX_FILES + len(_OWN) or directory > min(size, _MAX_DIRECTORY):
        raise BackupRefused(f"{path} has an invalid directory of files.", hint=_DAMAGED)
    file.seek(0)


def _directory64(file: IO[bytes], tail: bytes) -> tuple[int, int]:
    """The number of files and the size of the directory in a large archive."""
    _, _, offset, _ = _END64_LOCATOR.unpack(tail[: _END64_LOCATOR.size])
    if offset >= 1 << 62:
        return 1 << 62, 0
    file.seek(offset)
    record = file.read(56)
    if len(record) < 56 or record[:4] != b"PK\6\6":
        return 1 << 62, 0
    entries, directory = struct.unpack_from("<QQ", record, 32)
    return entries, directory


def _tail(file: IO[bytes], size: int, length: int) -> bytes:
    file.seek(max(0, size - length))
    return file.read(length)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    try:
        yield
    except _UNREADABLE as error:
        raise BackupRefused(f"{name} is truncated or damaged: {error}."[:300], hint=_DAMAGED) from error


def _copy(
    source: IO[bytes], target: IO[bytes], on_bytes: OnBytes, limit: int | None = None
) -> tuple[int, str]:
    """The size and the hash of what was copied; one byte more than the limit ends it."""
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(CHUNK):
        size += len(chunk)
        if limit is not None and size > limit:
            break
        digest.update(chunk)
        target.write(chunk)
        on_bytes(len(chunk))
    return size, digest.hexdigest()


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFREG | 0o600) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _shown(info: zipfile.ZipInfo) -> str:
    return repr(info.filename[:80])
