"""A forked command is like one that was started as a user does."""

from __future__ import annotations

import signal
import subprocess

import pytest

from tests.cli.command_line import DEADLINE, CommandLine


@pytest.mark.parametrize(
    "words", [("--version",), ("tools", "--json"), ("call", "demo__nothing"), ("servrs",)]
)
def test_it_says_the_same_and_ends_with_the_same_code(toolcrib: CommandLine, words: tuple[str, ...]) -> None:
    assert toolcrib(*words) == toolcrib(*words, real=True)


def test_it_reads_its_input(toolcrib: CommandLine) -> None:
    given = '{"a": 1, "b": 2}'

    found = [toolcrib("call", "demo__add", "--args", "-", stdin=given, real=real) for real in (False, True)]

    assert found[0] == found[1]
    assert found[0].out == "3\n"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_signal_ends_it(toolcrib: CommandLine, number: signal.Signals) -> None:
    toolcrib.add("small")
    codes = []
    for real in (False, True):
        host = toolcrib.start("up", "--json", real=real, stderr=subprocess.DEVNULL)
        assert host.stdout is not None
        assert host.stdout.readline()
        host.send_signal(number)
        codes.append(host.wait(DEADLINE))
        host.stdout.close()

    assert codes[0] == codes[1]
