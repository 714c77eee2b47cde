"""Our MCP server with a remote desktop: its tools against our gRPC server, on a real display."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.desktop.conftest import Programs, eventually
from tests.bundled.desktop.grpc.certificates import make_certificate
from tests.bundled.desktop.grpc.conftest import Served, Servers
from toolcrib.bundled.desktop import create
from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.backends import backend_module
from toolcrib.bundled.desktop.backends.remote import RemoteTarget, open_backend, probe
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.server import ToolServer


class Tools:
    """Calls tools as a model would."""

    def __init__(self, server: ToolServer) -> None:
        self._server = server

    async def result(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result: dict[str, Any] = await self._server.tools[tool].call(arguments)
        return result

    async def data(self, tool: str, **arguments: Any) -> Any:
        result = await self.result(tool, **arguments)
        assert not result["isError"], result["content"][0]["text"]
        return result["structuredContent"]

    async def refused(self, tool: str, **arguments: Any) -> str:
        result = await self.result(tool, **arguments)
        assert result["isError"], result
        return str(result["content"][0]["text"])


@pytest.fixture
def remote(served: Served, servers: Servers, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tools]:
    """The MCP server as a user would set it up: the address, and where the token is."""
    with tools_of(monkeypatch, ADDR=served.address, TOKEN_FILE=str(_token_file(servers))) as tools:
        yield tools


@contextlib.contextmanager
def tools_of(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Iterator[Tools]:
    for name, value in variables.items():
        monkeypatch.setenv(f"MACOS_USE_SERVER_{name}", value)
    server = create([])
    yield Tools(server)
    server.close()


def _token_file(servers: Servers) -> Path:
    return servers.home / "state" / "desktop-grpc.token"


async def test_a_form_is_filled_in_clicked_and_typed_into(remote: Tools, programs: Programs) -> None:
    process = programs.start(
        "zenity", "--forms", "--title=Remote", "--add-entry=Name", "--add-entry=Mail", stdout=subprocess.PIPE
    )
    parent = str(process.pid)

    async def has_window() -> bool:
        listed = await remote.data("list_windows")
        return any(each["title"] == "Remote" for each in listed["windows"])

    await eventually(has_window)
    found = await remote.data("find_elements", parent=parent, selector={"role": "textbox"}, wait=20)
    fields = sorted(found["elements"], key=lambda field: field["bounds"]["y"])
    written = await remote.data("write_element_value", element_id=fields[0]["id"], value="Žofie")
    assert written["verified"]
    assert any("Žofie" in change for change in written["changes"]), written
    await remote.data("click_element", element_id=fields[1]["id"])
    typed = await remote.data("type_text", text="z@x.cz 日本")
    assert typed["verified"] is not False
    await remote.data("press_key", key="a", modifiers=["control"])
    await remote.data("type_text", text="z@x.cz")
    clicked = await remote.data("click_element", selector={"role": "button", "text": "OK"}, parent=parent)
    assert any(change.startswith("- window") for change in clicked["changes"]), clicked
    output, _ = await asyncio.to_thread(process.communicate, None, 20)
    assert output.decode().strip() == "Žofie|z@x.cz"
    gone = await remote.refused("click_element", element_id=fields[0]["id"])
    assert "text" in gone


async def test_screenshots_and_the_clipboard_come_from_the_remote_desktop(
    remote: Tools, programs: Programs
) -> None:
    shot = await remote.result("take_screenshot", format="png")
    picture = next(block for block in shot["content"] if block["type"] == "image")
    assert base64.b64decode(picture["data"]).startswith(b"\x89PNG")
    assert (shot["structuredContent"]["width"], shot["structuredContent"]["height"]) == (1280, 800)
    await remote.data("write_clipboard", text="über gRPC")
    assert (await remote.data("get_clipboard"))["text"] == "über gRPC"
    assert "one format" in await remote.refused("write_clipboard", text="a", html="<b>a</b>")


@pytest.fixture
async def backend_of_server(served: Served, servers: Servers) -> Any:
    opened = await open_backend(RemoteTarget(served.address, token=served.token))
    yield opened
    opened.close()


async def test_the_backend_keeps_its_contract(backend_of_server: Backend, programs: Programs) -> None:
    backend = backend_of_server
    process = programs.start("xterm", "-T", "contract", "-e", "sleep", "60")

    async def own() -> Any:
        return [each for each in await backend.windows.list() if each.application == process.pid]

    [window] = await eventually(own)
    assert (window.title, window.window_class, window.minimised) == ("contract", "XTerm", False)
    focused = await backend.windows.focus(window.id)
    assert focused.active
    assert [each.id for each in await backend.windows.list() if each.active] == [window.id]
    placed = await backend.windows.place(window.id, Rect(200, 150, 400, 300))
    assert abs(placed.rect.x - 200) <= 2
    moved = Rect(0, 0, 1, 1)
    with pytest.raises(ToolFailure, match="has moved"):
        await backend.input.click(Point(210, 160), unmoved=type(placed)(**{**vars(placed), "rect": moved}))
    with pytest.raises(ToolFailure, match="covers"):
        await backend.input.click(Point(1200, 700), owner=process.pid)
    shot = await backend.capture.window(window.id)
    assert shot.pixels.shape[1] == placed.rect.width
    part = await backend.capture.screen(Rect(5, 6, 20, 10))
    assert (part.pixels.shape[:2], part.origin) == ((10, 20), Point(5, 6))
    assert (await backend.windows.minimise(window.id)).minimised
    assert not (await backend.windows.restore(window.id)).minimised
    assert [each.rect for each in await backend.displays.list()] == [Rect(0, 0, 1280, 800)]
    assert process.pid in [each.id for each in await backend.applications.list()]
    assert not (await backend.accessibility.tree(process.pid, 2)).elements
    with pytest.raises(ToolFailure, match="without arguments"):
        await backend.applications.open(["xterm", "-T", "x"], 5)
    opened = await backend.applications.open(["xterm"], 20)
    assert opened is not None
    assert opened.application is not None
    await backend.applications.close(opened.application, force=True)
    assert await backend.windows.close(window.id)


@pytest.mark.acceptance
async def test_tls_and_a_unix_socket_reach_the_server_too(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = make_certificate(tmp_path)
    safe = servers.start("--address", "127.0.0.1:0", "--tls-cert", str(certificate), "--tls-key", str(key))
    variables = {"ADDR": safe.address, "TLS": "true", "TOKEN_FILE": str(_token_file(servers))}
    with tools_of(monkeypatch, **variables, CERT_FILE=str(certificate)) as tools:
        assert (await tools.data("take_screenshot"))["width"] == 1280
    monkeypatch.setenv("MACOS_USE_SERVER_CERT_FILE", "")
    with tools_of(monkeypatch, **variables) as tools:
        assert "does not answer" in await tools.refused("list_windows")
    assert safe.end() == 0
    path = tmp_path / "d.sock"
    local = servers.start("--socket", str(path))
    for name in ("ADDR", "TLS", "TOKEN_FILE"):
        monkeypatch.delenv(f"MACOS_USE_SERVER_{name}")
    with tools_of(monkeypatch, SOCKET_PATH=str(path)) as tools:
        assert (await tools.data("take_screenshot"))["width"] == 1280
    assert local.end() == 0


async def test_a_killed_server_is_reported_and_used_again_after_its_restart(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = servers.start("--address", "127.0.0.1:0")
    variables = {"ADDR": first.address, "TOKEN_FILE": str(_token_file(servers))}
    with tools_of(monkeypatch, **variables) as tools:
        await tools.data("list_windows")
        await _refuses_to_wait_forever(first)
        first.process.kill()
        first.process.wait()
        refused = await tools.refused("list_windows")
        assert f"The desktop server at {first.address} does not answer" in refused
        assert "toolcrib desktop serve --grpc" in refused
        servers.start("--address", first.address)

        async def answers() -> bool:
            return not (await tools.result("list_windows"))["isError"]

        await eventually(answers)
        monkeypatch.setenv("MACOS_USE_SERVER_TOKEN", "wrong")
    with tools_of(monkeypatch, **variables) as tools:
        assert "requires a token" in await tools.refused("list_windows")


async def _refuses_to_wait_forever(served: Served) -> None:
    """A server that hangs is given up after the deadline of a call."""
    target = RemoteTarget(served.address, token=served.token)
    hasty = await open_backend(target)
    hasty.windows._connection._target = replace(target, timeout=0.5)
    os.kill(served.process.pid, signal.SIGSTOP)
    try:
        with pytest.raises(ToolFailure, match=r"did not answer \w+ within 0.5 s"):
            await hasty.windows.list()
    finally:
        os.kill(served.process.pid, signal.SIGCONT)
        hasty.close()


def test_the_remote_backend_is_chosen_by_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert backend_module().PLATFORM == "linux"
    monkeypatch.setenv("MACOS_USE_SERVER_TLS", "true")
    module = backend_module()
    assert module.PLATFORM == ""
    target = module.user_target()
    assert (target.address, target.tls, target.timeout) == ("localhost:50051", True, 30.0)
    assert module.probe(target) == []
    monkeypatch.setenv("MACOS_USE_REQUEST_TIMEOUT", "2.5s")
    monkeypatch.setenv("MACOS_USE_SERVER_ADDR", "mac.example:50051")
    assert module.user_target().timeout == 2.5
    assert module.user_target().token is None
    secret = RemoteTarget("mac.example:50051", token="s3cret")
    assert "s3cret" not in repr(secret)
    [problem] = probe(secret)
    assert "without encryption" in problem.message
    [problem] = probe("a display")  # type: ignore[arg-type]
    assert "--headless" in problem.hint
