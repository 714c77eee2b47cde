"""`toolcrib audit`: the record of calls."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.cli.command_line import CommandLine, Process

PROMISED = ["time", "tool", "server", "principal", "outcome", "ms", "bytes"]


@pytest.fixture
def called(toolcrib: CommandLine) -> CommandLine:
    """Three calls, one of which was wrong."""
    toolcrib("call", "demo__add", "a=1", "b=2")
    toolcrib("call", "demo__divide", "a=1", "b=3")
    toolcrib("call", "demo__add", "a=x", "b=2")
    return toolcrib


def test_the_newest_call_comes_first_with_the_promised_keys(called: CommandLine) -> None:
    records = called("audit", "--json").json

    assert list(records[0])[: len(PROMISED)] == PROMISED
    assert [(record["tool"], record["outcome"]) for record in records] == [
        ("demo__add", "invalid"),
        ("demo__divide", "ok"),
        ("demo__add", "ok"),
    ]
    assert {record["principal"] for record in records} == {"cli"}
    assert datetime.fromisoformat(records[0]["time"]) <= datetime.now(UTC)


def test_filters_narrow_it_down(called: CommandLine) -> None:
    def count(*filters: str) -> int:
        return len(called("audit", "--json", *filters).json)

    assert count("--tool", "demo__divide") == 1
    assert count("--server", "demo") == 3
    assert count("--outcome", "ok") == 2
    assert count("--principal", "agent") == 0
    assert count("-n", "1") == 1
    assert count("--since", "1h") == 3
    assert count("--since", (datetime.now(UTC) + timedelta(hours=1)).isoformat()) == 0


def test_an_odd_time_is_wrong_use(toolcrib: CommandLine) -> None:
    assert toolcrib("audit", "--since", "yesterday", "--json").code == 2
    assert toolcrib("audit", "--since", "99999999999w", "--json").code == 2
    assert toolcrib("audit", "--outcome", "good", "--json").code == 2


def test_the_text_is_a_table(called: CommandLine) -> None:
    answer = called("audit", "--outcome", "ok")

    assert answer.out.splitlines()[0].split()[:4] == ["TIME", "TOOL", "BY", "OUTCOME"]
    assert len(answer.out.splitlines()) == 3


def test_a_secret_argument_is_not_written_down(toolcrib: CommandLine) -> None:
    toolcrib.add("small")
    toolcrib("call", "small__echo", "api_key=sk-abcdefghijklmnop1234")

    assert "sk-abcdefghij" not in toolcrib("audit", "--json").out


def test_calls_of_the_running_host_are_seen_at_once(toolcrib: CommandLine, up: Process) -> None:
    toolcrib("call", "demo__add", "a=1", "b=2")

    assert len(toolcrib("audit", "--json").json) == 1
