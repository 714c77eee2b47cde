"""A command of the host's own terminal is not served by its gateway; every other client is, meanwhile too."""

from __future__ import annotations

import asyncio
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.terminal.conftest import KINDS, available
from tests.conftest import DEADLINE, Crib
from toolcrib.bundled.terminal.sandbox import Kind
from toolcrib.gateway.http.server import serve_http
from toolcrib.host import Host

VISIT = """
import os, socket, sys, time, urllib.error, urllib.request
def visit():
    host, _, port = sys.argv[1].removeprefix("http://").rpartition(":")
    made = socket.socket()
    if sys.argv[3] == "from another address":
        made.bind((own_address(), 0))
    made.connect((host, int(port)))
    if sys.argv[3] == "hidden in a message":
        one, other = socket.socketpair()
        socket.send_fds(one, [b"x"], [made.fileno()])
        made.close()
        while not os.path.exists("looked"):  # for the owner of the connection, of which it finds none
            time.sleep(0.01)
        made = socket.socket(fileno=socket.recv_fds(other, 1, 1)[1][0])
    made.send(b"GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
    answer = made.recv(1000).decode()
    return "403" if " 403 " in answer else answer
def own_address():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.connect(("10.255.255.255", 1))  # sends nothing
        return asking.getsockname()[0]
for _ in range(int(sys.argv[2])):
    if os.fork():
        os._exit(0)
    os.setsid()
try:
    said = visit() if len(sys.argv) > 3 else urllib.request.urlopen(sys.argv[1] + "/healthz").read().decode()
except OSError as error:
    said = getattr(error, "code", None) == 403 and "403" or str(error)
open("said.part", "w").write(said)
os.rename("said.part", "said")
"""


REFUSALS = ("403", "[Errno 104] Connection reset by peer")
"""The second when the refusal comes before the request was read."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the program, and a file since the gateway has looked whose connection it got."""
    made = tmp_path / "project"
    made.mkdir()
    (made / "visit.py").write_text(VISIT)
    look = Host.is_own_program

    def noted(host: Host, *addresses: Any) -> bool:
        found = look(host, *addresses)
        (made / "looked").touch()
        return found

    monkeypatch.setattr(Host, "is_own_program", noted)
    return made


def visit(url: str) -> int:
    try:
        with urllib.request.urlopen(f"{url}/healthz") as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("address", "arguments"),
    [
        *(("127.0.0.1", "0"), ("127.0.0.1", "2"), ("::1", "0")),
        *(("127.0.0.1", "0 'from another address'"), ("127.0.0.1", "0 'hidden in a message'")),
    ],
)
async def test_a_command_is_refused_and_others_are_served(
    crib: Crib, project: Path, kind: Kind, address: str, arguments: str
) -> None:
    crib.setting(terminal={"enabled": True, "folder": str(project), "sandbox": available(kind)})
    async with crib.open() as host, serve_http(host, address=address) as (url, _):
        before = await asyncio.to_thread(visit, url)
        (project / "looked").unlink()
        command = f"{sys.executable} visit.py {url} {arguments}; cat"
        await host.call("terminal__run_command", {"command": command, "background": True})
        async with asyncio.timeout(DEADLINE):
            while not (project / "said").exists():  # noqa: ASYNC110 - a file says nothing by itself
                await asyncio.sleep(0.01)
        meanwhile = await asyncio.to_thread(visit, url)

    assert (project / "said").read_text() in REFUSALS
    assert (before, meanwhile) == (200, 200)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "none"])
@pytest.mark.parametrize("arguments", ["0", "0 'hidden in a message'"])
async def test_a_command_of_another_host_is_refused_too(
    crib: Crib, project: Path, tmp_path: Path, kind: Kind, arguments: str
) -> None:
    second = Crib(tmp_path / "second")
    crib.setting(terminal={"enabled": True, "folder": str(project), "sandbox": available(kind)})
    async with crib.open() as host, second.open() as other, serve_http(other) as (url, _):
        command = f"{sys.executable} visit.py {url} {arguments}"
        await host.call("terminal__run_command", {"command": command})
        assert await asyncio.to_thread(visit, url) == 200

    assert (project / "said").read_text() in REFUSALS


async def test_a_terminal_in_a_process_of_its_own_is_refused_too(crib: Crib, project: Path) -> None:
    args = ["-m", "toolcrib.bundled.terminal", str(project)]
    crib.entry("shell", {"command": sys.executable, "args": args})
    async with crib.open() as host, serve_http(host) as (url, _):
        await host.ready()
        before = await asyncio.to_thread(visit, url)
        await host.call("shell__run_command", {"command": f"{sys.executable} visit.py {url} 0"})

    assert (project / "said").read_text() in REFUSALS
    assert before == 200
