"""Where a local client comes from, so that commands run by an agent cannot act as the user (Linux).

Every terminal command runs under a keeper process, which adopts orphans: a double fork, a new session or an
empty environment cannot hide it. A keeper above this process does not count.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import Any

KEEPER = b"/toolcrib/bundled/terminal/keeper.py"
_FARTHEST = 1000


def runs_in_terminal(pid: int) -> bool:
    """Whether a terminal started this process or one of its ancestors; true if the process is gone."""
    if not os.path.exists("/proc/self/stat"):  # noqa: PTH110 - asked for every connection
        return False
    if _parent(pid) is None:
        return True  # a real client waits for its answer
    ours = set(_lineage(os.getpid()))
    return any(_is_keeper(each) for each in _lineage(pid) if each not in ours)


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


def _is_keeper(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123
            words = file.read().split(b"\0")
    except OSError:
        return False
    return any(word.endswith(KEEPER) for word in words[1:5])


Address = tuple[Any, ...]
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")


def comes_from(above: Collection[int], ours: Address, theirs: Address) -> bool:
    """Whether the other end of a loopback connection belongs to one of these processes or a descendant.

    True if unknown. Costs nothing if `above` is empty.
    """
    if not above or not ip_address(str(theirs[0]).partition("%")[0]).is_loopback:
        return False
    inode = _inode(ours, theirs)
    if inode is None:
        return True  # it has hung up: no one waits for an answer
    owned = f"socket:[{inode}]"
    below = _below(above)
    found = [_holds(pid, owned) for pid in below]
    if any(found):
        return True
    if None not in found:
        return False
    return not any(_holds(pid, owned) for pid in _pids() if pid not in below)


def _inode(ours: Address, theirs: Address) -> str | None:
    """The inode of the socket at the other end."""
    wanted = (_shown(theirs), _shown(ours))
    for table in _TABLES:
        for line in _lines(table):
            fields = line.split()
            if len(fields) > 9 and fields[1] in wanted[0] and fields[2] in wanted[1]:
                return fields[9] if fields[9] != "0" else None
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


def _holds(pid: int, owned: str) -> bool | None:
    """Whether the process has this file open; None if not readable."""
    folder = f"/proc/{pid}/fd"
    try:
        return any(_link(f"{folder}/{name}") == owned for name in os.listdir(folder))  # noqa: PTH208
    except PermissionError:
        return None
    except OSError:
        return False  # gone


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
