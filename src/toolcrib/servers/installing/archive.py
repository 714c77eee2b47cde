"""Looks an archive over before anything of it is written, and takes it apart within bounds.

An archive with a name that leads outside, a link, a device, or two entries of one name is refused as a whole,
not mended. Sizes are counted while unpacking: what a header claims is not believed.
"""

from __future__ import annotations

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import IO

from toolcrib.errors import InstallFailed

MOST_ENTRIES = 50_000
MOST_BYTES = 1024 * 1024 * 1024
MOST_RATIO = 200
SMALL = 16 * 1024 * 1024
"""Bytes up to which any compression is fine."""
LARGEST_MANIFEST = 1024 * 1024
_CHUNK = 256 * 1024


class Refused(InstallFailed):
    """An archive that must not be unpacked."""

    retryable = False

    def __init__(self, archive: Path, why: str) -> None:
        super().__init__(
            f"{archive.name} was refused: {why}.",
            hint="Nothing of it was unpacked. Get it anew, or leave it.",
        )


def check_zip(archive: Path) -> list[zipfile.ZipInfo]:
    """The entries of a zip file, all of them harmless; raises `Refused`."""
    with _opened_zip(archive) as opened:
        entries = opened.infolist()
    _check_names(archive, (entry.orig_filename for entry in entries), len(entries))
    for entry in entries:
        mode = entry.external_attr >> 16
        kind = stat.S_IFMT(mode)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise Refused(archive, f"{_shown(entry.filename)} is a link or a device")
        if entry.flag_bits & 0x1:
            raise Refused(archive, f"{_shown(entry.filename)} is encrypted")
    _check_size(archive, sum(entry.file_size for entry in entries))
    return entries


def read_from_zip(archive: Path, name: str, most: int = LARGEST_MANIFEST) -> bytes | None:
    """One small file of a zip; None when it is not there."""
    with _opened_zip(archive) as opened:
        try:
            with opened.open(name) as file:
                content = file.read(most + 1)
        except KeyError:
            return None
        except (zipfile.BadZipFile, zlib.error, OSError, NotImplementedError, RuntimeError) as error:
            raise Refused(archive, f"{_shown(name)} cannot be read ({error})") from None
    if len(content) > most:
        raise Refused(archive, f"{_shown(name)} is too large")
    return content


def unpack_zip(archive: Path, folder: Path) -> None:
    """Unpack a zip into an empty folder; raises `Refused`."""
    entries = check_zip(archive)
    budget = _Budget(archive)
    with _opened_zip(archive) as opened:
        for entry in entries:
            target = folder / entry.filename
            if entry.is_dir():
                target.mkdir(parents=True, exist_ok=True)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with opened.open(entry) as source, target.open("xb") as sink:
                    _copy(source, sink, budget)
            except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
                raise Refused(archive, f"{_shown(entry.filename)} cannot be read ({error})") from None
            target.chmod(0o755 if (entry.external_attr >> 16) & 0o111 else 0o644)


def check_tarball(archive: Path) -> None:
    """Refuse an npm tarball that holds more than plain files and folders in their place."""
    names: list[str] = []
    budget = _Budget(archive)
    try:
        with tarfile.open(archive, "r|gz") as opened:
            for member in opened:
                if not (member.isfile() or member.isdir()):
                    raise Refused(archive, f"{_shown(member.name)} is a link or a device")
                names.append(member.name)
                budget.take(max(member.size, 512))
                if len(names) > MOST_ENTRIES:
                    raise Refused(archive, f"it has more than {MOST_ENTRIES} entries")
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise Refused(archive, f"it is no whole tar file ({error})") from None
    _check_names(archive, names, len(names))


def read_from_tarball(archive: Path, name: str, most: int = LARGEST_MANIFEST) -> bytes | None:
    """The first file of this name below whatever the top folder is called; None when there is none."""
    try:
        with tarfile.open(archive, "r|gz") as opened:
            for member in opened:
                if member.isfile() and PurePosixPath(member.name).parts[1:] == (name,):
                    file = opened.extractfile(member)
                    return file.read(most) if file is not None and member.size <= most else None
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise Refused(archive, f"it is no whole tar file ({error})") from None
    return None


def _opened_zip(archive: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(archive)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise Refused(archive, f"it is no whole zip file ({error})") from None


def _check_names(archive: Path, names: Iterable[str], count: int) -> None:
    if count > MOST_ENTRIES:
        raise Refused(archive, f"it has more than {MOST_ENTRIES} entries")
    seen: dict[str, str] = {}
    for name in names:
        if not name or "\0" in name or "\\" in name or name.startswith("/") or name[1:2] == ":":
            raise Refused(archive, f"{_shown(name)} is no relative path")
        parts = PurePosixPath(name).parts
        if ".." in parts:
            raise Refused(archive, f"{_shown(name)} leads outside")
        # Two names that are one on some disks could show one file and unpack another.
        folded = "/".join(parts).casefold()
        if folded in seen and not (name.endswith("/") and seen[folded].endswith("/")):
            raise Refused(archive, f"{_shown(name)} is there twice")
        seen[folded] = name


def _check_size(archive: Path, size: int) -> None:
    packed = archive.stat().st_size
    if size > MOST_BYTES:
        raise Refused(archive, f"it would take {size >> 20} MB, and {MOST_BYTES >> 20} MB is the most")
    if size > SMALL and size > packed * MOST_RATIO:
        raise Refused(archive, f"{packed >> 10} KB that become {size >> 20} MB are a trap")


class _Budget:
    """How much an archive may still become."""

    def __init__(self, archive: Path) -> None:
        self._archive = archive
        self._size = 0

    def take(self, size: int) -> None:
        self._size += size
        _check_size(self._archive, self._size)


def _copy(source: IO[bytes], sink: IO[bytes], budget: _Budget) -> None:
    while chunk := source.read(_CHUNK):
        budget.take(len(chunk))
        sink.write(chunk)


def _shown(name: str) -> str:
    return ascii(name[:100])
