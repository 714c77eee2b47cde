"""`toolcrib import` and `export`: nothing is trusted, nothing starts, no secret stays in a file."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import DEADLINE, PROGRAM, SMALL_SERVER, CommandLine, Process
from tests.cli.terminal import terminal
from toolcrib.store.trust import EVERYTHING

FIXTURES = Path(__file__).parents[1] / "features" / "clients" / "importing" / "fixtures"
KEY = "sk-abcdefghijklmnop1234"


@pytest.fixture
def person(tmp_path: Path, toolcrib: CommandLine) -> Path:
    """The home folder of someone who has nothing yet."""
    toolcrib.extra["HOME"] = str(tmp_path)
    return tmp_path


@pytest.fixture
def careful(toolcrib: CommandLine) -> None:
    """Nothing runs that nobody agreed to, whatever else the tests are run with."""
    toolcrib.extra[EVERYTHING] = "0"


def cursor(person: Path, servers: dict[str, Any]) -> Path:
    file = person / ".cursor" / "mcp.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"mcpServers": servers}))
    return file


def test_what_is_here_is_listed(toolcrib: CommandLine, person: Path) -> None:
    assert toolcrib("import", "--json").json == []
    file = cursor(person, {"demo": {"command": "x"}, "new": {"command": "y"}})
    (person / ".gemini").mkdir()
    (person / ".gemini" / "settings.json").write_text('{"mcpServers": {')

    broken, found = sorted(toolcrib("import", "--json").json, key=lambda one: one["host"] == "cursor")

    assert (found["host"], found["file"], found["servers"], found["new"]) == (
        "cursor",
        str(file),
        ["demo", "new"],
        ["new"],
    )
    assert broken["problem"]
    listed = toolcrib("import")
    assert "cursor" in listed.out
    assert "warning:" in listed.err


def test_servers_are_taken_in_with_their_secrets_put_away(toolcrib: CommandLine, person: Path) -> None:
    cursor(person, {"a": {"command": "run", "env": {"API_KEY": KEY}, "autoApprove": ["*"]}})

    assert toolcrib("import", "cursor", "--json").code == 4
    answer = toolcrib("import", "cursor", "--yes")

    assert answer.code == 0
    assert KEY not in answer.out + answer.err
    assert toolcrib.config()["mcpServers"]["a"]["env"] == {"API_KEY": "${secret:a.API_KEY}"}
    assert [one["name"] for one in toolcrib("secret", "--json").json] == ["a.API_KEY"]
    assert "autoApprove" not in json.dumps({**toolcrib.config()["mcpServers"]["a"], "x-import": None})


def test_a_preview_changes_nothing(toolcrib: CommandLine, person: Path) -> None:
    cursor(person, {"a": {"command": "run", "env": {"API_KEY": KEY}}})
    toolcrib("servers")
    before = toolcrib.config()

    (plan,) = toolcrib("import", "cursor", "--dry-run", "--json").json

    assert (plan["written"], plan["servers"][0]["secrets"]) == (False, ["a.API_KEY"])
    assert KEY not in json.dumps(plan)
    assert toolcrib.config() == before
    assert toolcrib("secret", "--json").json == []


def test_conflicts_are_skipped_unless_something_else_is_said(toolcrib: CommandLine, person: Path) -> None:
    cursor(person, {"demo": {"command": "other"}})

    (skipped,) = toolcrib("import", "cursor", "--yes", "--json").json
    assert (skipped["written"], skipped["servers"][0]["standing"]) == (False, "differs")
    (renamed,) = toolcrib("import", "cursor", "--yes", "--json", "--conflicts", "rename").json
    assert renamed["servers"][0]["as"] == "demo-2"
    assert toolcrib.config()["mcpServers"]["demo-2"] == {"command": "other"}
    toolcrib("import", "cursor", "--yes", "--conflicts", "replace")
    assert toolcrib.config()["mcpServers"]["demo"] == {"command": "other"}


def test_a_person_is_asked_about_conflicts_and_inputs(toolcrib: CommandLine, person: Path) -> None:
    document = {
        "inputs": [{"id": "key", "type": "promptString", "description": "API key", "password": True}],
        "servers": {"demo": {"command": "run", "env": {"K": "${input:key}"}}},
    }
    file = person / "mcp.json"
    file.write_text(json.dumps(document))

    with terminal(toolcrib, "import", str(file)) as screen:
        screen.expect("demo is already used (skip, rename, replace) [skip]:")
        screen.type("rename\n")
        screen.expect("API key:")
        screen.type(f"{KEY}\n")
        screen.expect("Import demo-2? [y/N]")
        screen.type("y\n")
        assert screen.wait() == 0

    assert KEY not in screen.seen
    assert toolcrib.config()["mcpServers"]["demo-2"]["env"] == {"K": "${secret:demo-2.key}"}
    assert [one["place"] for one in toolcrib("secret", "--json").json] == ["file"]


def test_nothing_starts_by_being_imported(
    toolcrib: CommandLine, person: Path, careful: None, up: Process
) -> None:
    started = person / "started"
    command = [str(SMALL_SERVER), "--notes", str(started)]
    cursor(person, {"small": {"command": sys.executable, "args": command}})

    toolcrib("import", str(person / ".cursor" / "mcp.json"), "--yes")

    assert toolcrib.states()["small"] == "needs-trust"
    assert not started.exists()


def test_files_of_a_project_are_found_from_its_folder(toolcrib: CommandLine, person: Path) -> None:
    project = person / "project"
    project.mkdir()
    shutil.copy(FIXTURES / "claude_code.mcp.json", project / ".mcp.json")
    done = subprocess.run(
        [PROGRAM, "import", "claude-code", "--yes", "--json", "--only", "api"],
        cwd=project,
        env=toolcrib.environment,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=True,
    )

    (outcome,) = json.loads(done.stdout)
    assert [one["as"] for one in outcome["servers"]] == ["api"]
    assert toolcrib.config()["mcpServers"]["api"]["timeouts"] == {"call": 60}


def test_out_and_in_again_finds_the_same_servers(toolcrib: CommandLine, person: Path) -> None:
    toolcrib("import", str(FIXTURES / "zed.settings.json"), "--yes")
    written = toolcrib("export", "zed", "--write", "--yes", "--json").json
    assert written["written"] is True
    assert "Bearer t" not in Path(written["file"]).read_text()

    (again,) = toolcrib("import", "zed", "--yes", "--json").json

    assert {one["standing"] for one in again["servers"] if one["name"] in ("local", "remote")} == {"same"}
    assert toolcrib("export", "zed", "--write", "--yes", "--json").json["written"] is False


def test_an_export_shows_the_document_and_says_what_is_to_be_set(toolcrib: CommandLine, person: Path) -> None:
    toolcrib.add("a", options=("--env", f"API_KEY={KEY}"))

    shown = toolcrib("export", "cursor", "--only", "a")

    assert json.loads(shown.out)["mcpServers"]["a"]["env"] == {"API_KEY": "${env:A_API_KEY}"}
    assert "set A_API_KEY to the secret a.API_KEY" in shown.err
    assert not (person / ".cursor").exists()
    assert toolcrib("export", "cursor", "--write", "--json").code == 4


def test_an_export_keeps_what_else_is_in_the_file(toolcrib: CommandLine, person: Path) -> None:
    file = cursor(person, {"mine": {"command": "mine"}, "demo": {"command": "old", "custom": 1}})

    outcome = toolcrib("export", "cursor", "--only", "demo", "--write", "--yes", "--json").json

    servers = json.loads(file.read_text())["mcpServers"]
    assert servers["mine"] == {"command": "mine"}
    assert servers["demo"]["command"] == sys.executable
    assert servers["demo"]["custom"] == 1
    assert json.loads(Path(outcome["backup"]).read_text())["mcpServers"]["demo"]["command"] == "old"


def test_words_that_mean_nothing_are_refused(toolcrib: CommandLine, person: Path) -> None:
    assert toolcrib("import", "curser", "--json").error["kind"] == "not_found"
    assert toolcrib("import", "cursor", "--json").error["kind"] == "usage"
    assert toolcrib("export", "curser", "--json").error["kind"] == "not_found"
    assert toolcrib("export", "cursor", "--only", "absent", "--json").error["kind"] == "unknown_server"
