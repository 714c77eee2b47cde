"""Whether a connection over loopback comes from one of these processes or from what they started (Linux)."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import Any

Address = tuple[Any, ...]
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")


def comes_from(above: Collection[int], ours: Address, theirs: Address) -> bool:
    """Whether the other end belongs to a process below these; also when that cannot be told.

    Costs nothing while there are no such processes.
    """
    if not above or not ip_address(str(theirs[0]).partition("%")[0]).is_loopback:
        return False
    inode = _inode(ours, theirs)
    if inode is None:
        return True  # it hung up already: nobody waits for an answer
    owned = f"socket:[{inode}]"
    below = _below(above)
    found = [_holds(pid, owned) for pid in below]
    if any(found):
        return True
    if None not in found:
        return False
    return not any(_holds(pid, owned) for pid in _pids() if pid not in below)


def _inode(ours: Address, theirs: Address) -> str | None:
    """The number of the socket at the other end."""
    wanted = (_shown(theirs), _shown(ours))
    for table in _TABLES:
        for line in _lines(table):
            fields = line.split()
            if len(fields) > 9 and fields[1] in wanted[0] and fields[2] in wanted[1]:
                return fields[9] if fields[9] != "0" else None
    return None


def _shown(address: Address) -> tuple[str, ...]:
    """As the kernel's tables show it: words of four bytes in the machine's order, as IPv4 and as IPv6."""
    ip, port = ip_address(str(address[0]).partition("%")[0]), int(address[1])
    mapped = ip if isinstance(ip, IPv6Address) else IPv6Address(b"\0" * 10 + b"\xff\xff" + ip.packed)
    plain = mapped.ipv4_mapped.packed if mapped.ipv4_mapped else mapped.packed
    return tuple(f"{_words(packed)}:{port:04X}" for packed in (plain, mapped.packed))


def _words(packed: bytes) -> str:
    parts = (packed[at : at + 4] for at in range(0, len(packed), 4))
    return "".join(f"{int.from_bytes(part, 'little'):08X}" for part in parts)


def _below(above: Collection[int]) -> set[int]:
    children: dict[int, list[int]] = {}
    for pid in _pids():
        try:
            parent = int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    left = list(above)
    while left:
        pid = left.pop()
        if pid not in found:
            found.add(pid)
            left += children.get(pid, ())
    return found


def _holds(pid: int, owned: str) -> bool | None:
    """Whether a process has this open; None where that may not be looked at."""
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
