"""Chooses a Python for a package that does not run on ours: one of this machine, else one that uv fetches."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from toolcrib.errors import InstallFailed
from toolcrib.servers.installing.context import InstallContext
from toolcrib.servers.installing.uv import find_uv

OLDEST, NEWEST = 8, 30
"""The minor versions of Python 3 that are considered."""
_RANGE = re.compile(r"[Pp]ython ?((?:[<>=!~]=?=? ?\d[\d.*]*)(?: ?, ?[<>=!~]=?=? ?\d[\d.*]*)*)")
_BOUND = re.compile(r"([<>=!~]=?=?)\s*(\d+(?:\.\d+)*)(\.\*)?")
_TAGS = re.compile(r"only found wheels for .* Python (?:implementation|ABI) tags?: (.*)")
_SHELVES = (
    (".pyenv/versions", "bin/python"),
    (".asdf/installs/python", "bin/python"),
    (".local/share/mise/installs/python", "bin/python"),
)
"""Where version managers of Python keep theirs, which need not be on the PATH."""


@dataclass(frozen=True)
class Range:
    """The versions of Python that a package accepts, as `requires-python` states them."""

    text: str

    def accepts(self, version: tuple[int, ...]) -> bool:
        """Whether a version fits; one without a third number stands for its newest release."""
        return all(_fits(version, *bound) for bound in _bounds(self.text))

    def lowest(self) -> str | None:
        """The oldest version to ask for that fits and is not older than ours, else the newest older one."""
        ours = sys.version_info[1]
        minors = [*range(ours, NEWEST), *range(ours - 1, OLDEST - 1, -1)]
        return next((f"3.{minor}" for minor in minors if self.accepts((3, minor))), None)


def ranges_in(lines: Iterable[str]) -> tuple[Range, ...]:
    """The versions of Python that a resolver's refusal names."""
    text = "\n".join(lines)
    found = [Range(one.replace(" ", "")) for one in _RANGE.findall(text)]
    for tags in _TAGS.findall(text):
        minors = {int(minor) for minor in re.findall(r"`cp3(\d+)`", tags)}
        found += [Range(f"==3.{minor}.*") for minor in sorted(minors, reverse=True)]
    return tuple(dict.fromkeys(found))


def fits_ours(wanted: Range) -> bool:
    """Whether the Python that runs Toolcrib fits."""
    return wanted.accepts(sys.version_info[:3])


async def choose_version(bench: InstallContext, wanted: Iterable[Range], tried: Iterable[str] = ()) -> str:
    """The version to use, such as `3.13`: one of this machine first; raises `InstallFailed`."""
    ranges = tuple(wanted)
    together = Range(",".join(one.text for one in ranges))
    choices = [together, *ranges] if together.lowest() else list(ranges)
    for one in choices:
        found = await find_python(bench, one)
        if found and found[1] not in tried:
            return found[1]
    version = next((low for one in choices if (low := one.lowest()) and low not in tried), None)
    if version is None or not may_fetch(bench):
        raise missing_python(version, together if together.lowest() else ranges[0])
    return version


async def find_python(bench: InstallContext, wanted: Range) -> tuple[str, str] | None:
    """An interpreter of this machine that fits, and its version as `3.13`."""
    line = [find_uv(bench), "python", "find", "--no-project", "--no-python-downloads", "--quiet", wanted.text]
    done = await bench.runner.run(line, cwd=Path("/"))
    candidates = [done.out.strip()] if done.code == 0 and done.out.strip() else []
    for program in (*candidates, *_shelved(bench)):
        version = await _version(bench, program)
        if version and wanted.accepts(version):
            return program, f"{version[0]}.{version[1]}"
    return None


async def interpreter(bench: InstallContext, version: str) -> str:
    """What to give to `uv --python` for a version: the path of one that is here, else the version."""
    found = await find_python(bench, Range(f"=={version}.*"))
    return found[0] if found else version


def may_fetch(bench: InstallContext) -> bool:
    """Whether uv may download a Python."""
    setting = bench.runner.environ.get("UV_PYTHON_DOWNLOADS", "automatic").lower()
    return not bench.offline and setting not in ("never", "manual", "false", "0")


def missing_python(version: str | None, wanted: Range, why: str = "") -> InstallFailed:
    """The error for a Python that is needed and cannot be had."""
    if version is None:
        return InstallFailed(
            f"It needs Python {wanted.text}, and there is no such version.", hint="Choose another version."
        )
    return InstallFailed(
        f"It needs Python {wanted.text}, which is not on this machine and was not fetched. {why}".strip(),
        hint=f"Install Python {version}, for example with: uv python install {version}. "
        "Or name one with --python PATH.",
    )


def _shelved(bench: InstallContext) -> list[str]:
    home = Path(bench.runner.environ.get("HOME") or Path.home())
    found = [path for folder, inner in _SHELVES for path in (home / folder).glob(f"3.*/{inner}")]
    return [str(path) for path in sorted(found, key=_folder_version)]


def _folder_version(path: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", path.parents[1].name))


async def _version(bench: InstallContext, program: str) -> tuple[int, ...] | None:
    try:
        line = [program, "-I", "-c", "import sys; print(*sys.version_info[:3])"]
        done = await bench.runner.run(line, cwd=Path("/"), private=True)
        return tuple(map(int, done.out.split())) if done.code == 0 else None
    except (InstallFailed, ValueError):
        return None


def _bounds(text: str) -> list[tuple[str, tuple[int, ...], bool]]:
    return [
        (sign, tuple(map(int, number.split("."))), bool(star)) for sign, number, star in _BOUND.findall(text)
    ]


def _fits(version: tuple[int, ...], sign: str, bound: tuple[int, ...], star: bool) -> bool:
    newest = version if len(version) > 2 else (*version, 999)
    oldest = version if len(version) > 2 else (*version, 0)
    if sign in (">", ">="):
        return newest[: len(bound)] >= bound if sign == ">=" else newest > bound
    if sign in ("<", "<="):
        return oldest < bound if sign == "<" else oldest[: len(bound)] <= bound
    if sign == "~=":
        return newest >= bound and newest[: len(bound) - 1] == bound[:-1]
    same = newest[: len(bound)] == bound or (not star and oldest[: len(bound)] == bound)
    return same if sign in ("=", "==", "===") else not (same and (star or len(version) > 2))
