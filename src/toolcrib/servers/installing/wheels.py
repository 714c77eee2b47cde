"""What a wheel says of itself: name, version, and the programs it brings."""

from __future__ import annotations

import configparser
import re
from dataclasses import dataclass, field
from email.parser import BytesParser
from pathlib import Path

from toolcrib.errors import InstallFailed, UsageError
from toolcrib.servers.installing import archive

GROUPS = ("console_scripts", "gui_scripts")
LARGEST_METADATA = 4 * 1024 * 1024


@dataclass(frozen=True)
class Content:
    """A package's own part of a wheel."""

    name: str
    version: str
    programs: dict[str, str] = field(default_factory=dict)
    """Console scripts and what they call, as `module:function`."""
    runnable: tuple[str, ...] = ()
    """Modules that `python -m` can run."""


def normal(name: str) -> str:
    """The name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_wheel(file: Path) -> Content:
    """Look into a wheel; raises `Refused` for one that must not be unpacked."""
    names = [entry.filename for entry in archive.check_zip(file)]
    folder = next(
        (name.split("/")[0] for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)), None
    )
    if folder is None:
        raise InstallFailed(f"{file.name} is no wheel: it has no METADATA.")
    metadata = archive.read_from_zip(file, f"{folder}/METADATA", LARGEST_METADATA) or b""
    entry_points = archive.read_from_zip(file, f"{folder}/entry_points.txt") or b""
    runnable = tuple(
        sorted(name.split("/")[0] for name in names if re.fullmatch(r"[^/]+/__main__\.py", name))
    )
    return _content(metadata, entry_points, runnable)


def read_installed(folder: Path, name: str) -> Content:
    """Look at a package that was unpacked into a folder."""
    for found in folder.glob("*.dist-info"):
        metadata = (found / "METADATA").read_bytes()
        points = found / "entry_points.txt"
        runnable = tuple(sorted(path.parent.name for path in folder.glob("*/__main__.py")))
        content = _content(metadata, points.read_bytes() if points.exists() else b"", runnable)
        if normal(content.name) == normal(name):
            return content
    raise InstallFailed(f"The wheel of {name} holds no package of this name.")


def read_programs(text: str) -> dict[str, str]:
    """Console scripts by name."""
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


def choose_program(content: Content, wanted: str | None) -> tuple[str, str]:
    """The console script that is the server, and what it calls; an empty script means `python -m`."""
    programs, name = content.programs, content.name
    if wanted is not None:
        if wanted not in programs:
            raise UsageError(
                f"{name} has no program {wanted!r}.", hint=f"It has: {', '.join(programs) or 'none'}."
            )
        return wanted, programs[wanted]
    same = [program for program in programs if normal(program) == normal(name)]
    if same or len(programs) == 1:
        program = (same or list(programs))[0]
        return program, programs[program]
    if programs:
        raise UsageError(
            f"{name} offers several programs: {', '.join(programs)}.", hint="Say which with --program NAME."
        )
    if content.runnable:
        return "", content.runnable[0]
    raise UsageError(f"{name} offers no program, so it is no server.", hint="Is it a library?")


def _content(metadata: bytes, entry_points: bytes, runnable: tuple[str, ...]) -> Content:
    headers = BytesParser().parsebytes(metadata, headersonly=True)
    name, version = str(headers.get("Name", "")), str(headers.get("Version", ""))
    if not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", name):
        raise InstallFailed(f"{name[:80]!r} is no name of a Python package.")
    programs = read_programs(entry_points.decode("utf-8", "replace"))
    plain = {one: module for one, module in programs.items() if re.fullmatch(r"[A-Za-z0-9][\w.-]*", one)}
    return Content(name, version, plain, runnable)
