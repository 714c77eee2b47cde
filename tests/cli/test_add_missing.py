"""What cannot work on this machine is refused before anything is asked or written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.servers.installers.packages import PROGRAMS


def refused(toolcrib: CommandLine, *words: str) -> dict[str, str]:
    toolcrib("version")
    before = toolcrib.config() if (toolcrib.home / "mcp.json").exists() else None
    answer = toolcrib("add", "--yes", "--json", *words)

    assert answer.code == 2, answer
    assert answer.error["hint"]
    after = toolcrib.config() if (toolcrib.home / "mcp.json").exists() else None
    assert before is None or before == after
    assert "x" not in (after or {"mcpServers": {}})["mcpServers"]
    return answer.error


@pytest.mark.parametrize(
    "file",
    [
        "./nope.mcpb",
        "./nope.dxt",
        "nope.tgz",
        "./nope.whl",
        "nope.json",
        "./nope",
        "nope/",
        "/abs/missing",
        "~/x-is-not-there",
        "../nope.py",
        "nope.py",
    ],
)
def test_a_missing_file_is_called_missing(toolcrib: CommandLine, file: str) -> None:
    error = refused(toolcrib, "x", file)

    assert "There is no file" in error["message"]
    assert str(Path(file).expanduser()).removeprefix("./").rstrip("/") in error["message"]


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("http://", "has no host"),
        ("https:///mcp", "has no host"),
        ("http://:80/mcp", "has no host"),
        ("ftp://x/y", "only over http:// or https://"),
        ("ws://x/y", "only over http:// or https://"),
        ("http://[::1", "not a valid address"),
        ("http://x:99999/mcp", "not a valid address"),
    ],
)
def test_a_malformed_address_is_refused(toolcrib: CommandLine, address: str, reason: str) -> None:
    assert reason in refused(toolcrib, "x", address)["message"]
    assert reason in refused(toolcrib, address)["message"]


def test_a_malformed_address_is_refused_with_a_transport_and_in_a_document(toolcrib: CommandLine) -> None:
    document = json.dumps({"mcpServers": {"x": {"url": "ftp://x/y"}}})

    assert "has no host" in refused(toolcrib, "x", "http://", "--transport", "sse")["message"]
    assert "only over" in refused(toolcrib, document)["message"]


def test_an_address_without_a_scheme_gets_the_right_hint(toolcrib: CommandLine) -> None:
    assert "https://example.com/mcp" in refused(toolcrib, "x", "example.com/mcp")["hint"]


@pytest.mark.parametrize("words", [("nosuchbareword",), ("--", "nosuchbareword"), ("nosuchbareword", "--on")])
def test_a_word_that_is_no_program_is_refused(toolcrib: CommandLine, words: tuple[str, ...]) -> None:
    words = words if words[0] == "--" or len(words) == 1 else ("--", *words)

    error = refused(toolcrib, "x", *words)

    assert "'nosuchbareword' on your PATH" in error["message"]
    assert "pypi:nosuchbareword" in error["hint"]


def test_a_missing_folder_or_script_is_refused(toolcrib: CommandLine, tmp_path: Path) -> None:
    assert "/nope" in refused(toolcrib, "x", "--cwd", "/nope", "--", "ls")["message"]
    assert "gone.py" in refused(toolcrib, "x", "--", "python3", "gone.py")["message"]
    assert "gone" in refused(toolcrib, "x", "--cwd", str(tmp_path), "--", "./gone", "--on")["message"]
    (tmp_path / "plain").write_text("text")
    assert "not executable" in refused(toolcrib, "x", "--", str(tmp_path / "plain"), "--on")["message"]


def test_a_program_that_is_not_here_yet_can_be_added_as_it_is(toolcrib: CommandLine) -> None:
    for name, words in (("x", ("nosuchbareword",)), ("y", ("--", "/no/such/program"))):
        assert toolcrib("add", name, "--as-is", "--yes", *words).code == 0

    assert toolcrib.config()["mcpServers"]["x"] == {"command": "nosuchbareword"}


def test_a_program_on_the_path_or_in_the_folder_is_added(toolcrib: CommandLine, tmp_path: Path) -> None:
    program = tmp_path / "serve"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)

    assert toolcrib("add", "one", "--yes", "env").code == 0
    assert toolcrib("add", "two", "--yes", str(program)).code == 0
    assert toolcrib("add", "three", "--yes", "--cwd", str(tmp_path), "--", "./serve", "--on").code == 0
    own = f"PATH={tmp_path}{os.pathsep}/bin"
    assert toolcrib("add", "four", "--yes", "--env", own, "--", "serve").code == 0


@pytest.mark.parametrize("words", [("{folder}",), ("mine", "{folder}"), ("mine", "{folder}/server.py")])
def test_a_plain_script_that_is_not_executable_is_added_and_answers(
    toolcrib: CommandLine, tmp_path: Path, words: tuple[str, ...]
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    script = (PROGRAMS / "tiny.py").read_text().removeprefix("#!/usr/bin/env python3\n")
    (folder / "server.py").write_text(script)

    planned = toolcrib("add", *(word.format(folder=folder) for word in words), "--dry-run")
    added = toolcrib("add", *(word.format(folder=folder) for word in words), "--yes", "--json")

    assert "/content/server.py" in planned.err
    assert added.code == 0, added
    assert json.loads(toolcrib("call", "mine__tell").out)["version"] == "1.0.0"
