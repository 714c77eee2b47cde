"""`toolcrib servers`, with and without a running host."""

from __future__ import annotations

import json
import subprocess

from tests.cli.command_line import CommandLine, Process
from tests.cli.waiting import eventually

PROMISED = [
    "name",
    "type",
    "enabled",
    "state",
    "reason",
    "pid",
    "era",
    "version",
    "tools",
    "last_connected",
    "restarts",
]


def test_a_new_home_has_three_servers_and_all_answer(toolcrib: CommandLine) -> None:
    servers = toolcrib("servers", "--json").json

    assert [(server["name"], server["state"]) for server in servers] == [
        ("demo", "ready"),
        ("filesystem", "ready"),
        ("websearch", "ready"),
    ]


def test_the_json_has_the_promised_keys(toolcrib: CommandLine) -> None:
    toolcrib.add("small")

    *_, small = toolcrib("servers", "--json").json

    assert list(small)[:4] == PROMISED[:4]
    assert set(PROMISED) <= set(small)
    assert (small["type"], small["enabled"], small["state"]) == ("stdio", True, "ready")
    assert (small["era"], small["version"], small["tools"]) == ("2025-06-18", "1.2.3", 7)
    assert small["last_connected"].startswith("20")


def test_a_broken_server_is_told_of_and_harms_no_other(toolcrib: CommandLine) -> None:
    toolcrib("add", "absent", "--yes", "--as-is", "--", "/no/such/program")
    toolcrib.add("hanging", "--hang")
    toolcrib.add("small")

    servers = {server["name"]: server for server in toolcrib("servers", "--json", "--wait", "10").json}

    assert servers["small"]["state"] == "ready"
    assert servers["hanging"]["state"] == "starting"
    assert servers["absent"]["state"] == "failed"
    assert "/no/such/program" in servers["absent"]["reason"]


def test_an_entry_that_cannot_be_read_needs_configuration(toolcrib: CommandLine) -> None:
    (toolcrib.home / "mcp.json").write_text(json.dumps({"mcpServers": {"odd": {"command": 7}}}))

    (odd,) = toolcrib("servers", "--json").json

    assert odd["state"] == "needs-config"
    assert "command" in odd["reason"]


def test_the_text_shows_states_and_reasons_in_columns(toolcrib: CommandLine) -> None:
    toolcrib("add", "absent", "--yes", "--as-is", "--", "/no/such/program")

    answer = toolcrib("servers")

    header, *rows = answer.out.splitlines()
    assert header.split() == ["NAME", "STATE", "TOOLS", "PROTOCOL", "RESTARTS", "REASON"]
    assert rows[0].split()[:3] == ["demo", "ready", "4"]
    assert rows[-1].split()[:2] == ["absent", "failed"]
    assert "toolcrib up" in answer.err


def test_a_running_host_is_asked_instead(toolcrib: CommandLine, up: Process) -> None:
    toolcrib.add("small")

    first = toolcrib("servers", "--json").json[-1]
    second = toolcrib("servers", "--json").json[-1]

    assert first["pid"] == second["pid"] is not None
    assert "PID" in toolcrib("servers").out


def test_calls_of_the_running_host_are_counted_by_server_and_tool(toolcrib: CommandLine, up: Process) -> None:
    before = toolcrib("servers").out.splitlines()[0].split()
    for arguments in (("a=1", "b=2"), ("a=2", "b=2"), ("a=1",)):
        toolcrib("call", "demo__add", *arguments, "--json")

    demo, filesystem, _ = toolcrib("servers", "--json").json
    shown = toolcrib("servers").out.splitlines()

    (add,) = demo["calls"]["tools"]
    assert (add["name"], add["total"], add["errors"], add["in_flight"]) == ("demo__add", 3, 1, 0)
    assert (demo["calls"]["total"], filesystem["calls"]["total"]) == (3, 0)
    assert 0 < add["p50_ms"] <= add["p95_ms"] <= add["max_ms"]
    untimed = [filesystem["calls"][key] for key in ("p50_ms", "p95_ms", "max_ms", "tools")]
    assert untimed == [None, None, None, []]
    assert "CALLS" not in before
    assert shown[0].split()[5:] == ["PID", "CALLS", "ERRORS", "P95", "REASON"]
    assert shown[1].split()[6:8] == ["3", "1"]


def test_a_killed_server_comes_back_in_the_running_host(toolcrib: CommandLine, up: Process) -> None:
    toolcrib.add("small")
    before = toolcrib("servers", "--json").json[-1]

    subprocess.run(["kill", "-9", str(before["pid"])], check=True)
    after = eventually(
        lambda: next(
            (
                server
                for server in toolcrib("servers", "--json").json
                if server["state"] == "ready" and server["pid"] not in (None, before["pid"])
            ),
            None,
        )
    )

    assert after["restarts"] == before["restarts"] + 1


def test_watching_tells_of_each_change(toolcrib: CommandLine, up: Process) -> None:
    toolcrib.add("small")
    watcher = toolcrib.start("servers", "--watch", "--json")
    assert watcher.stdout is not None
    seen = [json.loads(watcher.stdout.readline()) for _ in range(4)]

    toolcrib("stop", "small")
    change = json.loads(watcher.stdout.readline())
    toolcrib("remove", "small", "--yes")
    while "removed" not in change:
        change = json.loads(watcher.stdout.readline())
    watcher.terminate()

    assert [event["server"]["name"] for event in seen] == ["demo", "filesystem", "websearch", "small"]
    assert change == {"removed": "small"}
    watcher.communicate()


def test_watching_needs_a_running_host(toolcrib: CommandLine) -> None:
    answer = toolcrib("servers", "--watch", "--json")

    assert (answer.code, answer.error["kind"]) == (5, "no_host")


def test_a_file_that_is_no_json_is_told_with_line_and_column(toolcrib: CommandLine) -> None:
    (toolcrib.home / "mcp.json").write_text('{\n  "mcpServers": {,}\n}')

    answer = toolcrib("servers", "--json")

    assert answer.code == 2
    assert (answer.error["kind"], answer.error["line"]) == ("config", 2)
    assert answer.error["column"] > 1
