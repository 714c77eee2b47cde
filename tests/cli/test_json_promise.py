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
        ("add", ("add", "time", "--yes", "--as-is", "--", "uvx", "mcp-server-time")),
        ("remove", ("remove", "demo", "--yes")),
        ("enable", ("enable", "demo")),
        ("enable", ("disable", "demo")),
        ("on", ("on",)),
        ("on", ("off",)),
        ("logs", ("logs", "demo")),
        ("doctor", ("doctor",)),
        ("version", ("version",)),
        ("completion", ("completion", "bash")),
        ("search-servers", ("search-servers", "git")),
        ("ask", ("ask", "What is 17 plus 25?", "--model", "demo")),
        ("models", ("models",)),
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


def test_the_counts_of_calls_are_as_documented(toolcrib: CommandLine, up: Process) -> None:
    toolcrib("call", "demo__add", "a=1", "b=2", "--json")
    calls = toolcrib("servers", "--json").json[0]["calls"]
    documented = examples("servers")[0][0]["calls"]

    assert shape(calls) == shape(documented)
    assert shape(calls["tools"]) == shape(documented["tools"])


def test_the_status_is_as_documented(toolcrib: CommandLine, up: Process) -> None:
    stopped, running = examples("status")
    found = toolcrib("status", "--json").json

    assert shape(found) == shape(running)
    assert shape(found["counts"]) == shape(running["counts"])
    assert shape(CommandLine(toolcrib.home / "other")("status", "--json").json) == shape(stopped)


def test_imports_and_exports_are_as_documented(toolcrib: CommandLine, tmp_path: Path) -> None:
    text = (DOCUMENT.parent / "import.md").read_text()
    found, taken, exported = map(json.loads, re.findall(r"```json\n(.*?)```", text, re.DOTALL))
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"]}}}))
    toolcrib.extra["HOME"] = str(tmp_path)

    assert shape(toolcrib("import", "--json").json) == shape(found)
    (outcome,) = toolcrib("import", "cursor", "--yes", "--json").json
    assert shape(outcome) == shape(taken[0])
    assert shape(outcome["servers"]) == shape(taken[0]["servers"])
    assert outcome["servers"][0]["install"] == taken[0]["servers"][0]["install"]
    answer = toolcrib("export", "cursor", "--json").json
    assert shape(answer) == shape(exported)
    assert shape(answer["servers"]) == shape(exported["servers"])


def test_a_new_server_is_as_documented(toolcrib: CommandLine, tmp_path: Path) -> None:
    (example,) = examples("new")
    answer = toolcrib("new", "notes", "--folder", str(tmp_path / "notes"), "--json").json

    assert answer == {**example, "folder": str(tmp_path / "notes")}
    assert sorted(one.name for one in (tmp_path / "notes").iterdir()) == answer["files"]
    assert toolcrib("new", "notes", "--folder", str(tmp_path / "notes"), "--json").code == 2


def test_secrets_are_as_documented(toolcrib: CommandLine) -> None:
    listed, stored, removed = examples("secret")

    assert shape(toolcrib("secret", "set", "TOKEN", "--json", stdin="x").json) == shape(stored)
    assert shape(toolcrib("secret", "--json").json) == shape(listed)
    assert shape(toolcrib("secret", "remove", "TOKEN", "--yes", "--json").json) == shape(removed)


def test_chats_are_as_documented(toolcrib: CommandLine) -> None:
    answer = toolcrib("ask", "What is 17 plus 25?", "--model", "demo", "--json").json

    (example,) = examples("ask")
    assert shape(answer["calls"]) == shape(example["calls"])
    assert shape(answer["usage"]) == shape(example["usage"])
    assert shape(toolcrib("chat", "--list", "--json").json) == shape(examples("chat")[0])
    vendors = toolcrib("models", "--json", OLLAMA_HOST="127.0.0.1:9").json["vendors"]
    assert shape(vendors) == shape(examples("models")[0]["vendors"])


def test_profiles_are_as_documented(toolcrib: CommandLine) -> None:
    listed, made, removed = examples("profiles")

    assert [shape(toolcrib("profiles", "add", "quiet", "--json").json)] == shape(listed)
    assert shape(toolcrib("profiles", "--json").json) == shape(listed)
    assert shape(toolcrib("profiles", "token", "quiet", "--json").json) == shape(made)
    assert shape(toolcrib("profiles", "remove", "quiet", "--yes", "--json").json) == shape(removed)


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
