"""Checks archives before unpacking them within limits (entries, bytes, compression ratio of a zip bomb), and
reads the metadata of wheels: programs and their choice.

An archive with a path outside itself, a link, a device or duplicate names is refused as a whole. Sizes are
counted while unpacking, because headers cannot be trusted.
"""

from __future__ import annotations

import configparser
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from email.parser import BytesParser
from pathlib import Path, PurePosixPath
from typing import IO

from toolcrib.errors import InstallFailed, UsageError
from toolcrib.servers.installers.engine.start_hooks import hook_remarks, programs_in, start_hooks

MOST_ENTRIES = 50_000
MOST_BYTES = 1024 * 1024 * 1024
MOST_RATIO = 200
SMALL = 16 * 1024 * 1024
"""Bytes up to which any compression ratio is accepted."""
LARGEST_MANIFEST = 1024 * 1024
_CHUNK = 256 * 1024


class ArchiveRefused(InstallFailed):
    """An archive that must not be unpacked."""

    retryable = False

    def __init__(self, archive: Path, why: str) -> None:
        super().__init__(
            f"{archive.name} was refused: {why}.",
            hint="Nothing was unpacked. Download it again, or do not use it.",
        )


def check_zip(archive: Path) -> list[zipfile.ZipInfo]:
    """The entries of a safe zip file; raises `ArchiveRefused`."""
    with _opened_zip(archive) as opened:
        entries = opened.infolist()
    _check_names(archive, (entry.orig_filename for entry in entries), len(entries))
    for entry in entries:
        mode = entry.external_attr >> 16
        kind = stat.S_IFMT(mode)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise ArchiveRefused(archive, f"{_shown(entry.filename)} is a link or a device")
        if entry.flag_bits & 0x1:
            raise ArchiveRefused(archive, f"{_shown(entry.filename)} is encrypted")
    _check_size(archive, sum(entry.file_size for entry in entries))
    return entries


def read_from_zip(archive: Path, name: str, most: int = LARGEST_MANIFEST) -> bytes | None:
    """One small file of a zip; None if missing."""
    with _opened_zip(archive) as opened:
        try:
            with opened.open(name) as file:
                content = file.read(most + 1)
        except KeyError:
            return None
        except (zipfile.BadZipFile, zlib.error, OSError, NotImplementedError, RuntimeError) as error:
            raise ArchiveRefused(archive, f"{_shown(name)} cannot be read ({error})") from None
    if len(content) > most:
        raise ArchiveRefused(archive, f"{_shown(name)} is too large")
    return content


def unpack_zip(archive: Path, folder: Path) -> None:
    """Unpack a zip into an empty folder; raises `ArchiveRefused`."""
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
                raise ArchiveRefused(archive, f"{_shown(entry.filename)} cannot be read ({error})") from None
            target.chmod(0o755 if (entry.external_attr >> 16) & 0o111 else 0o644)


def check_tarball(archive: Path) -> None:
    """Refuse an npm tarball with anything but plain files and folders."""
    names: list[str] = []
    budget = _Budget(archive)
    try:
        with tarfile.open(archive, "r|gz") as opened:
            for member in opened:
                if not (member.isfile() or member.isdir()):
                    raise ArchiveRefused(archive, f"{_shown(member.name)} is a link or a device")
                names.append(member.name)
                budget.take(max(member.size, 512))
                if len(names) > MOST_ENTRIES:
                    raise ArchiveRefused(archive, f"it has more than {MOST_ENTRIES} entries")
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise ArchiveRefused(archive, f"it is not a complete tar file ({error})") from None
    _check_names(archive, names, len(names))


def read_from_tarball(archive: Path, name: str, most: int = LARGEST_MANIFEST) -> bytes | None:
    """The first file of this name in the top folder; None if missing."""
    try:
        with tarfile.open(archive, "r|gz") as opened:
            for member in opened:
                if member.isfile() and PurePosixPath(member.name).parts[1:] == (name,):
                    file = opened.extractfile(member)
                    return file.read(most) if file is not None and member.size <= most else None
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise ArchiveRefused(archive, f"it is not a complete tar file ({error})") from None
    return None


