"""Limits how many processes a server of root may have, by a control group: root has no other such limit."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

_CONTROLLER = "pids"
_PREFIX = "toolcrib-"
_JOIN = 'echo $$ > "$1"; shift; exec "$@"'
"""Before the sandbox starts, so that every process of it belongs to the group."""


def needs_group() -> bool:
    """Whether the system ignores the usual limit for this user."""
    return os.getuid() == 0


def make_group(processes: int) -> Path | None:
    """A control group that allows so many processes; None if none can be made here."""
    for parent in _parents():
        _remove_abandoned(parent)
        group = parent / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(8)}"
        try:
            group.mkdir()
            (group / "pids.max").write_text(str(processes))
            return group
        except OSError:
            remove_group(group)
    return None


def joining(group: Path, argv: list[str]) -> list[str]:
    """The same command, run in the group."""
    return ["/bin/sh", "-c", _JOIN, "sh", str(group / "cgroup.procs"), *argv]


def remove_group(group: Path) -> bool:
    """Remove it; false if it still has processes. A group that stays is removed by a later host."""
    with contextlib.suppress(OSError):
        group.rmdir()
    return not group.exists()


def _remove_abandoned(parent: Path) -> None:
    """Remove the groups of hosts that were killed."""
    for group in parent.glob(f"{_PREFIX}*-*"):
        if not Path("/proc", group.name.split("-")[1]).exists():
            remove_group(group)


def _parents() -> Iterator[Path]:
    """Folders in which a group with this controller may be possible, the nearest first."""
    own = _own_groups()
    for root, controllers in _hierarchies():
        if _CONTROLLER in controllers and _CONTROLLER in own:
            yield root / own[_CONTROLLER].lstrip("/")
        elif not controllers and "" in own:
            nearest = root / own[""].lstrip("/")
            yield from (path for path in (nearest, *nearest.parents) if _passes_on(path, root))


def _passes_on(group: Path, root: Path) -> bool:
    if not group.is_relative_to(root):
        return False
    try:
        return _CONTROLLER in (group / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False


def _own_groups() -> dict[str, str]:
    """The group of this process for each controller; that of version 2 has no controller's name."""
    found: dict[str, str] = {}
    for line in _lines("/proc/self/cgroup"):
        _, names, path = line.split(":", 2)
        found |= dict.fromkeys(names.split(","), path)
    return found


def _hierarchies() -> Iterator[tuple[Path, frozenset[str]]]:
    """Where groups are mounted, each with its controllers; none are named for version 2."""
    for line in _lines("/proc/self/mounts"):
        _, place, kind, options, *_ = line.split()
        if kind in ("cgroup", "cgroup2"):
            yield Path(place), frozenset(options.split(",") if kind == "cgroup" else ())


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
