"""`toolcrib add`: the exact command is shown, nothing happens without a yes, secrets are kept as secrets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.cli.command_line import SMALL_SERVER, CommandLine, Process

SECRET = "sk-abcdefghijklmnop1234"


def test_without_a_terminal_and_without_yes_nothing_is_added(toolcrib: CommandLine) -> None:
    toolcrib("servers")
    before = toolcrib.config()

    answer = toolcrib("add", "small", "--json", "--", sys.executable, str(SMALL_SERVER))

    assert (answer.code, answer.error["kind"]) == (4, "denied")
    assert "--yes" in answer.error["hint"]
    assert toolcrib.config() == before


def test_a_command_is_written_in_the_form_of_other_hosts(toolcrib: CommandLine) -> None:
    answer = toolcrib(
        *("add", "small", "--yes", "--json", "--env", "MODE=quiet", "--cwd", "/tmp", "--lazy"),
        *("--isolation", "session", "--start-timeout", "7", "--", "python3", "-m", "server", "--port=1"),
    )

    assert answer.code == 0
    assert toolcrib.config()["mcpServers"]["small"] == {
        "command": "python3",
        "args": ["-m", "server", "--port=1"],
        "env": {"MODE": "quiet"},
        "cwd": "/tmp",
        "isolation": "session",
        "timeouts": {"start": 7.0},
        "lazy": True,
    }
    assert (answer.json["name"], answer.json["type"], answer.json["server"]) == ("small", "stdio", None)


def test_a_sandbox_is_shown_before_it_is_agreed_to_and_written(toolcrib: CommandLine) -> None:
    answer = toolcrib("add", "small", "--yes", "--sandbox", "--", sys.executable, str(SMALL_SERVER))

    assert "sandbox  on: only its own files" in answer.err
    assert toolcrib.config()["mcpServers"]["small"]["sandbox"] is True


def test_an_address_is_an_http_server(toolcrib: CommandLine) -> None:
    toolcrib("add", "docs", "http://127.0.0.1:9/mcp", "--yes", "--header", "X-Team: blue", "--disabled")
    toolcrib("add", "old", "http://127.0.0.1:9/sse", "--yes", "--transport", "sse", "--disabled")

    servers = toolcrib.config()["mcpServers"]
    assert servers["docs"] == {
        "type": "http",
        "url": "http://127.0.0.1:9/mcp",
        "headers": {"X-Team": "blue"},
        "enabled": False,
    }
    assert servers["old"]["type"] == "sse"


def test_other_types_name_a_package_or_a_module(toolcrib: CommandLine) -> None:
    toolcrib("add", "one", "--yes", "--type", "npm", "--", "some-package", "--flag")
    toolcrib("add", "two", "--yes", "--type", "python", "--", "some.module")

    servers = toolcrib.config()["mcpServers"]
    assert servers["one"] == {"type": "npm", "package": "some-package", "args": ["--flag"]}
    assert servers["two"] == {"type": "python", "module": "some.module"}


def test_an_unknown_type_is_refused(toolcrib: CommandLine) -> None:
    answer = toolcrib("add", "one", "--yes", "--type", "carrier-pigeon", "--json", "--", "x")

    assert answer.code == 2
    assert "stdio" in answer.error["hint"]
    assert "one" not in toolcrib.config()["mcpServers"]


def test_the_command_is_shown_whole_with_hidden_characters_visible(toolcrib: CommandLine) -> None:
    long = "x" * 3000

    answer = toolcrib("add", "odd", "--yes", "--", "true", f"a\x1b[2K\u202eb{long}", "two words")

    assert f"a\\x1b[2K\\u202eb{long}" in answer.err
    assert "'two words'" in answer.err
    assert "\x1b" not in answer.err


def test_what_could_run_other_code_is_pointed_out(toolcrib: CommandLine) -> None:
    answer = toolcrib("add", "odd", "--yes", "--env", "LD_PRELOAD=/tmp/x.so", "--", "true")

    assert "warning: env.LD_PRELOAD" in answer.err


def test_what_looks_like_a_secret_is_kept_as_one(toolcrib: CommandLine) -> None:
    answer = toolcrib.add("small", options=("--env", f"API_KEY={SECRET}", "--env", "PLAIN=1"))

    assert SECRET not in answer.out + answer.err
    assert toolcrib.config()["mcpServers"]["small"]["env"] == {
        "API_KEY": "${secret:small.API_KEY}",
        "PLAIN": "1",
    }
    assert toolcrib("call", "small__variable", "name=API_KEY").out == f"{SECRET}\n"


def test_a_secret_header_is_kept_as_one(toolcrib: CommandLine) -> None:
    toolcrib("add", "docs", "http://127.0.0.1:9/mcp", "--yes", "-H", f"Authorization: Bearer {SECRET}")

    entry = toolcrib.config()["mcpServers"]["docs"]
    assert entry["headers"] == {"Authorization": "Bearer ${secret:docs.Authorization}"}
    (secret,) = toolcrib("secret", "--json").json
    assert (secret["name"], secret["servers"]) == ("docs.Authorization", ["docs"])


def test_a_refused_server_leaves_no_secret_behind(toolcrib: CommandLine) -> None:
    answer = toolcrib("add", "demo", "--yes", "--json", "--env", f"API_KEY={SECRET}", "--", "true")

    assert answer.code == 2
    assert "--replace" in answer.error["hint"]
    assert toolcrib("secret", "--json").json == []


def test_a_server_is_replaced_on_request(toolcrib: CommandLine) -> None:
    toolcrib("add", "demo", "--yes", "--replace", "--", "true")

    assert toolcrib.config()["mcpServers"]["demo"] == {"command": "true"}


def test_a_relative_path_is_tied_to_the_folder_it_was_typed_in(toolcrib: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SMALL_SERVER.read_text())
    added = subprocess.run(
        [sys.executable, "-m", "toolcrib", "add", "here", "--yes", "--", sys.executable, "server.py"],
        cwd=tmp_path,
        env=toolcrib.environment,
        capture_output=True,
        check=False,
    )

    assert added.returncode == 0
    assert toolcrib.config()["mcpServers"]["here"]["cwd"] == str(tmp_path)
    assert toolcrib("test", "here").code == 0


def test_forgotten_dashes_are_pointed_out(toolcrib: CommandLine) -> None:
    answer = toolcrib("add", "git", "my-server", "here", "--repository", "x", "--json")

    assert answer.code == 2
    assert "add git -- my-server" in answer.error["hint"]


def test_nothing_to_run_is_wrong_use(toolcrib: CommandLine) -> None:
    assert toolcrib("add", "git", "--yes").code == 2
    assert toolcrib("add", "--yes").code == 2


def test_the_running_host_starts_it_at_once(toolcrib: CommandLine, up: Process) -> None:
    answer = toolcrib("add", "small", "--yes", "--json", "--", sys.executable, str(SMALL_SERVER))

    assert answer.json["server"]["state"] == "ready"
    assert toolcrib("call", "small__echo", "count=1").out == '{"count": 1}\n'


def test_a_server_that_cannot_start_is_added_and_its_state_told(toolcrib: CommandLine, up: Process) -> None:
    answer = toolcrib("add", "absent", "--yes", "--as-is", "--json", "--", "/no/such/program")

    assert answer.code == 0
    assert answer.json["server"]["state"] == "failed"


def test_a_trial_can_be_asked_for(toolcrib: CommandLine) -> None:
    answer = toolcrib.add("small", options=("--test",))

    assert "handshake" in answer.out


def test_the_json_of_an_added_server_can_be_read_by_a_program(toolcrib: CommandLine) -> None:
    out = toolcrib("add", "small", "--yes", "--json", "--", "true").out

    assert json.loads(out)["entry"] == {"command": "true"}
