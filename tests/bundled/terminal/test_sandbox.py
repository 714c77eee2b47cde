"""What commands may touch; where no sandbox holds, it says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.bundled.terminal.test_running import text
from toolcrib.bundled.terminal.keeper import landlock_version
from toolcrib.bundled.terminal.sandbox import Sandbox
from toolcrib.bundled.terminal.tools import TerminalTools
from toolcrib.bundled.terminal.workplace import Workplace


def test_it_says_what_holds() -> None:
    assert Sandbox(wanted="none").kind == "none"
    assert Sandbox(wanted="none").describe().startswith("none")
    if landlock_version() >= 1:
        assert Sandbox(wanted="landlock").kind == "landlock"
        assert Sandbox().kind in ("bubblewrap", "landlock")
    assert "no network" in Sandbox(network=False).describe() or Sandbox().kind == "none"


async def test_writing_is_for_the_given_folders(workplace: Callable[..., Workplace], tmp_path: Path) -> None:
    outside, granted = tmp_path / "outside", tmp_path / "granted"
    outside.mkdir()
    granted.mkdir()
    place = workplace(sandbox={"folders": [str(granted)]})
    command = (
        f"echo x > in; echo x > {granted}/g; echo x > {outside}/o; echo x > /dev/null; cat in {granted}/g"
    )

    result = text(await TerminalTools(place).run_command(command))

    held = place.sandbox.kind != "none"
    assert result.endswith("x\nx\n[exit code 0]")
    assert (outside / "o").exists() is not held


async def test_hidden_places_cannot_be_read(workplace: Callable[..., Workplace], tmp_path: Path) -> None:
    secrets, beside = tmp_path / "home" / ".keys", tmp_path / "home" / "notes"
    secrets.mkdir(parents=True)
    (secrets / "key").write_text("very secret")
    beside.write_text("quite open")
    (tmp_path / "home" / "link").symlink_to(secrets)
    place = workplace(sandbox={"hidden": [str(secrets)]})

    result = text(
        await TerminalTools(place).run_command(f"cat {secrets}/key {tmp_path}/home/link/key {beside}")
    )

    assert "quite open" in result
    assert ("very secret" in result) is (place.sandbox.kind == "none")


async def test_the_network_can_be_shut(workplace: Callable[..., Workplace]) -> None:
    program = "python3 -c \"import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print('bound')\""
    place = workplace(sandbox={"network": False})

    shut = text(await TerminalTools(place).run_command(program))
    free = text(await TerminalTools(workplace()).run_command(program))

    assert "bound" in free
    assert "bound" not in shut or place.sandbox.kind != "landlock" or landlock_version() < 4


def test_bubblewrap_is_asked_for_everything(tmp_path: Path) -> None:
    sandbox = Sandbox(network=False, hidden=[str(tmp_path)], temporary=False)

    words = sandbox._bubblewrapped(str(tmp_path))

    for wanted in ("--unshare-user", "--unshare-pid", "--die-with-parent", "--unshare-net", "--cap-drop"):
        assert wanted in words
    assert words[-3:] == ["--chdir", str(tmp_path), "--"]
    assert words[words.index("--bind") + 1] == str(tmp_path)
    assert words[words.index("--tmpfs") + 1] == str(tmp_path)
