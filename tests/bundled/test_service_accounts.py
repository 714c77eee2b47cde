"""From the command line to the wire: accounts of Discord and Canvas are added, tested, used and removed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.bundled.canvas.server import TOKEN as CANVAS_TOKEN
from tests.bundled.canvas.server import Canvas
from tests.bundled.discord.server import PLANTS, Discord
from tests.bundled.discord.server import TOKEN as DISCORD_TOKEN
from tests.bundled.loopback import served


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCRIB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_COLOR", "1")


def run(*words: str, given: str = "", code: int = 0) -> str:
    command = [sys.executable, "-m", "toolcrib", *words]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert not {CANVAS_TOKEN, DISCORD_TOKEN} & set((done.stdout + done.stderr).split())
    return done.stdout + done.stderr


@pytest.mark.acceptance
def test_a_discord_account_works_from_adding_to_removing(tmp_path: Path) -> None:
    with served(Discord()) as discord:
        assert isinstance(discord, Discord)
        api = f"api={discord.api}"
        run("account", "add", "discord", "bot", "--set", api, "--token-stdin", given="x" * 60, code=6)
        added = run("account", "add", "discord", "bot", "--set", api, "--token-stdin", given=DISCORD_TOKEN)
        run("call", "discord__send_message", "channel=plants", "text=Hello")
        removed = run("account", "remove", "bot", "--yes")

        assert "In 2 servers: Garden friends, Book club." in added
        assert discord.channels[PLANTS].messages[0]["content"] == "Hello"
        assert "removed" in removed
    stored = [each.read_bytes() for each in (tmp_path / "home").rglob("*.json")]
    assert not any(DISCORD_TOKEN.encode() in content for content in stored)


@pytest.mark.acceptance
def test_a_canvas_account_works_from_adding_to_testing() -> None:
    with served(Canvas()) as canvas:
        words = ("--url", canvas.address, "--token-stdin")
        run("account", "add", "canvas", "school", *words, given=CANVAS_TOKEN)
        courses = run("call", "canvas__list_courses")
        tested = run("account", "test", "school")

    assert "Biology (BIO-1" in courses
    assert "Ada Lovelace" in tested
