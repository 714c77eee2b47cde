"""`toolcrib logs`: what a server wrote, and what it goes on to write."""

from __future__ import annotations

import json

from tests.cli.command_line import CommandLine, Process


def test_the_last_lines_are_shown(toolcrib: CommandLine) -> None:
    toolcrib.add("small", "--say", "one\ntwo\nthree")
    toolcrib("test", "small")

    assert toolcrib("logs", "small").out == "one\ntwo\nthree\n"
    assert toolcrib("logs", "small", "-n", "1").out == "three\n"
    assert toolcrib("logs", "small", "--json").json == {"server": "small", "lines": ["one", "two", "three"]}


def test_a_server_that_wrote_nothing_has_an_empty_log(toolcrib: CommandLine) -> None:
    answer = toolcrib("logs", "demo")

    assert (answer.code, answer.out) == (0, "")
    assert "is empty" in answer.err


def test_an_unknown_server_is_not_found(toolcrib: CommandLine) -> None:
    assert toolcrib("logs", "nobody", "--json").code == 3


def test_following_shows_what_is_written_later(toolcrib: CommandLine, up: Process) -> None:
    toolcrib.add("small", "--say", "hello")
    reader = toolcrib.start("logs", "small", "-f", "--json")
    assert reader.stdout is not None
    first = json.loads(reader.stdout.readline())

    toolcrib("restart", "small")
    second = json.loads(reader.stdout.readline())
    reader.terminate()
    reader.communicate()

    assert first == second == {"line": "hello"}


def test_following_works_without_a_host(toolcrib: CommandLine) -> None:
    toolcrib.add("small", "--say", "hello")
    toolcrib("test", "small")
    reader = toolcrib.start("logs", "small", "-f")
    assert reader.stdout is not None
    first = reader.stdout.readline()

    toolcrib("test", "small")
    second = reader.stdout.readline()
    reader.terminate()
    reader.communicate()

    assert first == second == "hello\n"
