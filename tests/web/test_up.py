"""`toolcrib up` and `toolcrib open`: one port for everything, told in a line, ended in order."""

from __future__ import annotations

import json
import socket
import stat
import sys
from pathlib import Path

import httpx2
import pytest

from tests.cli.command_line import CommandLine
from tests.cli.terminal import terminal
from tests.cli.test_json_promise import examples, shape
from tests.cli.waiting import eventually
from tests.web.raw import request
from tests.web.running import Crib


@pytest.mark.acceptance  # the page has to be built
def test_host_gateway_and_page_share_one_port(crib: Crib) -> None:
    opening = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    client = crib.post("/mcp", opening, key="", accept="application/json, text/event-stream")

    assert client.status_code == 200
    assert client.json()["result"]["serverInfo"]["name"]
    assert crib.get("/", key="").status_code == 200
    assert crib.get("/healthz", key="").json()["status"] == "ok"
    assert crib.command("servers", "--json").code == 0
    info = crib.run("host_info")
    assert (info["address"], info["gateway"]) == (crib.base, f"{crib.base}/mcp")


def test_a_port_that_was_asked_for_and_is_taken_is_an_error(crib: Crib) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        answer = crib.command("up", "--json", "--no-browser", "--port", str(taken.getsockname()[1]))

    assert (answer.code, answer.error["kind"]) == (2, "usage")
    assert "--port" in answer.error["hint"]


def test_the_next_free_port_is_taken_and_said(crib: Crib, tmp_path: Path) -> None:
    first = crib.toolcrib.start("up", "--json")
    second = CommandLine(tmp_path / "other").start("up", "--json")
    try:
        urls = []
        for process in (first, second):
            assert process.stdout is not None
            urls.append(json.loads(process.stdout.readline())["url"])
        ports = [int(url.partition("/#")[0].rpartition(":")[2]) for url in urls]
        assert len(set(ports)) == 2
        assert all(port >= 4180 for port in ports)
    finally:
        for process in (first, second):
            process.terminate()
            process.communicate(timeout=60)


def test_open_gives_a_new_address_each_time(crib: Crib) -> None:
    crib.start()
    plain, again = crib.command("open"), crib.command("open", "--json")

    assert plain.out.startswith(f"{crib.base}/#key=")
    assert again.json["url"] != plain.out.strip()
    for address in (plain.out.strip(), again.json["url"]):
        token = address.partition("#key=")[2]
        assert crib.post("/api/sign_in", {"token": token}, key="").status_code == 200


def test_the_documented_json_of_open_is_the_printed_one(crib: Crib) -> None:
    address, pages, revoked = examples("open")
    assert crib.key

    listed = crib.command("open", "--list", "--json").json

    assert shape(crib.command("open", "--json").json) == shape(address)
    assert shape(listed) == shape(pages)
    assert shape(crib.command("open", "--revoke", listed[0]["id"], "--json").json) == shape(revoked)


def test_open_without_a_host_says_what_to_do(crib: Crib) -> None:
    answer = crib.command("open", "--json")

    assert (answer.code, answer.error["kind"]) == (5, "no_host")
    assert "toolcrib up" in answer.error["hint"]


def test_pages_stay_signed_in_over_a_restart_and_are_forgotten_when_they_sign_out(crib: Crib) -> None:
    assert crib.key
    crib.restart()
    assert crib.run("check", server="demo")

    assert crib.post("/api/sign_out", {}).json() == {"signed_out": True}

    assert crib.post("/api/check", {"server": "demo"}).status_code == 401
    crib.restart()
    assert crib.post("/api/check", {"server": "demo"}).status_code == 401


def test_the_key_of_a_page_is_kept_as_a_hash_alone(crib: Crib) -> None:
    secret = crib.key.split("_", 2)[2]  # It may have such a line in it too.
    crib.stop()
    kept = b"".join(file.read_bytes() for file in crib.home.rglob("*") if file.is_file())

    assert secret.encode() not in kept
    assert crib.key.split("_")[1].encode() in kept


def test_a_terminal_without_a_screen_shows_the_address_and_opens_nothing(
    crib: Crib, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = fake_browser(crib, tmp_path)
    with terminal(crib.toolcrib, "up", "--port", "0", columns=120) as screen:
        screen.expect("#key=")
        screen.type("\x03")
        assert screen.wait() == 0

    assert not opened.exists()


def test_a_terminal_with_a_screen_opens_the_browser_with_an_address_that_works(
    crib: Crib, tmp_path: Path
) -> None:
    opened = fake_browser(crib, tmp_path)
    crib.environment["DISPLAY"] = ":99"
    with terminal(crib.toolcrib, "up", "--port", "0", columns=120) as screen:
        screen.expect("#key=")
        address = eventually(lambda: opened.exists() and opened.read_text().strip())
        base, _, token = address.partition("/#key=")
        signed_in = httpx2.post(f"{base}/api/sign_in", json={"token": token}, timeout=60)
        screen.type("\x03")
        assert screen.wait() == 0

    assert signed_in.status_code == 200


def test_no_browser_means_none(crib: Crib, tmp_path: Path) -> None:
    opened = fake_browser(crib, tmp_path)
    crib.environment["DISPLAY"] = ":99"
    with terminal(crib.toolcrib, "up", "--port", "0", "--no-browser", columns=120) as screen:
        screen.expect("#key=")
        screen.type("\x03")
        assert screen.wait() == 0

    assert not opened.exists()


def fake_browser(crib: Crib, folder: Path) -> Path:
    """A browser that writes down what it was to open."""
    program, opened = folder / "browser", folder / "opened"
    program.write_text(f"#!{sys.executable}\nimport sys\nopen({str(opened)!r}, 'w').write(sys.argv[1])\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    crib.environment["BROWSER"] = f"{program} %s"
    return opened


def test_the_terminal_is_not_lent_to_clients_of_the_gateway(crib: Crib) -> None:
    crib.setting(agent={"model": "demo"})
    crib.start()
    asked = crib.command("ask", "What is 17 plus 25?", "--json")
    assert asked.code == 0, asked
    assert "terminal__run_command" in [tool["name"] for tool in crib.run("tools")]

    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": MODERN}}
    answer = crib.post("/mcp", listing, key="", **MODERN_HEADERS)

    names = [tool["name"] for tool in answer.json()["result"]["tools"]]
    assert "demo__add" in names
    assert not [name for name in names if name.startswith("terminal")]


MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
MODERN_HEADERS = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/list",
}


def test_a_crowd_of_pages_is_refused_and_the_gateway_is_not_held_up(crib: Crib) -> None:
    crib.start()
    key = crib.key
    head = f"GET /api/live HTTP/1.1\r\nHost: 127.0.0.1:{crib.port}\r\nAuthorization: Bearer {key}\r\n\r\n"
    connections = []
    try:
        statuses = []
        for _ in range(70):
            connection = socket.create_connection(("127.0.0.1", crib.port), 30)
            connections.append(connection)
            connection.sendall(head.encode())
            statuses.append(connection.recv(4096).split()[1])
        assert statuses[:64] == [b"200"] * 64
        assert set(statuses[64:]) == {b"503"}
        assert request(crib.port, "GET /healthz").status == 200
    finally:
        for connection in connections:
            connection.close()
    eventually(lambda: crib.get("/api/openapi.json").status_code == 200)
