"""A server in a sandbox, as a real process: what it reaches, and what its log says."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import toolcrib
from toolcrib.config.paths import find_paths, make_private
from toolcrib.schema.servers import ServerState
from toolcrib.serverkit.sandbox.bubblewrap import find_bubblewrap
from toolcrib.servers.sandbox import running

PROBE = Path(__file__).with_name("probe.py")
DEADLINE = 60


@pytest.fixture(autouse=True)
def _needs_bubblewrap() -> None:
    assert not find_bubblewrap()[1], f"bubblewrap is needed: {find_bubblewrap()[1]}"


@pytest.fixture
def user_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a key and a document in it."""
    home = tmp_path / "user"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh/id_ed25519").write_text("a private key")
    (home / "letter.txt").write_text("dear diary")
    monkeypatch.setenv("HOME", str(home))
    return home


@asynccontextmanager
async def probing(
    crib: Path, sandbox: Any = True, args: tuple[str, ...] = ()
) -> AsyncIterator[tuple[toolcrib.Host, Any]]:
    """A host with the probe in a sandbox, and a function that evaluates code in it."""
    entry = {"command": sys.executable, "args": [str(PROBE), *args], "sandbox": sandbox, "era": "legacy"}
    crib.mkdir(exist_ok=True, mode=0o700)
    (crib / "mcp.json").write_text(json.dumps({"mcpServers": {"probe": entry}}))
    async with toolcrib.open_host(crib) as host:
        await host.agree("probe")
        await host.ready()

        async def run(code: str) -> str:
            result = await host.call("probe__run", {"code": code})
            text: str = result["content"][0]["text"]
            return text

        yield host, run


async def logged(host: toolcrib.Host, text: str) -> str:
    """The first line of the server's log with this text."""
    async with asyncio.timeout(DEADLINE):
        while True:
            for line in host.log_lines("probe"):
                if text in line:
                    return line
            await asyncio.sleep(0.02)


async def test_the_home_the_secrets_and_other_processes_are_hidden(tmp_path: Path, user_home: Path) -> None:
    async with probing(tmp_path / "crib") as (host, run):
        assert "FileNotFoundError" in await run(f"open({str(user_home / '.ssh/id_ed25519')!r}).read()")
        assert "FileNotFoundError" in await run(f"open({str(user_home / 'letter.txt')!r}).read()")
        assert "is hidden" in await logged(host, "letter.txt")
        assert "sandbox.readable" in await logged(host, "letter.txt")
        assert "FileNotFoundError" in await run(f"open({str(tmp_path / 'crib/mcp.json')!r}).read()")
        pids = "[int(name) for name in import_('os').listdir('/proc') if name.isdigit()]"
        assert os.getpid() not in json.loads(await run(pids))
        assert await run("import_('os').environ['HOME']") != repr(str(user_home))


async def test_it_changes_its_home_and_what_its_arguments_name(tmp_path: Path, user_home: Path) -> None:
    project = user_home / "project"
    project.mkdir()
    async with probing(tmp_path / "crib", args=(str(project), f"--also={user_home / 'letter.txt'}")) as (
        host,
        run,
    ):
        assert await run(f"open({str(project / 'new.txt')!r}, 'w').write('text')") == "4"
        assert (project / "new.txt").read_text() == "text"
        assert await run("open(import_('os').path.expanduser('~/state'), 'w').write('kept')") == "4"
        assert "Error" in await run("open('/usr/share/new.txt', 'w').write('no')")
        assert "Error" in await run(f"open({str(PROBE)!r}, 'a').write('no')")
        assert "is read-only" in await logged(host, f"{PROBE} ")


async def test_its_private_home_is_kept_over_a_restart(tmp_path: Path, user_home: Path) -> None:
    async with probing(tmp_path / "crib") as (host, run):
        await run("open(import_('os').path.expanduser('~/state'), 'w').write('kept')")
        await host.servers["probe"].restart()
        await host.servers["probe"].ready()
        assert await run("open(import_('os').path.expanduser('~/state')).read()") == "'kept'"


CONNECT = "import_('socket').create_connection(('127.0.0.1', {}), 5)"
GET = "import_('urllib.request').request.urlopen('http://127.0.0.1:{}/', timeout=20).read()"


