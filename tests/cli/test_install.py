"""Installing on the command line: the plan is shown first, and nothing happens without a yes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import CommandLine, Process
from tests.servers.installers.packages import bundle, manifest, npm_tarball, wheel

DOCUMENT = Path(__file__).parents[2] / "docs" / "json-output.md"


@pytest.fixture
def tarball(tmp_path: Path) -> str:
    return str(npm_tarball(tmp_path))


def installed(toolcrib: CommandLine) -> list[str]:
    return [one["name"] for one in toolcrib("outdated", "--json").json]


def test_the_plan_is_shown_and_without_a_yes_nothing_is_installed(
    toolcrib: CommandLine, tarball: str
) -> None:
    answer = toolcrib("add", tarball, "--offline")

    assert answer.code == 4
    assert "tiny-server 1.0.0" in answer.err
    assert "/node_modules/tiny-server/tiny.js" in answer.err
    assert installed(toolcrib) == []
    assert "tiny" not in toolcrib.config()["mcpServers"]


def test_the_command_is_shown_with_its_arguments_and_variables(toolcrib: CommandLine, tarball: str) -> None:
    words = ("--", tarball, "two words", "a\u202eb")

    answer = toolcrib("add", "tiny", "--offline", "--dry-run", "--env", "MODE=quiet", *words)

    assert "tiny.js 'two words' 'a\\u202eb'" in answer.err
    assert "MODE = quiet" in answer.err


def test_a_dry_run_shows_the_plan_alone(toolcrib: CommandLine, tarball: str) -> None:
    answer = toolcrib("add", tarball, "--offline", "--dry-run", "--json", "--yes")

    assert answer.code == 0
    assert (answer.json["installed"], answer.json["plan"]["version"]) == (None, "1.0.0")
    assert answer.json["plan"]["scripts_refused"] == []
    assert installed(toolcrib) == []


def test_a_package_is_added_called_updated_rolled_back_and_uninstalled(
    toolcrib: CommandLine, tarball: str, tmp_path: Path
) -> None:
    added = toolcrib("add", tarball, "--yes", "--offline", "--json", "--lazy", "--", "one", "two")
    assert added.code == 0, added
    assert toolcrib.config()["mcpServers"]["tiny"] == {
        "type": "npm",
        "package": "tiny-server",
        "version": "1.0.0",
        "args": ["one", "two"],
        "lazy": True,
    }
    told = json.loads(toolcrib("call", "tiny__tell").out)
    assert (told["version"], told["args"]) == ("1.0.0", ["one", "two"])

    newer = str(npm_tarball(tmp_path / "newer", "1.1.0"))
    updated = toolcrib("update", "tiny", newer, "--yes", "--offline")
    assert "updated to 1.1.0" in updated.out
    assert json.loads(toolcrib("call", "tiny__tell").out)["version"] == "1.1.0"
    assert toolcrib.config()["mcpServers"]["tiny"]["version"] == "1.1.0"

    assert "back at 1.0.0" in toolcrib("rollback", "tiny").out
    assert toolcrib.config()["mcpServers"]["tiny"]["version"] == "1.0.0"
    assert toolcrib("uninstall", "tiny").code == 4
    assert toolcrib("uninstall", "tiny", "--yes").code == 0
    assert toolcrib("uninstall", "tiny", "--yes").code == 3
    assert "tiny" not in toolcrib.config()["mcpServers"]


def test_what_is_in_place_already_is_not_installed_again(toolcrib: CommandLine, tarball: str) -> None:
    toolcrib("add", "tiny", tarball, "--yes", "--offline")

    answer = toolcrib("update", "tiny", "--yes", "--offline", "--json").json

    assert (answer["updated"], answer["plan"], answer["installed"]) == (False, None, None)


def test_a_running_host_changes_over_by_itself(
    toolcrib: CommandLine, up: Process, tarball: str, tmp_path: Path
) -> None:
    added = toolcrib("add", "tiny", tarball, "--yes", "--offline", "--json")
    assert added.json["server"]["state"] == "ready"

    toolcrib("update", "tiny", str(npm_tarball(tmp_path / "newer", "1.1.0")), "--yes", "--offline")
    assert json.loads(toolcrib("call", "tiny__tell").out)["version"] == "1.1.0"
    toolcrib("rollback", "tiny")
    assert json.loads(toolcrib("call", "tiny__tell").out)["version"] == "1.0.0"

    toolcrib("uninstall", "tiny", "--yes")
    assert "tiny" not in toolcrib.states()


def test_a_bundle_asks_and_its_secret_is_kept_as_one(toolcrib: CommandLine, tmp_path: Path) -> None:
    file = str(bundle(tmp_path / "hello.mcpb", manifest()))

    missing = toolcrib("add", file, "--yes", "--json")
    assert (missing.code, "--set dirs=" in missing.error["hint"]) == (2, True)
    assert installed(toolcrib) == []

    added = toolcrib(
        "add", file, "--yes", "--json", "--set", "dirs=/a", "--set", "dirs=/b", "--set", "key=hunter2"
    )
    assert added.code == 0, added
    assert toolcrib.config()["mcpServers"]["hello"]["env"]["API_KEY"] == "${secret:hello.key}"
    assert "hunter2" not in (toolcrib.home / "mcp.json").read_text()
    told = json.loads(toolcrib("call", "hello__tell").out)
    assert (told["args"], told["env"]["API_KEY"]) == (["/a", "/b"], "hunter2")


def test_a_secret_variable_of_an_installed_server_is_kept_as_one(toolcrib: CommandLine, tarball: str) -> None:
    toolcrib("add", tarball, "--yes", "--offline", "--env", "API_KEY=sk-abcdefghijklmnop1234")

    assert toolcrib.config()["mcpServers"]["tiny"]["env"] == {"API_KEY": "${secret:tiny.API_KEY}"}
    assert json.loads(toolcrib("call", "tiny__tell").out)["env"]["API_KEY"] == "sk-abcdefghijklmnop1234"


def test_a_name_that_is_taken_is_told_before_anything_is_fetched(toolcrib: CommandLine, tarball: str) -> None:
    answer = toolcrib("add", "demo", tarball, "--yes", "--offline", "--json")

    assert (answer.code, "--replace" in answer.error["hint"]) == (2, True)
    assert toolcrib("add", "demo", tarball, "--yes", "--offline", "--replace").code == 0


def test_a_damaged_installation_is_repaired(toolcrib: CommandLine, tarball: str) -> None:
    toolcrib("add", "tiny", tarball, "--yes", "--offline", "--env", "MODE=quiet")
    before = toolcrib.config()["mcpServers"]["tiny"]
    (toolcrib.home / "data" / "servers" / "tiny" / "current" / "launch.json").unlink()

    assert "toolcrib install tiny" in toolcrib("test", "tiny").err
    assert toolcrib("install", "tiny", "--yes", "--offline").code == 0

    assert toolcrib.config()["mcpServers"]["tiny"] == before
    assert json.loads(toolcrib("call", "tiny__tell").out)["version"] == "1.0.0"


def test_an_entry_that_names_a_package_is_installed_on_request(toolcrib: CommandLine, tarball: str) -> None:
    toolcrib("servers")
    document = toolcrib.config()
    document["mcpServers"]["tiny"] = {"type": "npm", "tarballPath": tarball, "args": ["x"]}
    (toolcrib.home / "mcp.json").write_text(json.dumps(document))

    assert toolcrib("install", "tiny", "--yes", "--offline").code == 0

    # Installing is no word for an entry that somebody else wrote.
    assert toolcrib("trust", "tiny", "--yes").code == 0
    assert json.loads(toolcrib("call", "tiny__tell").out)["args"] == ["x"]
    assert toolcrib("install", "nobody", "--yes").code == 3
    assert toolcrib("install", "demo", "--yes").code == 2


def test_a_command_that_names_a_file_is_still_a_command(toolcrib: CommandLine, tmp_path: Path) -> None:
    script = tmp_path / "server.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)

    toolcrib("add", "mine", "--yes", "--", str(script), "--flag")

    assert toolcrib.config()["mcpServers"]["mine"]["command"] == str(script)


def test_a_relative_path_is_understood_from_here(toolcrib: CommandLine, tmp_path: Path) -> None:
    file = wheel(tmp_path)

    done = subprocess.run(
        ["toolcrib", "add", "tiny", f"./{file.name}", "--yes", "--offline"],
        executable=str(Path(sys.executable).with_name("toolcrib")),
        cwd=tmp_path,
        env=toolcrib.environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done
    assert json.loads(toolcrib("call", "tiny__tell").out)["version"] == "1.0.0"


def documented(section: str) -> Any:
    """The example of a section of docs/json-output.md."""
    found = re.search(
        rf"^## `{section}`$.*?```json\n(.*?)```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL
    )
    assert found is not None
    return json.loads(found[1])


def test_the_documented_json_is_the_printed_one(toolcrib: CommandLine, tarball: str, tmp_path: Path) -> None:
    added = toolcrib("add", "tiny", tarball, "--yes", "--offline", "--json").json
    (found,) = toolcrib("outdated", "--json").json
    newer = str(npm_tarball(tmp_path / "newer", "1.1.0"))
    updated = toolcrib("update", "tiny", newer, "--yes", "--offline", "--json").json
    again = toolcrib("install", "tiny", "--yes", "--offline", "--json").json
    back = toolcrib("rollback", "tiny", "--json").json
    gone = toolcrib("uninstall", "tiny", "--yes", "--json").json

    example = documented("install")
    for key in ("plan", "installed"):
        assert list(added[key]) == list(again[key]) == list(updated[key]) == list(example[key])
    assert list(added) == list(again) == list(example)
    assert list(found) == list(documented("outdated")[0])
    assert list(updated) == list(documented("update"))
    assert list(back) == list(documented("rollback"))
    assert list(gone) == list(documented("uninstall"))


def test_what_runs_before_the_server_is_named_and_does_not_run_while_it_is_installed(
    toolcrib: CommandLine, tmp_path: Path
) -> None:
    mark = tmp_path / "ran"
    hook = {"evil.pth": f"import os; open({str(mark)!r}, 'w')\n"}
    file = str(wheel(tmp_path / "wheels", more=hook))

    added = toolcrib("add", file, "--disabled", "--no-test", "--yes", "--offline")
    document = toolcrib.config()
    document["mcpServers"]["tiny"]["args"] = ["--changed"]
    (toolcrib.home / "mcp.json").write_text(json.dumps(document))
    shown = toolcrib("trust", "tiny", "--json").json["servers"][0]

    assert added.code == 0, added
    assert "evil.pth" in added.err
    assert any("evil.pth" in remark for remark in shown["remarks"])
    assert not mark.exists()
