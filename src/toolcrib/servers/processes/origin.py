"""Where a local client comes from, so that commands run by an agent cannot act as the user (Linux).

Every terminal command runs under a keeper process, which adopts orphans: a double fork, a new session or an
empty environment cannot hide it. A keeper above this process does not count.
Sandboxed servers do not reach the ports on which this process serves its gateway, not even by their proxy.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections import Counter, deque
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import Any

_open: Counter[int] = Counter()

KEEPER = b"/toolcrib/bundled/terminal/keeper.py"
ENTRANCE = b"/toolcrib/servers/sandbox/entrance.py"
"""An argument of the bubblewrap around a sandboxed server, which nothing inside can end or change."""
_FARTHEST = 1000


@contextmanager
def claimed(port: int) -> Iterator[None]:
    """Keep sandboxed servers from this port of this machine while the block runs."""
    _open[port] += 1
    try:
        yield
    finally:
        _open[port] -= 1


def is_own(address: str, port: int) -> bool:
    """Whether this leads to our gateway."""
    return _open[port] > 0 and is_here(address)


def is_here(address: str, *flow_and_scope: int) -> bool:
    """Whether an address is one of this machine: only to such a one can a socket be bound."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.bind((address, 0, *flow_and_scope))
    except OSError:
        return False
    return True


def runs_in_sandbox(pid: int) -> bool:
    """Whether this process or an ancestor is a command of a terminal or a sandboxed server; true if the
    process is gone."""
    if not os.path.exists("/proc/self/stat"):  # noqa: PTH110 - asked for every connection
        return False
    if _parent(pid) is None:
        return True  # a real client waits for its answer
    ours = set(_lineage(os.getpid()))
    return any(_is_guarded(process) for process in _lineage(pid) if process not in ours)


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
_SOCKET_INFORMATION, _LOOK_UP = 4, 20
_ANY_SOCKET = struct.pack("=I", 0) + b"\xff" * 8
_INODE_END = 16 + 4 + 48 + 20
"""In the answer: two headers, the addresses, and five numbers; the last two are the user and the inode."""
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_recent: deque[tuple[int, bytes]] = deque(maxlen=16)
"""Clients that were seen last and are in no sandbox, each with the time of its start: most connections come
from one of them, and nothing moves a process into a sandbox."""


def comes_from_sandbox(own: Collection[int], ours: Address, theirs: Address) -> bool:
    """Whether the other end of a connection belongs to a command or a sandboxed server, of any host.

    `own` are the processes above those of this host, if there are any. While a sandbox of this user exists,
    the other end must be found in a process: a socket that no process holds has just been closed, perhaps
    with a request on its way, or is hidden in a message between two processes.
    """
    if not os.path.exists("/proc/self/stat"):  # noqa: PTH110 - asked for every connection
        return False
    found = _other_end(ours, theirs)
    if found is None:  # another machine, whose sockets our tables do not have, or one that has hung up
        return (_is_loopback(ours) or _is_loopback(theirs)) and _has_sandbox(own)
    inode, user = found
    if inode == "0":
        return _has_sandbox(own)
    if user != os.getuid():
        return False
    holder = _holder(f"socket:[{inode}]")
    if holder is None:
        return _has_sandbox(own)
    seen = (holder, _start_of(holder))
    if seen in _recent:
        return False
    if runs_in_sandbox(holder):
        return True
    _recent.append(seen)
    return False


def _has_sandbox(own: Collection[int]) -> bool:
    ours = set(_lineage(os.getpid()))
    return bool(own) or any(_is_guarded(pid) for pid in _pids() if pid not in ours)


def _holder(owned: str) -> int | None:
    candidates = (*(pid for pid, _ in _recent), *_pids())
    return next((pid for pid in candidates if _holds(pid, owned)), None)


def _start_of(pid: int) -> bytes:
    """When the process started; empty if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            return file.read().rpartition(b")")[2].split()[19]
    except (OSError, IndexError):
        return b""


def _is_loopback(address: Address) -> bool:
    ip = ip_address(str(address[0]).partition("%")[0])
    return (getattr(ip, "ipv4_mapped", None) or ip).is_loopback


def _other_end(ours: Address, theirs: Address) -> tuple[str, int] | None:
    """The inode and the user of the socket at the other end, if it is on this machine."""
    return _asked(ours, theirs) or (_listed(ours, theirs) if is_here(*theirs[:1], *theirs[2:]) else None)


def _asked(ours: Address, theirs: Address) -> tuple[str, int] | None:
    """From the kernel's lookup of one socket, which takes far less time than its tables."""
    (their_ip, their_port), (our_ip, our_port) = map(_plain, (theirs, ours))
    family = socket.AF_INET if len(our_ip) == 4 else socket.AF_INET6
    ends = struct.pack("!HH16s16s", their_port, our_port, their_ip, our_ip)
    wanted = struct.pack("=BBBxI", family, socket.IPPROTO_TCP, 0, 0xFFFFFFFF) + ends + _ANY_SOCKET
    head = struct.pack("=IHHII", 16 + len(wanted), _LOOK_UP, 1, 0, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCKET_INFORMATION) as kernel:
            kernel.settimeout(1)
            kernel.send(head + wanted)
            answer = kernel.recv(4096)
    except OSError:
        return None
    if len(answer) < _INODE_END or int.from_bytes(answer[4:6], sys.byteorder) != _LOOK_UP:
        return None
    user, inode = struct.unpack_from("=II", answer, _INODE_END - 8)
    return str(inode), user


def _plain(address: Address) -> tuple[bytes, int]:
    ip = ip_address(str(address[0]).partition("%")[0])
    return (getattr(ip, "ipv4_mapped", None) or ip).packed, int(address[1])


def _listed(ours: Address, theirs: Address) -> tuple[str, int] | None:
    """From the kernel's tables, where it has no such lookup."""
    wanted = [f"{local} {remote} " for local, remote in zip(_shown(theirs), _shown(ours), strict=True)]
    for table in _TABLES:
        text = _text(table)
        for at in (text.find(line) for line in wanted):
            if at >= 0:
                fields = text[at : text.find("\n", at)].split()
                return fields[8], int(fields[6])
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


def _text(table: str) -> str:
    try:
        return Path(table).read_text("ascii", "replace")
    except OSError:
        return ""