@asynccontextmanager
async def answering() -> AsyncIterator[int]:
    """A tiny web server; its port."""

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(client, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def test_without_a_network_nothing_is_reached(tmp_path: Path, user_home: Path) -> None:
    async with answering() as port, probing(tmp_path / "crib", {"network": False}) as (_, run):
        assert "Error" in await run(CONNECT.format(port))


async def test_only_the_named_hosts_are_reached_through_the_proxy(tmp_path: Path, user_home: Path) -> None:
    async with answering() as allowed, answering() as other:
        network = [f"127.0.0.1:{allowed}", "*.example.com"]
        async with probing(tmp_path / "crib", {"network": network}) as (host, run):
            assert await run(GET.format(allowed)) == "b'hello'"
            assert "403" in await run(GET.format(other))
            assert "Error" in await run(CONNECT.format(allowed)), "there is no way around the proxy"
            line = await logged(host, f"blocked 127.0.0.1:{other}")
            assert "sandbox.network" in line


async def test_a_socket_of_another_program_cannot_be_opened(tmp_path: Path, user_home: Path) -> None:
    shared = user_home / "shared"
    shared.mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(shared / "s"))
        listener.listen()
        opening = f"import_('socket').socket(import_('socket').AF_UNIX).connect({str(shared / 's')!r})"
        async with probing(tmp_path / "one", {"writable": [str(shared)]}) as (_, run):
            assert "PermissionError" in await run(opening)
        async with probing(tmp_path / "two", {"writable": [str(shared)], "unixSockets": True}) as (_, run):
            assert await run(opening) == "None"


async def test_a_memory_limit_is_named_in_the_log(tmp_path: Path, user_home: Path) -> None:
    async with probing(tmp_path / "crib", {"memory": 200}) as (host, run):
        assert "MemoryError" in await run("len(bytearray(400_000_000))")
        assert "sandbox.memory" in await logged(host, "200 MB")
        assert await run("1 + 1") == "2"


async def test_a_processor_limit_slows_it_down_and_is_named_in_the_log(
    tmp_path: Path, user_home: Path
) -> None:
    async with probing(tmp_path / "crib", {"cpu": 20}) as (host, run):
        assert await run("sum(range(30_000_000))") == "449999985000000"
        assert "sandbox.cpu" in await logged(host, "20%")
        assert await run("1 + 1") == "2"


async def test_the_gateway_does_not_answer_a_sandboxed_server(tmp_path: Path, user_home: Path) -> None:
    from toolcrib.gateway.http.server import serve_http

    async with probing(tmp_path / "crib") as (host, run), serve_http(host, port=0) as (base, _):
        port = int(base.rpartition(":")[2])
        assert "Error" in await run(GET.format(port))


