"""What the kernel refuses a sandboxed command besides files: other sockets, keys, devices, powers of root."""

from __future__ import annotations

import os
import pty
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bundled.terminal.test_running import text
from tests.bundled.terminal.test_sockets import python
from toolcrib.bundled.terminal.tools import TerminalTools
from toolcrib.bundled.terminal.workplace import Workplace

FAMILIES = """
import ctypes, os
libc = ctypes.CDLL(None)
made = []
for family in range(1, 50):
    for kind in (1, 2, 3, 5):
        descriptor = libc.socket(family, kind, 0)
        if descriptor >= 0:
            made.append(family); os.close(descriptor)
pairs = [family for family in range(2, 50) if libc.socketpair(family, 1, 0, bytes(8)) == 0]
print("MADE", sorted(set(made)), "PAIRS", pairs)
"""
KEYS = """
import ctypes, platform
add_key = {"x86_64": 248}.get(platform.machine(), 217)
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.argtypes = [ctypes.c_long] * 6
print("KEYS", [(libc.syscall(add_key + at, 0, -4, 0, 0, 0), ctypes.get_errno()) for at in range(3)])
"""
OPEN = """
import os, sys
for path in sys.argv[1:]:
    for mode in (os.O_RDONLY, os.O_WRONLY):
        try:
            os.close(os.open(path, mode | os.O_NONBLOCK))
            print("OPENED", path)
        except OSError as error:
            print("refused", path, error.strerror)
"""
POWERS = """
import os
limit = () if os.getuid() == 0 or "{kind}" == "bubblewrap" else ("CapBnd",)  # others have none to gain by it
status = [line for line in open("/proc/self/status") if line.startswith("Cap") and not line.startswith(limit)]
print("POWERS", [line.split()[1] for line in status])
try:
    os.mknod("disk", 0o60600, os.makedev(1, 0)); print("MADE")
except OSError as error:
    print("refused", error.strerror)
"""
ORDINARY = (
    "head -c 4 /dev/urandom | wc -c; echo x > /dev/null; cat /dev/zero | head -c 3 | wc -c; "
    "echo seen > /dev/stderr; cat < /dev/stdin; cat <(echo piped); "
    "python3 -c 'import multiprocessing as m; m.Lock()'"
)


@pytest.mark.parametrize(("network", "expected"), [(True, "[2, 10, 16]"), (False, "[16]")])
async def test_only_the_families_of_the_internet_can_be_used(
    held: Callable[..., Workplace], network: bool, expected: str
) -> None:
    assert f"MADE {expected} PAIRS []" in await python(held(network=network), FAMILIES)


async def test_own_unix_sockets_add_no_other_family(held: Callable[..., Workplace]) -> None:
    assert "MADE [1, 2, 10, 16] PAIRS []" in await python(held(unix_sockets=True), FAMILIES)


@pytest.mark.parametrize("unix_sockets", [True, False])
async def test_the_keys_that_the_kernel_keeps_are_out_of_reach(
    held: Callable[..., Workplace], unix_sockets: bool
) -> None:
    assert "KEYS [(-1, 1), (-1, 1), (-1, 1)]" in await python(held(unix_sockets=unix_sockets), KEYS)


async def test_the_terminal_of_another_program_is_neither_read_nor_written(
    held: Callable[..., Workplace],
) -> None:
    ours, theirs = pty.openpty()
    name = os.ttyname(theirs)
    try:
        assert "OPENED" not in await python(held(), OPEN, name)
    finally:
        os.close(ours)
        os.close(theirs)


async def test_a_command_with_a_terminal_reaches_its_own(held: Callable[..., Workplace]) -> None:
    tools = TerminalTools(held())

    seen = text(await tools.run_command("tty; echo hello > /dev/tty; echo again > $(tty)", pty=True))

    assert "hello" in seen
    assert "again" in seen


async def test_devices_other_than_the_usual_ones_are_out_of_reach(held: Callable[..., Workplace]) -> None:
    usual = {"null", "zero", "full", "tty", "random", "urandom"}
    others = [path for path in Path("/dev").iterdir() if path.name not in usual and not path.is_symlink()]
    devices = [str(path) for path in others if path.is_char_device() or path.is_block_device()]
    named = [path for path in devices if "ptmx" not in path]

    assert "OPENED" not in await python(held(), OPEN, *named)


async def test_no_power_of_root_is_left(held: Callable[..., Workplace]) -> None:
    place = held()

    seen = await python(place, POWERS.format(kind=place.sandbox.kind))

    assert "MADE" not in seen
    assert set(seen.split("POWERS ")[1].split("]")[0].strip("[").replace("'", "").split(", ")) == {"0" * 16}


async def test_ordinary_devices_work(held: Callable[..., Workplace]) -> None:
    seen = text(await TerminalTools(held()).run_command(ORDINARY))

    assert seen.split()[:2] == ["4", "3"]
    assert "seen" in seen
    assert "piped" in seen
    assert "Error" not in seen
    assert "denied" not in seen
