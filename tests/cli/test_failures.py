"""What a person, or a program, is told when something goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.command_line import PROGRAM, CommandLine
from tests.cli.waiting import eventually, lines_of


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("servrs",), "servers"),
        (("tools", "--jso"), "--json"),
        (("call",), "--help"),
        (("call", "demo__add", "--zone", "1"), "zone=VALUE"),
        (("audit", "-n", "many"), "--help"),
        (("servers", "extra"), "--help"),
    ],
)
def test_wrong_use_exits_with_two_and_a_hint(
    toolcrib: CommandLine, words: tuple[str, ...], hint: str
) -> None:
    as_text, as_json = toolcrib(*words, real=True), toolcrib(*words, "--json")

    assert (as_text.code, as_text.out) == (2, "")
    error, hinted = as_text.err.splitlines()
    assert error.startswith("error: ")
    assert hinted.startswith("hint: ")
    assert hint in hinted
    assert (as_json.code, as_json.error["kind"]) == (2, "usage")
    assert set(as_json.error) >= {"kind", "message", "hint"}


def test_json_may_be_asked_for_before_the_command(toolcrib: CommandLine) -> None:
    assert toolcrib("--json", "call", "demo__add", "a=1", "b=2").json["isError"] is False


def test_a_flag_of_the_servers_command_is_not_ours(toolcrib: CommandLine) -> None:
    answer = toolcrib("add", "x", "--", "true", "--json")

    assert answer.code == 4
    assert answer.err.splitlines()[-2].startswith("error: ")


def test_there_is_no_traceback_unless_it_is_asked_for(toolcrib: CommandLine) -> None:
    assert "Traceback" not in toolcrib("call", "demo__nothing").err
    assert "Traceback" in toolcrib("call", "demo__nothing", "--debug").err


def test_without_a_terminal_there_are_no_colours(toolcrib: CommandLine) -> None:
    answer = toolcrib("call", "demo__nothing")

    assert "\x1b" not in answer.out + answer.err + toolcrib("servers").out


def test_a_home_can_be_named(toolcrib: CommandLine, tmp_path: Path) -> None:
    toolcrib("servers", "--home", str(tmp_path / "other"))
    toolcrib("--home", str(tmp_path / "third"), "servers")

    assert (tmp_path / "other" / "mcp.json").exists()
    assert (tmp_path / "third" / "mcp.json").exists()
    assert not (toolcrib.home / "mcp.json").exists()


def test_a_home_that_cannot_be_made_is_told_of(toolcrib: CommandLine) -> None:
    answer = toolcrib("servers", "--json", "--home", "/proc/nowhere")

    assert (answer.code, answer.error["kind"]) == (2, "config")


def test_a_reader_that_has_seen_enough_is_no_error(toolcrib: CommandLine) -> None:
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"'{PROGRAM}' tools | head -n 1; echo ${{PIPESTATUS[0]}}"],
        env=toolcrib.environment,
        capture_output=True,
        text=True,
        check=False,
    )

    header, code = done.stdout.splitlines()
    assert header.startswith("NAME")
    assert int(code) in (0, 141)  # as fast as `head` is
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr


def test_an_output_that_is_closed_is_no_error(toolcrib: CommandLine) -> None:
    reading, writing = os.pipe()
    os.close(reading)

    lister = toolcrib.start("tools", stdout=writing, real=True)
    os.close(writing)
    _, err = lister.communicate(timeout=60)

    assert (lister.returncode, err) == (141, "")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_command_closes_what_it_opened(
    toolcrib: CommandLine, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    notes = tmp_path / "notes"
    toolcrib.add("small", "--notes", str(notes))
    caller = toolcrib.start("call", "small__never", "--json", real=True)
    eventually(lambda: "called never" in lines_of(notes))

    caller.send_signal(number)
    out, err = caller.communicate(timeout=60)

    assert caller.returncode == code
    assert '"kind":"interrupted"' in out
    assert "Traceback" not in err
    eventually(lambda: "cancelled" in lines_of(notes))


def test_a_person_who_interrupts_is_told_nothing(toolcrib: CommandLine) -> None:
    toolcrib.add("small", "--say", "hello")
    toolcrib("test", "small")
    reader = toolcrib.start("logs", "small", "-f", real=True)
    assert reader.stdout is not None
    reader.stdout.readline()

    reader.send_signal(signal.SIGINT)
    out, err = reader.communicate(timeout=60)

    assert (reader.returncode, out, err.strip()) == (130, "", "")


def test_text_that_is_no_unicode_is_shown_somehow(toolcrib: CommandLine) -> None:
    toolcrib.add("small")

    answer = toolcrib("call", "small__echo", "--args", '{"text": "\\ud800 ü"}', PYTHONIOENCODING="ascii")

    assert answer.code == 0
    assert "ud800" in answer.out
