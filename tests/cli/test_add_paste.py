"""`toolcrib add` with what people paste."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import DEADLINE, PROGRAM, SMALL_SERVER, CommandLine
from tests.servers.installers.packages import npm_package
from tests.servers.remote.sdk import sdk_server
from toolcrib.cli.add_target import insert_dashes
from toolcrib.cli.commands.add import command

KEY = "sk-abcdefghijklmnop1234"


def test_a_command_line_needs_neither_name_nor_dashes(toolcrib: CommandLine) -> None:
    answer = toolcrib(
        "add", "--yes", "--json", "docker", "run", "-i", "--rm", "-e", f"TOKEN={KEY}", "me/mcp-notes"
    )

    assert answer.json["name"] == "notes"
    assert answer.json["entry"] == {
        "command": "docker",
        "args": ["run", "-i", "--rm", "-e", "TOKEN", "me/mcp-notes"],
        "env": {"TOKEN": "${secret:notes.TOKEN}"},
    }


def test_a_pasted_yes_is_not_our_yes(toolcrib: CommandLine) -> None:
    """`npx -y` agrees to npm's question, not to ours."""
    toolcrib("servers")
    answer = toolcrib("add", "npx", "-y", "--as-is", "pkg")

    assert answer.code in (2, 4, 5)
    assert set(toolcrib.config()["mcpServers"]) == {"demo", "filesystem", "websearch"}


def test_what_would_fetch_at_every_start_can_be_kept_as_it_is(toolcrib: CommandLine) -> None:
    answer = toolcrib("add", "mem", "--yes", "--as-is", "--json", "A=1 npx -y @scope/server-memory /x")

    assert answer.json["entry"] == {
        "command": "npx",
        "args": ["-y", "@scope/server-memory", "/x"],
        "env": {"A": "1"},
    }


def test_a_pasted_entry_is_one_server(toolcrib: CommandLine) -> None:
    text = json.dumps({"mcpServers": {"mine": {"command": "true", "env": {"API_KEY": KEY}, "trust": True}}})

    answer = toolcrib("add", "--yes", "--json", text)

    assert (answer.json["name"], answer.json["secrets"]) == ("mine", ["mine.API_KEY"])
    assert toolcrib.config()["mcpServers"]["mine"] == {
        "command": "true",
        "env": {"API_KEY": "${secret:mine.API_KEY}"},
    }
    named = toolcrib("add", "other", "--yes", "--json", '{"command": "true", "args": ["x"]}')
    assert named.json["name"] == "other"


def test_a_pasted_file_of_several_servers_is_taken_in(toolcrib: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}))

    (outcome,) = toolcrib("add", "--yes", "--json", str(file)).json

    assert [one["as"] for one in outcome["servers"]] == ["a", "b"]
    assert {"a", "b"} <= set(toolcrib.config()["mcpServers"])


def test_a_folder_that_says_how_it_runs_is_run_where_it_lies(toolcrib: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "server.py").write_text(SMALL_SERVER.read_text())
    (folder / "toolcrib.json").write_text(json.dumps({"command": sys.executable, "args": ["server.py"]}))

    answer = toolcrib("add", "--yes", "--json", str(folder))

    assert (answer.json["name"], answer.json["entry"]["cwd"]) == ("small", str(folder))
    assert toolcrib("test", "small").code == 0


def test_an_installed_server_is_tied_to_the_folder_that_its_words_were_typed_in(
    toolcrib: CommandLine, tmp_path: Path
) -> None:
    program = tmp_path / "small" / "run"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{SMALL_SERVER.read_text()}")
    program.chmod(0o755)
    (tmp_path / "notes.txt").touch()
    done = subprocess.run(
        [PROGRAM, "add", "--yes", "--json", "small", "./small", "notes.txt"],
        cwd=tmp_path,
        env=toolcrib.environment,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=True,
    )

    entry = json.loads(done.stdout)["entry"]
    assert (entry["cwd"], entry["args"]) == (str(tmp_path), ["notes.txt"])
    assert toolcrib("test", "small").code == 0


@pytest.mark.parametrize(("mode", "kind"), [("http", "http"), ("sse", "sse")])
async def test_the_transport_of_an_address_is_found_by_trying(
    toolcrib: CommandLine, mode: str, kind: str
) -> None:
    async with sdk_server(mode) as server:
        answer = toolcrib("add", "there", server.url, "--yes")

    assert toolcrib.config()["mcpServers"]["there"] == {"type": kind, "url": server.url}
    assert ("streamable HTTP" if kind == "http" else "SSE") in answer.err


