"""Finds uv and Python interpreters: supported Python versions, the choice of one, folders of version managers
such as pyenv, and the errors if one is missing.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from toolcrib.errors import InstallFailed
from toolcrib.servers.installers.engine.contract import InstallContext


def find_uv(context: InstallContext) -> str:
    """The uv in our environment, else on the PATH; raises `InstallFailed`."""
    beside = str(Path(sys.executable).parent)
    path = os.pathsep.join([beside, context.runner.environ.get("PATH", os.defpath)])
    found = shutil.which("uv", path=path)
    if found is None:
        raise InstallFailed(
            "uv, which installs Python servers, was not found.", hint="Install it: pip install uv"
        )
    return found


OLDEST, NEWEST = 8, 30
"""The range of Python 3 minor versions."""
_RANGE = re.compile(r"[Pp]ython ?((?:[<>=!~]=?=? ?\d[\d.*]*)(?: ?, ?[<>=!~]=?=? ?\d[\d.*]*)*)")
_BOUND = re.compile(r"([<>=!~]=?=?)\s*(\d+(?:\.\d+)*)(\.\*)?")
_TAGS = re.compile(r"only found wheels for .* Python (?:implementation|ABI) tags?: (.*)")
_VERSION_MANAGERS = (
    (".pyenv/versions", "bin/python"),
    (".asdf/installs/python", "bin/python"),
    (".local/share/mise/installs/python", "bin/python"),
)
"""Folders of Python version managers, which may not be on the PATH."""


@dataclass(frozen=True)
class PythonRange:
    """A `requires-python` range."""

    text: str

    def accepts(self, version: tuple[int, ...]) -> bool:
        """Whether a version is in range; `3.13` means its newest release."""
        return all(_fits(version, *bound) for bound in _bounds(self.text))

    def lowest(self, tried: Iterable[str] = ()) -> str | None:
        """The oldest version in range from ours on, else the newest older one; `3.12.1` if not every 3.12 is.

        Not one of a minor version that was tried.
        """
        ours = sys.version_info[1]
        seen = {_minor(version) for version in tried}
        minors = [*range(ours, NEWEST), *range(ours - 1, OLDEST - 1, -1)]
        return next((self._oldest(m) for m in minors if f"3.{m}" not in seen and self.accepts((3, m))), None)

    def _oldest(self, minor: int) -> str:
        patch = next((patch for patch in range(NEWEST) if self.accepts((3, minor, patch))), 0)
        return f"3.{minor}.{patch}" if patch else f"3.{minor}"


def ranges_in(lines: Iterable[str]) -> tuple[PythonRange, ...]:
    """The Python ranges named in a resolver's error."""
    text = "\n".join(lines)
    found = [PythonRange(bounds.replace(" ", "")) for bounds in _RANGE.findall(text)]
    for tags in _TAGS.findall(text):
        minors = {int(minor) for minor in re.findall(r"`cp3(\d+)`", tags)}
        found += [PythonRange(f"==3.{minor}.*") for minor in sorted(minors, reverse=True)]
    return tuple(dict.fromkeys(found))


def fits_ours(wanted: PythonRange) -> bool:
    return wanted.accepts(sys.version_info[:3])


async def choose_version(
    context: InstallContext, wanted: Iterable[PythonRange], tried: Collection[str] = ()
) -> str:
    """The version to use, preferring an installed one, such as `3.13.0`; raises `InstallFailed`."""
    ranges = tuple(wanted)
    together = PythonRange(",".join(versions.text for versions in ranges))
    choices = [together, *ranges] if together.lowest() else list(ranges)
    for versions in choices:
        found = await find_python(context, versions, tried)
        if found:
            return found[1]
    version = next((low for versions in choices if (low := versions.lowest(tried))), None)
    if version is None and tried:
        raise InstallFailed(
            f"It needs Python {together.text}, and could not be resolved for {' or '.join(tried)}.",
            hint="Choose another version of the package, or a Python with --python VERSION.",
        )
    if version is None or not may_fetch(context):
        raise missing_python(version, together if together.lowest() else ranges[0])
    return version


async def find_python(
    context: InstallContext, wanted: PythonRange, tried: Collection[str] = ()
) -> tuple[str, str] | None:
    """An installed interpreter in range that was not tried, and its version, such as `3.13.0`."""
    line = [
        find_uv(context),
        "python",
        "find",
        "--no-project",
        "--no-python-downloads",
        "--quiet",
        wanted.text,
    ]
    done = await context.runner.run(line, cwd=Path("/"))
    candidates = [done.out.strip()] if done.code == 0 and done.out.strip() else []
    for program in (*candidates, *_managed_pythons(context)):
        version = await _version(context, program)
        text = ".".join(map(str, version or ()))
        if version and wanted.accepts(version) and text not in tried:
            return program, text
    return None


def releases_of(version: str) -> PythonRange:
    """This release of Python and the later ones of its minor version."""
    return PythonRange(f">={version},=={_minor(version)}.*")


async def interpreter(context: InstallContext, version: str) -> str:
    """The value for `uv --python`: the path of an installed one, else the minor version, to be fetched."""
    found = await find_python(context, releases_of(version))
    return found[0] if found else _minor(version)


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def may_fetch(context: InstallContext) -> bool:
    setting = context.runner.environ.get("UV_PYTHON_DOWNLOADS", "automatic").lower()
    return not context.offline and setting not in ("never", "manual", "false", "0")


def missing_python(version: str | None, wanted: PythonRange, why: str = "") -> InstallFailed:
    """The error for a Python that is neither installed nor available."""
    if version is None:
        return InstallFailed(
            f"It needs Python {wanted.text}, which does not exist.", hint="Choose another version."
        )
    return InstallFailed(
        f"It needs Python {wanted.text}, which is not installed and could not be downloaded. {why}".strip(),
        hint=f"Install Python {version}, for example with: uv python install {version}. "
        "Or choose one with --python PATH.",
    )


def _managed_pythons(context: InstallContext) -> list[str]:
    home = Path(context.runner.environ.get("HOME") or Path.home())
    found = [path for folder, inner in _VERSION_MANAGERS for path in (home / folder).glob(f"3.*/{inner}")]
    return [str(path) for path in sorted(found, key=_folder_version)]


def _folder_version(path: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", path.parents[1].name))


async def _version(context: InstallContext, program: str) -> tuple[int, ...] | None:
    try:
        line = [program, "-I", "-c", "import sys; print(*sys.version_info[:3])"]
        done = await context.runner.run(line, cwd=Path("/"), private=True)
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
