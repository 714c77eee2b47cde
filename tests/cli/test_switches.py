"""Switching servers on and off, one by one and all at once; starting and stopping them in a running host."""

from __future__ import annotations

import pytest

from tests.cli.command_line import CommandLine, Process
from tests.cli.waiting import eventually


def test_a_disabled_server_stays_off_until_it_is_enabled(toolcrib: CommandLine) -> None:
    assert toolcrib("disable", "demo", "--json").json == {"name": "demo", "enabled": False, "server": None}
    assert toolcrib.states()["demo"] == "disabled"

    assert toolcrib("enable", "demo").out == "demo is on.\n"
    assert toolcrib.states()["demo"] == "ready"


def test_the_running_host_follows_at_once(toolcrib: CommandLine, up: Process) -> None:
    assert toolcrib("disable", "demo", "--json").json["server"]["state"] == "disabled"
    assert toolcrib.states()["demo"] == "disabled"

    toolcrib("enable", "demo")
    eventually(lambda: toolcrib.states()["demo"] == "ready")


def test_only_the_server_that_was_switched_is_touched(toolcrib: CommandLine, up: Process) -> None:
    toolcrib.add("small")
    before = toolcrib("servers", "--json").json[-1]["pid"]

    toolcrib("disable", "demo")
    toolcrib("enable", "demo")

    assert toolcrib("servers", "--json").json[-1]["pid"] == before


def test_the_master_switch_ends_and_starts_everything(toolcrib: CommandLine, up: Process) -> None:
    assert toolcrib("off", "--json").json == {"enabled": False}
    assert set(toolcrib.states().values()) == {"disabled"}
    assert "toolcrib on" in toolcrib("call", "demo__add", "a=1", "b=2").err
    assert toolcrib("start", "demo", "--json").error["kind"] == "usage"

    assert toolcrib("on").out == "Everything is on.\n"
    eventually(lambda: set(toolcrib.states().values()) == {"ready"})


def test_the_master_switch_is_kept_without_a_host(toolcrib: CommandLine) -> None:
    toolcrib("off")

    assert toolcrib.config()["globalEnabled"] is False
    assert set(toolcrib.states().values()) == {"disabled"}


@pytest.mark.parametrize("command", ["start", "stop", "restart"])
def test_without_a_host_there_is_nothing_to_start_or_stop(toolcrib: CommandLine, command: str) -> None:
    answer = toolcrib(command, "demo", "--json")

    assert (answer.code, answer.error["kind"]) == (5, "no_host")
    assert "toolcrib up" in answer.error["hint"]


def test_an_unknown_server_is_guessed_at(toolcrib: CommandLine, up: Process) -> None:
    for command in ("start", "stop", "restart", "enable", "disable"):
        answer = toolcrib(command, "dmeo", "--json")

        assert (answer.code, answer.error["kind"]) == (3, "unknown_server")
        assert "demo" in answer.error["hint"]


def test_a_stopped_server_is_off_until_it_is_started(toolcrib: CommandLine, up: Process) -> None:
    toolcrib.add("small")

    stopped = toolcrib("stop", "small", "--json").json
    refused = toolcrib("call", "small__echo", "--json")
    started = toolcrib("start", "small", "--json").json

    assert (stopped["state"], stopped["pid"]) == ("disabled", None)
    assert refused.code == 5
    assert started["state"] == "ready"


def test_a_restarted_server_is_another_process(toolcrib: CommandLine, up: Process) -> None:
    toolcrib.add("small")
    before = toolcrib("servers", "--json").json[-1]["pid"]

    after = toolcrib("restart", "small", "--json").json

    assert after["state"] == "ready"
    assert after["pid"] not in (None, before)
    assert toolcrib("restart", "small").out == "small: ready (7 tools)\n"


def test_a_server_that_does_not_start_says_why(toolcrib: CommandLine, up: Process) -> None:
    toolcrib("add", "absent", "--yes", "--as-is", "--", "/no/such/program")

    answer = toolcrib("start", "absent", "--json")

    assert answer.code == 5
    assert "/no/such/program" in answer.error["message"]