def test_a_bare_name_that_could_be_anybodys_is_not_guessed(toolcrib: CommandLine) -> None:
    answer = toolcrib("add", "left-pad", "--yes", "--json")

    assert answer.code == 2
    assert "npm:left-pad" in answer.error["hint"]


def test_an_address_needs_no_name(toolcrib: CommandLine) -> None:
    answer = toolcrib("add", "http://127.0.0.1:9/sse", "--transport", "sse", "--yes", "--json", "--disabled")
    silent = toolcrib("add", "there", "http://127.0.0.1:9/mcp", "--yes", "--json")

    assert (answer.json["name"], answer.json["type"]) == ("local-9", "sse")
    assert silent.json["type"] == "http"
    assert "Nothing responds" in silent.json["remarks"][-1]


def test_a_paste_without_a_server_in_it_is_wrong_use(toolcrib: CommandLine) -> None:
    assert toolcrib("add", "{}", "--yes", "--json").code == 2
    refused = toolcrib("add", '{"mcpServers": {"a": {"args": []}}}', "--yes", "--json")
    assert refused.error["hint"].startswith("a: ")


def test_a_pasted_entry_that_asks_for_a_secret_waits_for_it(toolcrib: CommandLine) -> None:
    entry = {"command": "true", "env": {"KEY": "${input:key}"}}

    (outcome,) = toolcrib("add", "mine", "--yes", "--json", json.dumps(entry)).json

    assert (outcome["servers"][0]["as"], outcome["servers"][0]["waiting"]) == ("mine", ["mine.key"])
    assert toolcrib.config()["mcpServers"]["mine"]["env"] == {"KEY": "${secret:mine.key}"}


@pytest.mark.parametrize("name", ["npm", "uvx", "python"])
def test_a_folder_named_like_a_launcher_is_a_folder_and_a_dry_run_installs_nothing(
    toolcrib: CommandLine, tmp_path: Path, name: str
) -> None:
    folder = npm_package(tmp_path / "work" / name)

    answer = toolcrib("add", "--yes", "--offline", str(folder), "--dry-run", "--json")

    assert answer.json["plan"]["package"] == "tiny-server"
    assert name not in toolcrib.config()["mcpServers"]


@pytest.mark.parametrize("name", ["npm", "npx", "yarn", "bun", "uvx", "uv", "docker", "python", "node", "sh"])
@pytest.mark.parametrize("form", ["./{}", "../{}", "sub/{}", "~/{}", "/no/such/{}", "./{}.exe", ".\\{}"])
def test_only_a_program_begins_a_command_line(tmp_path: Path, name: str, form: str) -> None:
    program = tmp_path / name
    program.touch(mode=0o755)
    folder = tmp_path / "folders" / name
    folder.mkdir(parents=True)

    assert insert_dashes(command, [form.format(name), "--dry-run"]) == [form.format(name), "--dry-run"]
    assert insert_dashes(command, [str(folder), "--yes"]) == [str(folder), "--yes"]
    assert insert_dashes(command, [name, "--flag"]) == ["--", name, "--flag"]
    assert insert_dashes(command, [str(program), "--flag"]) == ["--", str(program), "--flag"]
    assert insert_dashes(command, [name, "x", "--dry-run"]) == ["--dry-run", "--", name, "x"]
    assert insert_dashes(command, ["--", name, "--dry-run"]) == ["--", name, "--dry-run"]


@pytest.mark.parametrize(
    "words",
    [
        ("--offline", "npx", "-y", "some-server", "--dry-run"),
        ("mine", "--dry-run", "--", "true"),
        ("mine", "https://example.test/mcp", "--dry-run"),
        ("websearch", "--dry-run"),
        ("filesystem", "--replace", "--dry-run", "--", "/tmp"),
        ("--dry-run", '{"command": "true", "args": ["x"]}'),
    ],
)
def test_a_dry_run_changes_nothing(toolcrib: CommandLine, words: tuple[str, ...]) -> None:
    toolcrib("servers")
    before = toolcrib.config()

    toolcrib("add", "--yes", *words)

    assert toolcrib.config() == before
