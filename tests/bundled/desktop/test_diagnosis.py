"""What `toolcrib doctor` says about displays: what is missing, and which package or setting provides it."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from toolcrib.bundled.desktop import diagnose
from toolcrib.bundled.desktop.headless import HeadlessDisplay
from toolcrib.host import open_host
from toolcrib.operations.checks.bundled import check
from toolcrib.operations.health import CheckContext

_SHARED = ("DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS")


@pytest.fixture(autouse=True)
def no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*_SHARED, "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)


async def found(*arguments: str) -> str:
    return " ".join(f"{problem.message} {problem.hint}" for problem in await diagnose(arguments))


async def test_a_missing_display_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "DISPLAY is not set" in await found()
    assert "--headless 1280x800" in await found()
    monkeypatch.setenv("DISPLAY", ":6123")
    assert "The display :6123 does not answer" in await found()
    monkeypatch.delenv("DISPLAY")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert "Wayland" in await found()


async def test_a_remote_desktop_that_does_not_answer_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MACOS_USE_SERVER_SOCKET_PATH", str(tmp_path / "desktop.sock"))
    assert f"No desktop server answers at unix:{tmp_path}/desktop.sock" in await found()
    assert "start MacosUseServer" in await found()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "desktop.sock"))
        listening.listen()
        assert await found() == ""


@pytest.mark.acceptance
async def test_a_display_of_its_own_names_the_packages_it_lacks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert await found("--headless", "800x600") == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    said = await found("--headless", "800x600")
    assert "Install the package xvfb." in said
    assert "Install the package openbox." in said


async def test_the_accessibility_of_a_session_is_checked(
    display: HeadlessDisplay, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in _SHARED:
        monkeypatch.setenv(name, display.target.environment[name])
    assert await found() == ""
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
    assert "at-spi2-core" in await found()
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert "only programs that use X11" in await found()


@pytest.mark.acceptance
async def test_the_doctor_reports_each_desktop_that_was_added(tmp_path: Path) -> None:
    entry = {"type": "inprocess", "module": "toolcrib.bundled.desktop"}
    async with open_host(tmp_path) as host:
        host.core.config_store.add_server("desktop", entry)
        host.core.config_store.add_server("own", {**entry, "args": ["--headless", "800x600"]})
        await host.reload()
        found = await check(CheckContext(paths=host.paths, host=host))
    findings = {finding.name: finding for finding in found}
    assert findings["needs of desktop"].verdict == "broken"
    assert "DISPLAY" in findings["needs of desktop"].detail
    assert findings["needs of own"].verdict == "ok"


def test_options_of_the_server_need_no_dashes(tmp_path: Path) -> None:
    toolcrib = CommandLine(tmp_path)
    assert toolcrib("add", "desktop", "--headless", "1280x800").code == 0
    added = json.loads((tmp_path / "mcp.json").read_text())["mcpServers"]["desktop"]
    assert added["args"] == ["--headless", "1280x800"]
