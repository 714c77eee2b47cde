"""Which places a sandboxed command may not read, and which it may not change."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolcrib.serverkit.confined.protected import AGENT_CONFIG
from toolcrib.serverkit.own_places import DATABASE, is_home, is_store

HIDDEN = (
    *("~/.ssh", "~/.gnupg", "~/.aws", "~/.azure", "~/.kube", "~/.netrc", "~/.git-credentials", "~/.pypirc"),
    *("~/.config/gcloud", "~/.config/gh", "~/.docker", "~/.local/share/keyrings", "~/.mozilla"),
    *("~/.config/google-chrome", "~/.config/chromium", "~/.password-store", "~/.vault-token"),
    *("~/.claude/.credentials.json", "~/.codex/auth.json", "/etc/shadow", "/etc/gshadow"),
)
"""Keys, passwords and signed-in sessions."""
STARTED = (
    *("~/.config/autostart", "~/.config/systemd", "~/.config/environment.d", "~/.config/fish"),
    *("~/.config/git", "~/.config/plasma-workspace", "~/.local/bin", "~/.local/share/applications"),
    *("~/.local/share/systemd", "~/.local/share/dbus-1", "~/.config/mcp", "~/.config/Code/User"),
)
"""Run or read by other programs by themselves, where a folder of the home folder is writable.

In the home folder itself no hidden entry is writable, and none can be created.
"""
IN_REPOSITORY = ("hooks", "config", "config.worktree")
"""Make git run programs."""
IN_PROJECT = frozenset({*AGENT_CONFIG, ".envrc", ".idea"})
"""Make editors, agents and shells run programs when somebody opens the project."""
MOST_FOLDERS = 400
DEEPEST = 3
_SKIPPED = frozenset({"node_modules", "__pycache__", ".venv", "venv", ".tox", "target", "dist", "build"})


def is_guarded(names: Sequence[str]) -> bool:
    """Whether a path below a writable folder is unchangeable; not when somebody named `.git` itself."""
    return any(name.casefold() == ".git" or name.casefold() in IN_PROJECT for name in names)


@dataclass
class Found:
    """What a look into a writable folder found."""

    unchangeable: list[Path] = field(default_factory=list)
    homes: list[Path] = field(default_factory=list)
    """Of Toolcrib, whether or not of the host that looks."""


def look_into(folder: Path) -> Found:
    """Find such places in the first few levels of a folder; bounded, because it is done for each command."""
    found = Found()
    left = [(os.fspath(folder), 0)]
    looked_at = 0
    while left and looked_at < MOST_FOLDERS:
        place, depth = left.pop(0)
        looked_at += 1
        entries = _entries(place)
        if _may_be_own(entries) and (is_home(Path(place)) or is_store(Path(place))):
            found.homes.append(Path(place))
            continue
        for entry in entries:
            name = entry.name.casefold()
            if name == ".git":
                found.unchangeable += _of_repository(Path(entry.path))
            elif name in IN_PROJECT:
                found.unchangeable.append(Path(entry.path))
            elif depth < DEEPEST and name not in _SKIPPED and entry.is_dir(follow_symlinks=False):
                left.append((entry.path, depth + 1))
    return found


def _may_be_own(entries: Sequence[os.DirEntry[str]]) -> bool:
    """Most folders are none of ours, and need no further look."""
    return any(entry.name in ("mcp.json", DATABASE, "run") for entry in entries)


def _of_repository(git: Path) -> Iterator[Path]:
    if not git.is_dir():
        yield git  # it names the folder of the repository
        return
    for folder in (git, *git.glob("modules/*"), *git.glob("modules/*/modules/*")):
        with contextlib.suppress(OSError):
            (folder / "hooks").mkdir(exist_ok=True)  # so that a command cannot make it
        yield from (path for name in IN_REPOSITORY if (path := folder / name).exists())


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.is_symlink()]
    except OSError:
        return []
