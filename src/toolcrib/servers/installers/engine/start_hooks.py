"""Warnings about files of a package that run before the server itself does (`.pth`, `sitecustomize`), and
about programs named like those of the system, such as `git`.

Nothing of a package may run while it is installed; what will run at the server's start is named to the user.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

HOOK_SUFFIXES = (".pth", ".egg-link", ".start")
_CUSTOMIZED = ("sitecustomize", "usercustomize")
_SITES = ("purelib", "platlib", "site-packages")
_RUNTIMES = {
    "bun",
    "bunx",
    "corepack",
    "docker",
    "node",
    "npm",
    "npx",
    "python",
    "python3",
    "uv",
    "uvx",
    "yarn",
}
SYSTEM_PROGRAMS = frozenset({"bash", "cat", "env", "git", "ls", "pip", "pip3", "sh", *_RUNTIMES})


def start_hooks(names: Iterable[str]) -> tuple[str, ...]:
    """The files in `site-packages` that every start of Python reads, among the files of a wheel."""
    found = (_in_site_packages(PurePosixPath(name).parts) for name in names)
    return tuple(sorted({name for name in found if _is_hook(name)}))


def programs_in(names: Iterable[str]) -> tuple[str, ...]:
    """The scripts among the files of a wheel that are put into the environment's `bin`."""
    paths = [PurePosixPath(name) for name in names]
    return tuple(path.name for path in paths if path.parent.name in ("scripts", "bin"))


def hook_remarks(hooks: Iterable[str], programs: Iterable[str] = ()) -> tuple[str, ...]:
    """Warnings for the user; empty for a usual package."""
    hooks, shadowing = tuple(hooks), sorted(SYSTEM_PROGRAMS.intersection(programs))
    remarks = [f"Runs at every start, before the server itself: {', '.join(hooks)}."] if hooks else []
    if shadowing:
        remarks.append(f"Has programs named like those of the system: {', '.join(shadowing)}.")
    return tuple(remarks)


def snapshot(environment: Path) -> dict[Path, bytes]:
    """The files of a new environment, its interpreter among them, which packages must not replace."""
    found = [path for path in environment.rglob("*") if path.is_symlink() or path.is_file()]
    return {path: _content(path) for path in found}


def replaced(before: dict[Path, bytes]) -> list[Path]:
    """The files that are no longer as they were."""
    return [path for path, content in before.items() if _content(path) != content]


def added_hooks(environment: Path, before: dict[Path, bytes]) -> tuple[str, ...]:
    """The start hooks that packages brought into an environment."""
    entries = [path for path in environment.glob("lib*/python*/site-packages/*") if path not in before]
    return start_hooks(path.name for path in entries)


def _in_site_packages(parts: tuple[str, ...]) -> str:
    """The file or package directly in `site-packages`; empty if it goes elsewhere."""
    if not parts or not parts[0].endswith(".data"):
        return parts[0] if parts else ""
    place = next((number for number, part in enumerate(parts) if part in _SITES), len(parts))
    return parts[place + 1] if place + 1 < len(parts) else ""


def _is_hook(name: str) -> bool:
    return name.endswith(HOOK_SUFFIXES) or name.partition(".")[0] in _CUSTOMIZED


def _content(path: Path) -> bytes:
    try:
        return bytes(path.readlink()) if path.is_symlink() else path.read_bytes()
    except OSError:
        return b""
