"""`toolcrib tools`, with and without a running host."""

from __future__ import annotations

import json

from tests.cli.command_line import CommandLine, Process

PROMISED = [
    "name",
    "server",
    "original_name",
    "origin",
    "description",
    "inputSchema",
    "enabled",
    "tokens",
    "hash",
]


def test_the_json_has_the_promised_keys_in_order_of_name(toolcrib: CommandLine) -> None:
    toolcrib.add("small")

    tools = toolcrib("tools", "--json").json

    assert [tool["name"] for tool in tools] == sorted(tool["name"] for tool in tools)
    echo = next(tool for tool in tools if tool["name"] == "small__echo")
    assert list(echo)[: len(PROMISED)] == PROMISED
    assert (echo["server"], echo["original_name"], echo["origin"]) == ("small", "echo", "mcp")
    assert echo["inputSchema"]["properties"]["count"]["type"] == "integer"
    assert echo["tokens"] > 0
    assert echo["first_seen"] == echo["last_changed"]


def test_one_servers_tools_start_no_other_server(toolcrib: CommandLine) -> None:
    toolcrib.add("small")
    notes = toolcrib.home / "notes"
    toolcrib.add("other", "--say", "started", "--notes", str(notes))

    tools = toolcrib("tools", "small", "--json").json

    assert {tool["server"] for tool in tools} == {"small"}
    assert toolcrib("logs", "other", "--json").json["lines"] == []


def test_excluded_tools_are_shown_only_on_request(toolcrib: CommandLine) -> None:
    toolcrib.add("small", options=("--exclude", "fail"))

    offered = {tool["name"] for tool in toolcrib("tools", "small", "--json").json}
    everything = {
        tool["name"]: tool["enabled"] for tool in toolcrib("tools", "small", "--all", "--json").json
    }

    assert "small__fail" not in offered
    assert everything["small__fail"] is False
    assert "(off)" in toolcrib("tools", "small", "--all").out


def test_the_text_counts_tools_and_tokens(toolcrib: CommandLine) -> None:
    answer = toolcrib("tools", "demo")

    assert answer.out.splitlines()[0].split() == ["NAME", "TOKENS", "DESCRIPTION"]
    assert "4 tools of 1 server," in answer.err


def test_an_unknown_server_is_guessed_at(toolcrib: CommandLine) -> None:
    answer = toolcrib("tools", "dmo", "--json")

    assert (answer.code, answer.error["kind"]) == (3, "unknown_server")
    assert "demo" in answer.error["hint"]


def test_a_server_that_does_not_start_says_why(toolcrib: CommandLine) -> None:
    toolcrib.add("crashing", "--crash")

    answer = toolcrib("tools", "crashing", "--json")

    assert answer.code == 5
    assert "cannot go on" in answer.error["message"]


def test_one_hanging_server_does_not_hide_the_others(toolcrib: CommandLine, up: Process) -> None:
    toolcrib.add("small")
    config = toolcrib.config()
    config["mcpServers"]["hanging"] = {
        **config["mcpServers"]["small"],
        "args": [*config["mcpServers"]["small"]["args"], "--hang"],
    }
    (toolcrib.home / "mcp.json").write_text(json.dumps(config))

    servers = {tool["server"] for tool in toolcrib("tools", "--json").json}

    assert {"demo", "filesystem", "small"} <= servers