async def test_without_bubblewrap_it_does_not_start_and_says_what_to_do(
    tmp_path: Path, user_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_bubblewrap.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    try:
        async with probing(tmp_path / "crib") as (host, _):
            status = host.servers["probe"].status
            assert status.state is ServerState.FAILED
            assert "bubblewrap" in status.reason
            assert "Install bubblewrap" in status.hint
    finally:
        find_bubblewrap.cache_clear()


async def test_turning_the_sandbox_off_needs_approval(
    tmp_path: Path, user_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOOLCRIB_TRUST_CONFIG", raising=False)
    crib = tmp_path / "crib"
    async with probing(crib):
        pass
    config = json.loads((crib / "mcp.json").read_text())
    config["mcpServers"]["probe"]["sandbox"] = False
    (crib / "mcp.json").write_text(json.dumps(config))
    async with toolcrib.open_host(crib) as host:
        assert host.servers["probe"].status.state is ServerState.NEEDS_TRUST


async def test_bundled_servers_run_in_a_sandbox_of_their_own(tmp_path: Path, user_home: Path) -> None:
    files, crib = user_home / "files", tmp_path / "crib"
    files.mkdir()
    crib.mkdir(mode=0o700)

    def bundled(module: str, *args: str) -> dict[str, Any]:
        command = ["-m", f"toolcrib.bundled.{module}", *args]
        return {"command": sys.executable, "args": command, "sandbox": {"network": False}}

    servers = {"sums": bundled("demo"), "files": bundled("filesystem", str(files))}
    (crib / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    async with toolcrib.open_host(crib) as host:
        await host.ready()
        assert (await host.call("sums__add", {"a": 2, "b": 3}))["structuredContent"]
        path = str(files / "note.txt")
        await host.call("files__write_file", {"path": path, "content": "kept"})
    assert (files / "note.txt").read_text() == "kept"


async def test_no_setting_shows_toolcribs_own_files(tmp_path: Path, user_home: Path) -> None:
    crib = user_home / ".crib"
    (crib / "files").mkdir(parents=True, mode=0o700)
    sandbox = {"readable": [str(crib)], "writable": [str(user_home), str(crib / "run"), str(crib / "files")]}
    async with probing(crib, sandbox) as (_, run):
        for name in ("mcp.json", "run/host.token", "data/toolcrib.db"):
            assert "Error" in await run(f"open({str(crib / name)!r}).read()")
            assert "Error" in await run(f"open({str(crib / name)!r}, 'r+').write('x')")
        assert "Error" in await run(f"open({str(user_home / '.ssh/id_ed25519')!r}).read()")
        assert await run(f"open({str(crib / 'files/note')!r}, 'w').write('kept')") == "4"


async def test_a_writable_project_keeps_its_hooks(tmp_path: Path, user_home: Path) -> None:
    project = user_home / "project"
    (project / ".git").mkdir(parents=True)
    (project / ".vscode").mkdir()
    async with probing(tmp_path / "crib", {"writable": [str(project)]}) as (_, run):
        assert "Error" in await run(f"open({str(project / '.git/hooks/post-checkout')!r}, 'w')")
        assert "Error" in await run(f"open({str(project / '.vscode/tasks.json')!r}, 'w')")
        assert await run(f"open({str(project / '.git/index')!r}, 'w').write('x')") == "1"


async def test_the_proxy_does_not_lead_to_the_hosts_own_gateway(tmp_path: Path, user_home: Path) -> None:
    from toolcrib.gateway.http.server import serve_http

    port = socket.create_server(("127.0.0.1", 0)).getsockname()[1]
    network = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]", "127.1.2.3")]
    async with probing(tmp_path / "crib", {"network": network}) as (host, run), serve_http(host, port=port):
        for name in ("127.0.0.1", "localhost", "127.1.2.3", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433"):
            opening = f"import_('urllib.request').request.urlopen('http://{name}:{port}/healthz', timeout=20)"
            assert "HTTP Error" in await run(opening)


async def test_the_control_socket_refuses_a_sandboxed_server(tmp_path: Path, user_home: Path) -> None:
    """Even one that may use Unix sockets and is given the folder of the socket by mistake."""
    from toolcrib.ipc.server import serve

    async def perform(operation: str, params: object, emit: Any) -> Any:
        return "performed"

    other = find_paths(user_home / "other")
    make_private(other.runtime)
    sandbox = {"writable": [str(other.runtime)], "unixSockets": True}
    async with serve(other, perform), probing(tmp_path / "crib", sandbox) as (_, run):
        said = await run(
            f"(lambda s: (s.connect({str(other.socket)!r}), s.send(b'{{}}\\n'), s.recv(65536))[2])"
            "(import_('socket').socket(import_('socket').AF_UNIX))"
        )
    assert "cannot control the host" in said or "Error" in said


FORK = """
import os, time
count = 0
try:
    for _ in range(60):
        if os.fork() == 0:
            time.sleep(60); os._exit(0)
        count += 1
except OSError as error:
    raise SystemExit(f"{count} {error}")
finally:
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN); os.killpg(0, signal.SIGTERM)
"""


async def test_a_limit_of_processes_holds_for_root_too(tmp_path: Path, user_home: Path) -> None:
    groups = list(running._parents()) if os.getuid() == 0 else []
    async with probing(tmp_path / "crib", {"processes": 20}) as (host, run):
        forking = (
            f"import_('subprocess').run([{sys.executable!r}, '-c', {FORK!r}], "
            "capture_output=True, text=True, start_new_session=True).stderr"
        )
        said = await run(forking)
        if os.getuid() == 0 and not groups:
            assert "has no effect" in await logged(host, "sandbox.processes")
            return
        assert "Resource temporarily unavailable" in said
        assert int(said.strip("'\"").split()[0]) < 20
    assert not [group for parent in groups for group in parent.glob(f"toolcrib-{os.getpid()}-*")]
