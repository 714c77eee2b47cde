"""The system calls that a sandboxed command is refused (Unix sockets, user namespaces, the kernel's keys,
`bpf`), as a program for the kernel (seccomp).

A sandbox of folders does not keep a command from a Unix socket that it can name: the daemons of Docker, tmux,
D-Bus and X11, and the agents of ssh and gpg run commands or hand out keys to any client. So no such
socket can be made; a connected pair, which leads nowhere else, can. Without a network, no other one either.
Families are allowed by name: network namespaces do not cover some of the others, such as the sockets between
a virtual machine and its host. The keys that the kernel keeps for the user are refused too, and so is what
works without capabilities and reaches far into the kernel: user namespaces, in which a program would have all
capabilities again, `bpf`, `perf_event_open` and `userfaultfd`. No line can be typed into a terminal.
"""

from __future__ import annotations

import errno
import platform
import struct
import sys
from dataclasses import dataclass, replace

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
_STREAM, _SEQUENCED = 1, 5
_TYPE_MASK = 0xF
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000 | errno.EPERM
_MISSING = 0x00050000 | errno.ENOSYS
_REPORT = 0x7FC00000
_LOAD, _EQUAL, _AT_LEAST, _HAS, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
_IO_URING_SETUP = 425
"""By which sockets can be made that no filter sees; its number is the same everywhere."""
_CLONE3 = 435
"""Takes its flags by a pointer, which cannot be looked at; programs fall back to `clone` if it is missing."""
_NEW_USERS = 0x10000000
_TYPES_INTO_TERMINAL = (0x5412, 0x541C)
_X32 = 0x40000000
"""Numbers from here on are those of another interface of the same machine."""


@dataclass(frozen=True)
class _Calls:
    """How one kind of program calls the kernel; 0 where it has no such call."""

    architecture: int
    socket: int
    socketpair: int
    keys: int
    """The first of `add_key`, `request_key` and `keyctl`, which follow each other."""
    clone: int
    unshare: int
    ioctl: int
    connect: int
    others: tuple[int, ...]
    """`setns`, `bpf`, `perf_event_open` and `userfaultfd`."""
    socketcall: int = 0
    """Takes the arguments of both by a pointer, which cannot be looked at."""


_X86_64 = _Calls(
    architecture=0xC000003E,
    socket=41,
    socketpair=53,
    keys=248,
    clone=56,
    unshare=272,
    ioctl=16,
    connect=42,
    others=(308, 321, 298, 323),
)
_I386 = _Calls(
    architecture=0x40000003,
    socket=359,
    socketpair=360,
    keys=286,
    clone=120,
    unshare=310,
    ioctl=54,
    connect=362,
    others=(346, 357, 336, 374),
    socketcall=102,
)
_AARCH64 = _Calls(
    architecture=0xC00000B7,
    socket=198,
    socketpair=199,
    keys=217,
    clone=220,
    unshare=97,
    ioctl=29,
    connect=203,
    others=(268, 280, 241, 282),
)
_ARM = _Calls(
    architecture=0x40000028,
    socket=281,
    socketpair=288,
    keys=309,
    clone=120,
    unshare=337,
    ioctl=54,
    connect=283,
    others=(375, 386, 364, 388),
    socketcall=102,
)
_RISCV64 = replace(_AARCH64, architecture=0xC00000F3)
MACHINES = {
    "x86_64": (_X86_64, _I386),
    "aarch64": (_AARCH64, _ARM),
    "riscv64": (_RISCV64,),
}
"""Programs of any other kind that the machine could run are refused every call."""


def socket_filter(*, unix_sockets: bool, network: bool) -> bytes:
    """The filter for this machine; empty when the machine is not known."""
    kinds = MACHINES.get(platform.machine()) if sys.platform.startswith("linux") else None
    if kinds is None:
        return b""
    code = [_line(_LOAD, _ARCHITECTURE)]
    for calls in kinds:
        code += _when(_EQUAL, calls.architecture, _decide(calls, unix_sockets, network))
    return b"".join([*code, *_DENIED])


def connect_filter() -> bytes:
    """A filter that has every `connect` reported to another process, which answers in the kernel's place."""
    kinds = MACHINES.get(platform.machine(), ()) if sys.platform.startswith("linux") else ()
    code = [_line(_LOAD, _ARCHITECTURE)]
    for calls in kinds:
        reported = _when(_EQUAL, calls.connect, [_line(_RETURN, _REPORT)])
        code += _when(_EQUAL, calls.architecture, [_line(_LOAD, _NUMBER), *reported, *_ALLOWED])
    return b"".join([*code, *_ALLOWED]) if kinds else b""


def _decide(calls: _Calls, unix_sockets: bool, network: bool) -> list[bytes]:
    """For one kind of program."""
    code = [_line(_LOAD, _NUMBER)]
    if calls is _X86_64:
        code += _when(_AT_LEAST, _X32, _DENIED)
    for refused in (_IO_URING_SETUP, calls.keys, calls.keys + 1, calls.keys + 2, *calls.others):
        code += _when(_EQUAL, refused, _DENIED)
    for making in (calls.clone, calls.unshare):
        code += _when(_EQUAL, making, [_line(_LOAD, _FIRST), *_when(_HAS, _NEW_USERS, _DENIED), *_ALLOWED])
    code += _when(_EQUAL, _CLONE3, [_line(_RETURN, _MISSING)])
    typing = [line for number in _TYPES_INTO_TERMINAL for line in _when(_EQUAL, number, _DENIED)]
    code += _when(_EQUAL, calls.ioctl, [_line(_LOAD, _SECOND), *typing, *_ALLOWED])
    if calls.socketcall:
        code += _when(_EQUAL, calls.socketcall, _DENIED)
    code += _when(_EQUAL, calls.socket, _families(unix_sockets, network))
    code += _when(_EQUAL, calls.socketpair, _pairs(unix_sockets))
    return [*code, *_ALLOWED]


def _families(unix_sockets: bool, network: bool) -> list[bytes]:
    code = [_line(_LOAD, _FIRST)]
    allowed = [AF_NETLINK, *([AF_UNIX] if unix_sockets else []), *([AF_INET, AF_INET6] if network else [])]
    for family in allowed:
        code += _when(_EQUAL, family, _ALLOWED)
    return [*code, *_DENIED]


def _pairs(unix_sockets: bool) -> list[bytes]:
    """One of a pair that is connected for good; a datagram socket could still send elsewhere."""
    family = [_line(_LOAD, _FIRST), _line(_EQUAL, AF_UNIX, then=1), *_DENIED]
    if unix_sockets:
        return [*family, *_ALLOWED]
    code = [*family, _line(_LOAD, _SECOND), _line(_AND, _TYPE_MASK)]
    for kind in (_STREAM, _SEQUENCED):
        code += _when(_EQUAL, kind, _ALLOWED)
    return [*code, *_DENIED]


def _when(test: int, value: int, code: list[bytes]) -> list[bytes]:
    """Code that runs only if the loaded value passes the test, and that ends with a decision."""
    return [_line(test, value, otherwise=len(code)), *code]


def _line(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("HBBI", code, then, otherwise, value)


_ALLOWED = [_line(_RETURN, _ALLOW)]
_DENIED = [_line(_RETURN, _REFUSE)]
