"""No sandboxed command reaches a Unix socket or a temporary folder of other programs."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.bundled.terminal.test_running import text
from toolcrib.bundled.terminal.kernel_rules import landlock_version
from toolcrib.bundled.terminal.tools import TerminalTools
from toolcrib.bundled.terminal.workplace import Workplace
from toolcrib.serverkit.context import ToolFailure

CONNECT = """
import socket, sys
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    try:
        one = socket.socket(socket.AF_UNIX, kind)
        one.connect(sys.argv[1].replace("@", chr(0)))
        one.send(b"run this")
        print("REACHED")
    except OSError as error:
        print("refused", error.strerror)
"""
RECONNECT = """
import socket, sys
for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
    try:
        one, other = socket.socketpair(socket.AF_UNIX, kind)
        one.connect(sys.argv[1])
        print("REACHED")
    except OSError as error:
        print("refused", error.strerror)
"""
OWN = """
import os, socket, sys
path = os.path.join(os.environ["TMPDIR"], "own.sock")
listener = socket.socket(socket.AF_UNIX); listener.bind(path); listener.listen()
client = socket.socket(socket.AF_UNIX); client.connect(path); print("OWN WORKS")
"""
PAIR = "import socket; a, b = socket.socketpair(); a.send(b'x'); print('PAIR', b.recv(1))"
URING = "import ctypes; print('URING', ctypes.CDLL(None).syscall(425, 1, bytes(120)))"
UDP = """
import socket, sys
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", int(sys.argv[1])))
    print("SENT")
except OSError as error:
    print("refused", error.strerror)
"""


@pytest.fixture
async def met() -> AsyncIterator[Callable[[str], asyncio.Future[None]]]:
    """Listens on addresses; each gives a list that grows with every connection."""
    servers = []

    async def listen(address: str) -> list[int]:
        seen: list[int] = []
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(address.replace("@", "\0"))
        servers.append(await asyncio.start_unix_server(lambda r, w: seen.append(1), sock=listener))
        return seen

    yield listen  # type: ignore[misc]
    for server in servers:
        server.close()


async def python(place: Workplace, code: str, *words: str) -> str:
    (place.folder() / "code.py").write_text(code)
    return text(await TerminalTools(place).run_command(f"python3 code.py {' '.join(words)}"))


@pytest.mark.parametrize("network", [True, False])
async def test_a_socket_is_not_reached_wherever_it_lies(
    held: Callable[..., Workplace],
    met: Callable[[str], list[int]],
    folder: Path,
    elsewhere: Path,
    network: bool,
) -> None:
    place = held(network=network)
    temporary = Path(tempfile.mkdtemp())
    for address in (str(folder / "s"), str(elsewhere / "s"), str(temporary / "s"), f"@{temporary}"):
        seen = await met(address)  # type: ignore[misc]
        told = await python(place, CONNECT, f"'{address}'") + await python(place, RECONNECT, f"'{address}'")

        assert "REACHED" not in told
        assert "refused" in told
        assert seen == []


async def test_pairs_of_sockets_and_the_network_work(held: Callable[..., Workplace]) -> None:
    server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        assert "PAIR b'x'" in await python(held(), PAIR)
        assert "SENT" in await python(held(), UDP, str(port))


async def test_no_ring_makes_sockets_unseen(held: Callable[..., Workplace]) -> None:
    assert "URING -1" in await python(held(), URING)


async def test_without_a_network_no_datagram_leaves(held: Callable[..., Workplace]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.setblocking(False)
        port = listener.getsockname()[1]
        await python(held(network=False), UDP, str(port))

        with pytest.raises(BlockingIOError):
            listener.recv(1)


async def test_own_sockets_work_where_the_settings_say_so(
    held: Callable[..., Workplace], met: Callable[[str], list[int]]
) -> None:
    place = held(unix_sockets=True)
    temporary = Path(tempfile.mkdtemp())
    hidden, abstract = await met(str(temporary / "s")), await met(f"@{temporary}")  # type: ignore[misc]

    assert "OWN WORKS" in await python(place, OWN)
    assert "OWN WORKS" not in await python(held(), OWN)
    await python(place, CONNECT, f"{temporary}/s")
    await python(place, CONNECT, f"@{temporary}")

    assert abstract == [] or landlock_version() < 6
    assert hidden == [] or place.sandbox.kind == "landlock"


async def test_temporary_files_are_kept_from_command_to_command_and_from_others(
    held: Callable[..., Workplace],
) -> None:
    place = held()
    tools = TerminalTools(place)
    theirs = Path(tempfile.mkdtemp()) / "theirs"
    theirs.write_text("very secret")

    await tools.run_command("echo kept > $TMPDIR/mine; mktemp")
    seen = text(await tools.run_command(f"cat $TMPDIR/mine; echo evil >> {theirs}; cat {theirs}"))

    assert "kept" in seen
    assert theirs.read_text() == "very secret"
    assert "very secret" not in seen
    assert not (Path(tempfile.gettempdir()) / "mine").exists()


async def test_temporary_files_of_one_project_are_not_those_of_another(
    held: Callable[..., Workplace], tmp_path: Path
) -> None:
    place = held()
    await TerminalTools(place).run_command("echo secret > $TMPDIR/mine")
    other = tmp_path / "other"
    other.mkdir()
    scratch = place.sandbox.scratch.folder
    place.folder = lambda: other

    seen = text(await TerminalTools(place).run_command(f"cat $TMPDIR/mine {scratch}/*/tmp/mine"))

    assert "secret" not in seen


async def test_temporary_folders_are_removed(held: Callable[..., Workplace]) -> None:
    place = held()
    await TerminalTools(place).run_command("echo x > $TMPDIR/x")
    made = place.sandbox.scratch.folder
    assert made.is_dir()

    place.sandbox.scratch.close()

    assert not made.exists()


async def test_no_variable_leads_to_a_session(
    held: Callable[..., Workplace], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "TMUX", "DISPLAY", "WAYLAND_DISPLAY"]
    for name in (*names, "XAUTHORITY", "GPG_AGENT_INFO", "XDG_RUNTIME_DIR", "TOOLCRIB_HOME"):
        monkeypatch.setenv(name, "/leads/somewhere")

    seen = text(await TerminalTools(held()).run_command("env"))

    assert "/leads/somewhere" not in seen


async def test_folders_of_sockets_are_empty(mounted: Callable[..., Workplace]) -> None:
    seen = text(
        await TerminalTools(mounted()).run_command(
            "find /run -type s; ls -d /run/user/*; cat /etc/resolv.conf"
        )
    )

    assert Path("/etc/resolv.conf").read_text().strip() in seen
    assert "/run/" not in seen.replace("'/run/user/*'", "") or "resolv" in os.path.realpath(
        "/etc/resolv.conf"
    )


async def test_a_folder_that_is_replaced_or_hidden_is_no_place_to_start_in(
    mounted: Callable[..., Workplace], tmp_path: Path, elsewhere: Path
) -> None:
    tools = TerminalTools(mounted(hidden=[str(elsewhere)]))

    for folder in (tmp_path, elsewhere):
        with pytest.raises(ToolFailure, match="not available in the sandbox"):
            await tools.run_command("pwd", cwd=str(folder))
    assert text(await tools.run_command("pwd", cwd=tempfile.gettempdir())).startswith(tempfile.gettempdir())