def _opened_zip(archive: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(archive)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise ArchiveRefused(archive, f"it is not a complete zip file ({error})") from None


def _check_names(archive: Path, names: Iterable[str], count: int) -> None:
    if count > MOST_ENTRIES:
        raise ArchiveRefused(archive, f"it has more than {MOST_ENTRIES} entries")
    seen: dict[str, str] = {}
    for name in names:
        if not name or "\0" in name or "\\" in name or name.startswith("/") or name[1:2] == ":":
            raise ArchiveRefused(archive, f"{_shown(name)} is not a relative path")
        parts = PurePosixPath(name).parts
        if ".." in parts:
            raise ArchiveRefused(archive, f"{_shown(name)} is outside the archive")
        # Names equal on some file systems could show one file and unpack another.
        folded = "/".join(parts).casefold()
        if folded in seen and not (name.endswith("/") and seen[folded].endswith("/")):
            raise ArchiveRefused(archive, f"{_shown(name)} occurs twice")
        seen[folded] = name


def _check_size(archive: Path, size: int) -> None:
    packed = archive.stat().st_size
    if size > MOST_BYTES:
        raise ArchiveRefused(
            archive, f"it unpacks to {size >> 20} MB, more than the limit of {MOST_BYTES >> 20} MB"
        )
    if size > SMALL and size > packed * MOST_RATIO:
        raise ArchiveRefused(
            archive, f"{packed >> 10} KB unpack to {size >> 20} MB, which looks like a zip bomb"
        )


class _Budget:
    """Counts the unpacked bytes."""

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


GROUPS = ("console_scripts", "gui_scripts")
LARGEST_METADATA = 4 * 1024 * 1024


@dataclass(frozen=True)
class WheelContent:
    """The metadata of a wheel."""

    name: str
    version: str
    programs: dict[str, str] = field(default_factory=dict)
    """Console scripts and their `module:function`."""
    runnable: tuple[str, ...] = ()
    """Modules for `python -m`."""
    remarks: tuple[str, ...] = ()
    """Warnings about files that run before the server."""


def normal_name(name: str) -> str:
    """The normalized name, as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_wheel(file: Path) -> WheelContent:
    """The metadata of a wheel file; raises `ArchiveRefused`."""
    names = [entry.filename for entry in check_zip(file)]
    folder = next(
        (name.split("/")[0] for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)), None
    )
    if folder is None:
        raise InstallFailed(f"{file.name} is not a wheel: it has no METADATA.")
    metadata = read_from_zip(file, f"{folder}/METADATA", LARGEST_METADATA) or b""
    entry_points = read_from_zip(file, f"{folder}/entry_points.txt") or b""
    runnable = tuple(
        sorted(name.split("/")[0] for name in names if re.fullmatch(r"[^/]+/__main__\.py", name))
    )
    return _content(metadata, entry_points, runnable, names)


def read_installed(folder: Path, name: str) -> WheelContent:
    """The metadata of a package unpacked into a folder."""
    for found in folder.glob("*.dist-info"):
        metadata = (found / "METADATA").read_bytes()
        points = found / "entry_points.txt"
        runnable = tuple(sorted(path.parent.name for path in folder.glob("*/__main__.py")))
        names = [path.name for path in folder.iterdir()] + [
            f"bin/{path.name}" for path in folder.glob("bin/*")
        ]
        content = _content(metadata, points.read_bytes() if points.exists() else b"", runnable, names)
        if normal_name(content.name) == normal_name(name):
            return content
    raise InstallFailed(f"The wheel of {name} contains no package of this name.")


def read_programs(text: str) -> dict[str, str]:
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {
        name: target.split("[")[0].strip()
        for group in GROUPS
        if parser.has_section(group)
        for name, target in parser.items(group)
    }


def choose_program(content: WheelContent, wanted: str | None) -> tuple[str, str]:
    """The server's console script and its target; an empty script means `python -m`."""
    programs, name = content.programs, content.name
    if wanted is not None:
        if wanted not in programs:
            raise UsageError(
                f"{name} has no program {wanted!r}.", hint=f"It has: {', '.join(programs) or 'none'}."
            )
        return wanted, programs[wanted]
    same = [program for program in programs if normal_name(program) == normal_name(name)]
    if same or len(programs) == 1:
        program = (same or list(programs))[0]
        return program, programs[program]
    if programs:
        raise UsageError(
            f"{name} has several programs: {', '.join(programs)}.", hint="Choose one with --program NAME."
        )
    if content.runnable:
        return "", content.runnable[0]
    raise UsageError(f"{name} has no program, so it is not a server.", hint="Is it a library?")


def _content(
    metadata: bytes, entry_points: bytes, runnable: tuple[str, ...], names: Sequence[str]
) -> WheelContent:
    headers = BytesParser().parsebytes(metadata, headersonly=True)
    name, version = str(headers.get("Name", "")), str(headers.get("Version", ""))
    if not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", name):
        raise InstallFailed(f"{name[:80]!r} is not a Python package name.")
    programs = read_programs(entry_points.decode("utf-8", "replace"))
    plain = {key: target for key, target in programs.items() if re.fullmatch(r"[A-Za-z0-9][\w.-]*", key)}
    remarks = hook_remarks(start_hooks(names), (*programs, *programs_in(names)))
    return WheelContent(name, version, plain, runnable, remarks)
