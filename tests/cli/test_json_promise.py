"""The documented JSON is what is printed: each example of docs/json-output.md is compared by its keys."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import CommandLine, Process

DOCUMENT = Path(__file__).parents[2] / "docs" / "json-output.md"
SECTION = re.compile(r"^## (.+?)$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def examples(section: str) -> list[Any]:
    """The examples of a section."""
    found = {title.strip("`"): text for title, text in SECTION.findall(DOCUMENT.read_text())}
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", found[section], re.DOTALL)]


def shape(value: Any) -> Any:
    """The keys of an object, or of a list's first one."""
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return list(value) if isinstance(value, dict) else type(value)


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("servers", ("servers",)),
        ("tools", ("tools", "demo")),
        ("test", ("test", "demo")),
        ("add", ("add", "time", "--yes", "--", "uvx", "mcp-server-time")),
        ("remove", ("remove", "demo", "--yes")),
        ("enable", ("enable", "demo")),
        ("enable", ("disable", "demo")),
        ("on", ("on",)),
        ("on", ("off",)),
        ("logs", ("logs", "demo")),
        ("doctor", ("doctor",)),
        ("version", ("version",)),
        ("completion", ("completion", "bash")),
        ("Errors", ("call", "demo__ad")),
    ],
)
def test_the_documented_keys_are_the_printed_ones(
    toolcrib: CommandLine, section: str, words: tuple[str, ...]
) -> None:
    (example,) = examples(section)

    assert shape(toolcrib("--json", *words).json) == shape(example)


def test_the_parts_of_a_trial_a_check_and_an_error_are_as_documented(toolcrib: CommandLine) -> None:
    outcome, report = toolcrib("test", "demo", "--json").json, toolcrib("doctor", "--json").json
    error = toolcrib("call", "demo__ad", "--json").json

    assert shape(outcome["steps"]) == shape(examples("test")[0]["steps"])
    assert shape(report["checks"]) == shape(examples("doctor")[0]["checks"])
    assert shape(error["error"]) == shape(examples("Errors")[0]["error"])


def test_calls_and_their_record_are_as_documented(toolcrib: CommandLine) -> None:
    result = toolcrib("call", "demo__add", "a=1", "b=2", "--json").json

    assert set(examples("call")[0]) <= set(result)
    assert result["content"] == examples("call")[0]["content"]
    assert shape(toolcrib("audit", "--json").json) == shape(examples("audit")[0])


def test_secrets_are_as_documented(toolcrib: CommandLine) -> None:
    listed, stored, removed = examples("secrets")

    assert shape(toolcrib("secrets", "set", "TOKEN", "--json", stdin="x").json) == shape(stored)
    assert shape(toolcrib("secrets", "--json").json) == shape(listed)
    assert shape(toolcrib("secrets", "remove", "TOKEN", "--yes", "--json").json) == shape(removed)


def test_the_running_host_prints_the_same(toolcrib: CommandLine, up: Process) -> None:
    (server,) = examples("servers")

    assert shape(toolcrib("servers", "--json").json) == shape(server)
    for command in ("stop", "start", "restart"):
        assert shape(toolcrib(command, "demo", "--json").json) == shape(server[0])


def test_a_starting_host_prints_one_line(toolcrib: CommandLine) -> None:
    host = toolcrib.start("up", "--json")
    assert host.stdout is not None
    line = json.loads(host.stdout.readline())
    host.terminate()
    rest, _ = host.communicate(timeout=30)

    assert shape(line) == shape(examples("up")[0])
    assert rest == ""
