"""`toolcrib connect`, as a person and a program meet it, on the files of a person of their own."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import DEADLINE, PROGRAM, CommandLine
from tests.cli.terminal import terminal

DOCUMENT = Path(__file__).parents[2] / "docs" / "connect.md"
CLIENTS = [
    "amp",
    "claude-code",
    "claude-desktop",
    "cline",
    "codex",
    "copilot",
    "crush",
    "cursor",
    "gemini",
    "goose",
    "kiro",
    "librechat",
    "lm-studio",
    "opencode",
    "qwen",
    "vscode",
    "windsurf",
    "zed",
]
URL = "http://127.0.0.1:8765/mcp"


@pytest.fixture
def person(tmp_path: Path, toolcrib: CommandLine) -> Path:
    """The home folder of someone who has nothing yet."""
    toolcrib.extra["HOME"] = str(tmp_path)
    return tmp_path


def cursor_file(person: Path, text: str | None = None) -> Path:
    file = person / ".cursor" / "mcp.json"
    file.parent.mkdir()
    if text is not None:
        file.write_text(text)
    return file


def test_the_list_says_who_is_here_and_who_is_connected(toolcrib: CommandLine, person: Path) -> None:
    cursor_file(person)
    (person / ".gemini").mkdir()
    (person / ".gemini" / "settings.json").write_text("{")
    toolcrib("connect", "codex", "--yes", "--name", "crib")

    found = {one["client"]: one for one in toolcrib("connect", "--json").json}
    table = toolcrib("connect")

    assert sorted(found) == CLIENTS
    assert [one for one in CLIENTS if found[one]["found"]] == ["codex", "cursor", "gemini"]
    assert (found["codex"]["connected"], found["codex"]["names"]) == (True, ["crib"])
    assert found["cursor"]["connected"] is False
    assert found["gemini"]["connected"] is None
    assert found["gemini"]["problem"] in table.err
    assert re.search(r"^codex +yes +yes \(crib\) ", table.out, re.MULTILINE)
    assert re.search(r"^gemini +yes +unreadable ", table.out, re.MULTILINE)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_is_connected_and_let_go(toolcrib: CommandLine, person: Path, client: str) -> None:
    first = toolcrib("connect", client, "--yes", "--json").json
    again = toolcrib("connect", client, "--yes", "--json").json

    assert list(first) == ["client", "file", "entry", "written", "snippet"]
    assert (first["client"], first["written"], again["written"]) == (client, True, False)
    assert Path(first["file"]).is_relative_to(person)
    assert Path(first["file"]).read_text() == first["snippet"] + "\n"
    assert str(PROGRAM) in first["snippet"]
    words = first["entry"].get("args") or first["entry"]["command"][1:]
    assert words == ["serve", "--stdio", "--home", str(toolcrib.home)]
    assert toolcrib("connect", client, "--remove", "--yes", "--json").json["written"] is True
    assert toolcrib("connect", client, "--remove", "--yes", "--json").json["written"] is False
    assert str(PROGRAM) not in Path(first["file"]).read_text()


def test_the_entry_starts_a_server_that_answers(toolcrib: CommandLine, person: Path) -> None:
    entry = toolcrib("connect", "cursor", "--yes", "--json").json["entry"]
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}

    # As a client would: with little of an environment, and no word of the home.
    environment = {key: value for key, value in toolcrib.environment.items() if key != "TOOLCRIB_HOME"}
    with subprocess.Popen(
        [entry["command"], *entry["args"]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        server.stdin.close()
        assert server.wait(DEADLINE) == 0

    assert answer["id"] == 1
    assert "tools" in answer["result"]["capabilities"]
    assert (toolcrib.home / "mcp.json").exists()


def test_an_entry_is_only_printed_when_that_is_asked(toolcrib: CommandLine, person: Path) -> None:
    answer = toolcrib("connect", "codex", "--print", "--profile", "work", "--name", "crib")

    assert tomllib.loads(answer.out)["mcp_servers"]["crib"]["args"][:4] == [
        "serve",
        "--stdio",
        "--profile",
        "work",
    ]
    assert str(person / ".codex" / "config.toml") in answer.err
    assert list(person.iterdir()) == []


def test_without_a_home_of_its_own_the_entry_names_none(toolcrib: CommandLine, person: Path) -> None:
    answer = toolcrib("connect", "cursor", "--print", "--json", TOOLCRIB_HOME="")

    assert answer.json["entry"] == {"command": str(PROGRAM), "args": ["serve", "--stdio"]}


def test_nothing_is_written_unless_someone_says_yes(toolcrib: CommandLine, person: Path) -> None:
    answer = toolcrib("connect", "cursor")

    assert answer.code == 4
    assert str(PROGRAM) in answer.err
    assert list(person.iterdir()) == []


def test_a_person_is_shown_the_entry_and_asked(toolcrib: CommandLine, person: Path) -> None:
    file = cursor_file(person, '{"mcpServers": {"git": {"command": "uvx"}}}')
    with terminal(toolcrib, "connect", "cursor", columns=200) as screen:
        screen.expect("[y/N]")
        assert str(file) in screen.seen
        assert '"serve"' in screen.seen
        screen.type("y\n")
        assert screen.wait() == 0
        assert "Cursor is connected." in screen.seen

    assert list(json.loads(file.read_text())["mcpServers"]) == ["git", "toolcrib"]
    assert file.with_name("mcp.json.bak").read_text() == '{"mcpServers": {"git": {"command": "uvx"}}}'


def test_an_address_is_written_where_the_client_has_a_form_for_it(
    toolcrib: CommandLine, person: Path
) -> None:
    entry = toolcrib("connect", "gemini", "--http", URL, "--profile", "work", "--yes", "--json").json["entry"]
    refused = toolcrib("connect", "claude-desktop", "--http", URL, "--yes", "--json")

    assert entry == {"httpUrl": f"{URL}/work"}
    assert refused.code == 2
    assert "cannot use servers with an address" in refused.error["message"]


def test_a_token_is_written_and_shown_only_on_request(toolcrib: CommandLine, person: Path) -> None:
    words = ("connect", "cursor", "--http", URL, "--token", "--yes")
    quiet = toolcrib(*words, stdin="s3cret-token\n")
    data = toolcrib(*words, "--json", "--print", stdin="s3cret-token")
    loud = toolcrib(*words, "--print", "--show-token", stdin="s3cret-token")

    assert "s3cret-token" not in quiet.out + quiet.err + data.out
    assert "Bearer <token>" in data.json["snippet"]
    assert "Bearer s3cret-token" in loud.out
    assert "Bearer s3cret-token" in (person / ".cursor" / "mcp.json").read_text()
    assert (person / ".cursor" / "mcp.json").stat().st_mode & 0o777 == 0o600


def test_a_token_stays_in_the_environment_where_the_client_can_read_it_there(
    toolcrib: CommandLine, person: Path
) -> None:
    def entry(client: str) -> Any:
        words = ("--http", URL, "--token-env", "CRIB_TOKEN", "--print", "--json")
        return toolcrib("connect", client, *words).json

    assert entry("cursor")["entry"]["headers"] == {"Authorization": "Bearer ${env:CRIB_TOKEN}"}
    assert entry("codex")["entry"]["bearer_token_env_var"] == "CRIB_TOKEN"
    assert "--token" in entry("zed")["error"]["hint"]


def test_the_entry_of_a_profile_has_its_address_and_its_token(toolcrib: CommandLine, person: Path) -> None:
    toolcrib("profiles", "add", "work", "--read-only")
    token = toolcrib("profiles", "token", "work").out.strip()
    words = ("connect", "cursor", "--http", URL, "--profile", "work", "--token", "--print", "--show-token")

    answer = toolcrib(*words, "--json", stdin=token)

    assert answer.err == ""
    assert answer.json["entry"] == {
        "url": f"{URL}/work",
        "headers": {"Authorization": f"Bearer {token}"},
    }
    assert token not in (toolcrib.home / "mcp.json").read_text()


@pytest.mark.parametrize(
    ("words", "warning"),
    [
        (("--profile", "wrok"), "Did you mean work?"),
        (("--profile", "work", "--http", URL), "add --token or --token-env"),
        (("--profile", "work", "--http", URL, "--token"), "toolcrib profiles token work"),
        (("--profile", "work", "--http", "https://crib.example/mcp"), ""),
        (("--profile", "work", "--http", URL, "--token-env", "CRIB_TOKEN"), ""),
        (("--profile", "work"), ""),
    ],
)
def test_what_would_not_work_is_said_beforehand(
    toolcrib: CommandLine, person: Path, words: tuple[str, ...], warning: str
) -> None:
    toolcrib("profiles", "add", "work")
    toolcrib("profiles", "token", "work")

    answer = toolcrib("connect", "cursor", "--print", "--json", *words, stdin="another-token")

    assert answer.code == 0
    assert warning in answer.err
    assert bool(answer.err) == bool(warning)


def test_a_file_that_cannot_be_edited_stays_and_the_entry_is_told(
    toolcrib: CommandLine, person: Path
) -> None:
    file = cursor_file(person, '{"mcpServers": {')

    answer = toolcrib("connect", "cursor", "--yes")

    assert answer.code == 2
    assert str(file) in answer.err
    assert "Nothing was changed" in answer.err
    assert '"serve"' in answer.err
    assert file.read_text() == '{"mcpServers": {'
    assert toolcrib("connect", "cursor", "--remove", "--yes").code == 2


def test_a_file_of_a_project_can_be_named(toolcrib: CommandLine, person: Path) -> None:
    file = person / "project" / ".vscode" / "mcp.json"

    toolcrib("connect", "vscode", "--yes", "--file", str(file))

    assert "toolcrib" in json.loads(file.read_text())["servers"]


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (("claude-dektop",), 3, "Did you mean claude-desktop"),
        (("emacs",), 3, "Known: amp, claude-code"),
        (("cursor", "--name", "a b"), 2, "letters"),
        (("cursor", "--profile", "../x"), 2, "letters"),
        (("cursor", "--token"), 2, "--http"),
        (("cursor", "--http", "8765"), 2, "http://127.0.0.1"),
        (("cursor", "--http", URL, "--token-env", "a-b"), 2, "TOOLCRIB_TOKEN"),
        (("cursor", "--http", URL, "--token"), 2, "stdin"),
    ],
)
def test_what_makes_no_sense_is_explained(
    toolcrib: CommandLine, person: Path, words: tuple[str, ...], code: int, hint: str
) -> None:
    answer = toolcrib("connect", *words, "--json")

    assert answer.code == code
    assert hint in answer.error["hint"]


def test_the_documented_entries_are_the_printed_ones(toolcrib: CommandLine, person: Path) -> None:
    text, page_of_clients = DOCUMENT.read_text(), DOCUMENT.with_name("clients.md").read_text()

    for client in CLIENTS:
        assert f"`toolcrib connect {client}`" in page_of_clients
    for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL):
        document = json.loads(block)
        if isinstance(document, list):
            assert list(document[0]) == list(toolcrib("connect", "--json").json[0])
        elif "client" in document:
            assert list(document) == list(toolcrib("connect", "cursor", "--print", "--json").json)
