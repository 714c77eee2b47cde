"""Where a local client comes from, so that commands run by an agent cannot act as the user (Linux).

Every terminal command runs under a keeper process, which adopts orphans: a double fork, a new session or an
empty environment cannot hide it. A keeper above this process does not count.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection, Iterator
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import Any

KEEPER = b"/toolcrib/bundled/terminal/keeper.py"
ENTRANCE = b"/toolcrib/servers/sandbox/entrance.py"
"""An argument of the bubblewrap around a sandboxed server, which nothing inside can end or change."""
_FARTHEST = 1000


def runs_in_sandbox(pid: int) -> bool:
    """Whether this process or an ancestor is a command of a terminal or a sandboxed server; true if the
    process is gone."""
    if not os.path.exists("/proc/self/stat"):  # noqa: PTH110 - asked for every connection
        return False
    if _parent(pid) is None:
        return True  # a real client waits for its answer
    ours = set(_lineage(os.getpid()))
    return any(_is_guarded(each) for each in _lineage(pid) if each not in ours)


def _lineage(pid: int) -> Iterator[int]:
    """The process and its ancestors."""
    for _ in range(_FARTHEST):
        yield pid
        above = _parent(pid)
        if above is not None and above > 0 and _parent(above) is None:
            above = _parent(pid)  # the parent has just ended, and another process adopted ours
        if not above:
            return
        pid = above


def _parent(pid: int) -> int | None:
    """None if the process is gone or not readable."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return None


def _is_guarded(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123
            words = file.read().split(b"\0")
    except OSError:
        return False
    if words[0].endswith(b"bwrap"):
        return any(word.endswith(ENTRANCE) for word in words)
    return any(word.endswith(KEEPER) for word in words[1:5])


Address = tuple[Any, ...]
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_recent: deque[int] = deque(maxlen=16)
"""Processes of clients that were seen last: most connections come from one of them."""


def comes_from(above: Collection[int], ours: Address, theirs: Address) -> bool:
    """Whether the other end of a connection belongs to one of these processes or a descendant.

    It must be found in another process of this user: a socket that no process holds has just been closed,
    or is hidden in a message between two descendants. Costs nothing if `above` is empty.
    """
    if not above:
        return False
    found = _other_end(ours, theirs)
    if found is None:  # another machine, whose sockets our tables do not have, or one that has hung up
        return _is_loopback(ours) or _is_loopback(theirs)
    inode, user = found
    if inode == "0":
        return True  # closed already, perhaps with a request on its way
    if user != os.getuid():
        return False
    owned, below = f"socket:[{inode}]", _below(above)
    if any(_holds(pid, owned) for pid in below):
        return True
    return not _is_held_outside(owned, below)


def _is_held_outside(owned: str, below: Collection[int]) -> bool:
    for pid in (*_recent, *_pids()):
        if pid not in below and _holds(pid, owned):
            if pid not in _recent:
                _recent.append(pid)
            return True
    return False


def _is_loopback(address: Address) -> bool:
    ip = ip_address(str(address[0]).partition("%")[0])
    return (getattr(ip, "ipv4_mapped", None) or ip).is_loopback


def _other_end(ours: Address, theirs: Address) -> tuple[str, int] | None:
    """The inode and the user of the socket at the other end, if it is on this machine."""
    wanted = (_shown(theirs), _shown(ours))
    for table in _TABLES:
        for line in _lines(table):
            fields = line.split()
            if len(fields) > 9 and fields[1] in wanted[0] and fields[2] in wanted[1]:
                return fields[9], int(fields[7])
    return None


def _shown(address: Address) -> tuple[str, ...]:
    """The address as the kernel's tables write it: four-byte words in machine order, as IPv4 and as IPv6."""
    ip, port = ip_address(str(address[0]).partition("%")[0]), int(address[1])
    mapped = ip if isinstance(ip, IPv6Address) else IPv6Address(b"\0" * 10 + b"\xff\xff" + ip.packed)
    plain = mapped.ipv4_mapped.packed if mapped.ipv4_mapped else mapped.packed
    return tuple(f"{_words(packed)}:{port:04X}" for packed in (plain, mapped.packed))


def _words(packed: bytes) -> str:
    parts = (packed[at : at + 4] for at in range(0, len(packed), 4))
    return "".join(f"{int.from_bytes(part, 'little'):08X}" for part in parts)


def _below(above: Collection[int]) -> set[int]:
    children: dict[int | None, list[int]] = {}
    for pid in _pids():
        children.setdefault(_parent(pid), []).append(pid)
    found: set[int] = set()
    left = list(above)
    while left:
        pid = left.pop()
        if pid not in found:
            found.add(pid)
            left += children.get(pid, ())
    return found


def _holds(pid: int, owned: str) -> bool:
    """Whether the process has this file open; false if that cannot be read."""
    folder = f"/proc/{pid}/fd"
    try:
        return any(_link(f"{folder}/{name}") == owned for name in os.listdir(folder))  # noqa: PTH208
    except OSError:
        return False


def _link(path: str) -> str:
    try:
        return os.readlink(path)  # noqa: PTH115
    except OSError:
        return ""


def _pids() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208


def _lines(table: str) -> list[str]:
    try:
        return Path(table).read_text().splitlines()[1:]
    except OSError:
        return []
