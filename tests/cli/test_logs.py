"""`toolcrib logs`: what a server wrote, and what it goes on to write."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta

from tests.cli.command_line import CommandLine, Process

TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"


def test_the_last_lines_are_shown(toolcrib: CommandLine) -> None:
    toolcrib.add("small", "--say", "one\ntwo\nthree")
    toolcrib("test", "small")

    lines = toolcrib("logs", "small").out.splitlines()
    assert [re.fullmatch(rf"{TIME}  (.*)", line)[1] for line in lines] == ["one", "two", "three"]  # type: ignore[index]
    assert re.fullmatch(rf"{TIME}  three\n", toolcrib("logs", "small", "-n", "1").out)
    found = toolcrib("logs", "small", "--json").json
    assert (found["server"], found["lines"], found["events"]) == ("small", ["one", "two", "three"], [])
    assert all(datetime.fromisoformat(time).utcoffset() == timedelta() for time in found["times"])


def test_a_server_that_wrote_nothing_has_an_empty_log(toolcrib: CommandLine) -> None:
    answer = toolcrib("logs", "demo")

    assert (answer.code, answer.out) == (0, "")
    assert "is empty" in answer.err


def test_an_unknown_server_is_not_found(toolcrib: CommandLine) -> None:
    assert toolcrib("logs", "nobody", "--json").code == 3


def test_following_shows_what_is_written_later(toolcrib: CommandLine, up: Process) -> None:
    toolcrib.add("small", "--say", "hello")
    reader = toolcrib.start("logs", "small", "-f", "--json")
    assert _until(reader, "hello") == ["Started, process N.", "hello"]

    toolcrib("restart", "small")
    told = _until(reader, "hello")
    reader.terminate()
    reader.communicate()

    assert told[0].startswith("Ready after N s: ")
    assert told[1:] == ["Restarted by the user.", "Started, process N.", "hello"]


def _until(reader: Process, wanted: str) -> list[str]:
    """The lines that come, up to this one, without their numbers."""
    assert reader.stdout is not None
    lines: list[str] = []
    while not lines or lines[-1] != wanted:
        event = json.loads(reader.stdout.readline())
        assert event["is_event"] == (event["line"] != "hello")
        lines.append(re.sub(r"(?<=process )\d+|(?<=after )[\d.]+", "N", event["line"]))
    return lines


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

    assert re.fullmatch(rf"{TIME}  hello\n", first)
    assert re.fullmatch(rf"{TIME}  hello\n", second)
