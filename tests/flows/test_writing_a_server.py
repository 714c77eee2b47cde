"""The page for newcomers is true: its commands run in order, and its snippets fit the files."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from toolcrib.serverkit.starter import lay_down

pytestmark = pytest.mark.acceptance  # starts many programs, one after the other
PAGE = Path(__file__).parents[2] / "docs" / "writing-a-server.md"
COMMAND = re.compile(r"^\$ toolcrib (.+)$", re.MULTILINE)
BLOCK = re.compile(r"^```(\w[^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(words: list[str], folder: Path) -> str:
    import os

    environment = os.environ | {"TOOLCRIB_HOME": str(folder / "home"), "TOOLCRIB_KEYRING": "off"}
    environment["TOOLCRIB_TRUST_CONFIG"] = "0"
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_commands_of_the_page_run_one_after_the_other(tmp_path: Path) -> None:
    commands = COMMAND.findall(PAGE.read_text())
    assert commands[0].startswith("new ")

    answers = {line: run(["-m", "toolcrib", *shlex.split(line)], tmp_path) for line in commands}

    called = next(answer for line, answer in answers.items() if line.startswith("call "))
    assert called.strip() == '{"to":2,"be":2}'
    found = next(answer for line, answer in answers.items() if line.startswith("tools search"))
    assert "notes__count_words" in found


def test_the_tool_of_the_page_can_be_pasted_into_the_new_server(tmp_path: Path) -> None:
    lay_down(tmp_path / "notes", "notes")
    code, words = tmp_path / "notes" / "server.py", tmp_path / "notes" / "descriptions.toml"
    blocks = dict(BLOCK.findall(PAGE.read_text()))
    function = re.search(r"^def create.*?(?=^\S)", code.read_text(), re.MULTILINE | re.DOTALL)
    assert function is not None
    code.write_text(code.read_text().replace(function.group(), f"{blocks['python no-run']}\n\n"))
    words.write_text(f"{words.read_text()}\n{blocks['toml']}")

    run(["-m", "unittest"], tmp_path / "notes")
    run(["-m", "toolcrib", "add", "./notes", "--yes"], tmp_path)
    answer = run(["-m", "toolcrib", "call", "notes__reverse", "text=one two", "by_word=true"], tmp_path)
    assert answer.strip() == "two one"
