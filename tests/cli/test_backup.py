"""`toolcrib backup` and `toolcrib restore`, without a host and beside a running one."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.cli.test_json_promise import examples, shape
from tests.cli.waiting import eventually


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "my.backup"


PAGE = Path(__file__).parents[2] / "docs" / "backup.md"


def rules(toolcrib: CommandLine) -> list[str]:
    return [rule["effect"] for rule in toolcrib("policy", "list", "--json").json["rules"]]


def test_a_backup_is_made_shown_and_restored(toolcrib: CommandLine, file: Path) -> None:
    assert toolcrib("policy", "add", "deny", "demo/add").code == 0
    made = toolcrib("backup", str(file), "--json").json
    assert made["rows"]["approval_rules"] == 1
    assert shape(made) == shape(examples("backup")[0])
    assert "secrets" in made["left_out"]
    assert toolcrib("backup", str(file)).code == 2
    shown = toolcrib("backup", str(file), "--show")
    assert "1 approval rules" in shown.err
    assert toolcrib("policy", "add", "allow", "demo/divide").code == 0

    looked = toolcrib("restore", str(file), "--json").json
    dry = toolcrib("restore", str(file), "--dry-run", "--yes")
    refused = toolcrib("restore", str(file))
    assert (looked["restored"], dry.code, refused.code) == (False, 0, 4)
    assert rules(toolcrib) == ["deny", "allow"]

    restored = toolcrib("restore", str(file), "--json", "--yes").json

    assert (restored["restored"], restored["own"], restored["approvals"]) == (True, True, True)
    assert Path(restored["before"]).exists()
    assert shape(restored) == shape(examples("restore")[0])
    assert rules(toolcrib) == ["deny"]


def test_a_running_host_goes_on_with_the_restored_state(toolcrib: CommandLine, file: Path) -> None:
    host = toolcrib.start("up", "--json", "--port", "0", stdout=subprocess.PIPE)
    assert host.stdout is not None
    first = json.loads(host.stdout.readline())
    try:
        assert toolcrib("policy", "add", "deny", "demo/add").code == 0
        assert toolcrib("call", "demo__divide", "a=4", "b=2").code == 0
        made = toolcrib("backup", str(file), "--json").json
        assert made["rows"]["calls"] == 1
        assert toolcrib("policy", "add", "allow", "demo/divide").code == 0

        restored = toolcrib("restore", str(file), "--json", "--yes").json

        again = json.loads(host.stdout.readline())
        assert restored["reopened"] is True
        assert again["pid"] == first["pid"]
        assert rules(toolcrib) == ["deny"]
        assert toolcrib("call", "demo__divide", "a=4", "b=2").code == 0
    finally:
        host.send_signal(signal.SIGTERM)
        host.communicate(timeout=60)
    assert host.returncode == 0


@pytest.mark.acceptance
def test_a_host_opens_again_after_the_restoring_command_was_killed(toolcrib: CommandLine, file: Path) -> None:
    assert toolcrib("policy", "add", "deny", "demo/add").code == 0
    assert toolcrib("backup", str(file)).code == 0
    host = toolcrib.start("up", "--json", "--port", "0", stdout=subprocess.PIPE)
    assert host.stdout is not None
    host.stdout.readline()
    try:
        command = toolcrib.start("restore", str(file), "--yes", real=True)
        eventually(lambda: list((toolcrib.home / "data" / "backups").glob("before-restore-*.zip")))
        command.kill()
        command.communicate(timeout=60)

        assert eventually(lambda: rules(toolcrib) == ["deny"])
        assert toolcrib("call", "demo__divide", "a=4", "b=2").code == 0
    finally:
        host.send_signal(signal.SIGTERM)
        host.communicate(timeout=60)
    assert host.returncode == 0


@pytest.mark.acceptance
def test_a_passphrase_comes_from_a_file_or_stdin_and_never_from_elsewhere(
    toolcrib: CommandLine, file: Path, tmp_path: Path
) -> None:
    assert toolcrib("secret", "set", "token", stdin="hunter2-value").code == 0
    asked = toolcrib("backup", str(file), "--secrets")
    assert asked.code == 2
    assert "--passphrase-file" in asked.err
    made = toolcrib("backup", str(file), "--passphrase-file", "-", "--json", stdin="correct horse\n").json
    assert made["secrets"] == 1
    assert b"hunter2-value" not in file.read_bytes()

    other = CommandLine(tmp_path / "other", toolcrib.extra)
    without = other("restore", str(file), "--yes", "--json")
    assert without.json["restored"] is True
    assert other("secret", "list", "--json").json == []
    (tmp_path / "pass").write_text("wrong horse")
    wrong = other("restore", str(file), "--yes", "--json", "--passphrase-file", str(tmp_path / "pass"))
    assert wrong.error["kind"] == "backup_refused"
    (tmp_path / "pass").write_text("correct horse")
    right = other("restore", str(file), "--yes", "--json", "--passphrase-file", str(tmp_path / "pass"))

    assert right.json["secrets"]["new"] == ["token"]
    assert [secret["name"] for secret in other("secret", "list", "--json").json] == ["token"]


def test_servers_of_another_machine_are_shown_and_need_approval(
    toolcrib: CommandLine, file: Path, tmp_path: Path
) -> None:
    toolcrib.add("small")
    assert toolcrib("trust", "small", "--yes", TOOLCRIB_TRUST_CONFIG="0").code == 0
    assert toolcrib("backup", str(file)).code == 0
    other = CommandLine(tmp_path / "other", {**toolcrib.extra, "TOOLCRIB_TRUST_CONFIG": "0"})

    shown = other("restore", str(file), "--yes")

    assert "small_server.py" in shown.err
    assert "toolcrib trust small" in shown.err
    assert other.states()["small"] == "needs-trust"
    assert other("restore", str(file), "--yes", "--trust").code == 0
    assert other.states()["small"] == "ready"


@pytest.mark.acceptance
def test_installs_are_repeated_and_what_cannot_be_is_listed_with_what_to_do(
    toolcrib: CommandLine, file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "serve.py").write_text(Path(__file__).with_name("small_server.py").read_text())
    added = toolcrib("add", "mine", str(folder / "serve.py"), "--yes", "--json")
    assert added.code == 0, added
    made = toolcrib("backup", str(file), "--json").json
    assert [install["name"] for install in made["installs"]] == ["mine"]
    other = CommandLine(tmp_path / "other", toolcrib.extra)

    repeated = other("restore", str(file), "--yes", "--json").json

    assert repeated["installs"][0]["need"] == "install"
    assert repeated["failed"] == {}
    assert (other.home / "data" / "servers" / "mine" / "current").exists()

    (folder / "serve.py").rename(tmp_path / "elsewhere.py")
    folder.rmdir()
    third = CommandLine(tmp_path / "third", toolcrib.extra)
    listed = third("restore", str(file), "--yes")
    assert listed.code == 0
    assert f"Copy {folder}" in listed.err
    assert "toolcrib install mine" in listed.err


def test_a_full_disk_leaves_no_half_of_a_backup(toolcrib: CommandLine, tmp_path: Path) -> None:
    answer = toolcrib("backup", "/dev/full", "--replace", "--json")
    assert answer.code == 2
    answer = toolcrib("backup", str(tmp_path / "missing" / "b"), "--json")
    assert answer.error["hint"]
    assert not (tmp_path / "missing").exists()


@pytest.mark.acceptance
def test_the_commands_of_the_page_work_in_their_order(toolcrib: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "passphrase.txt").write_text("correct horse battery")
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    lines = [line.split() for block in blocks for line in block.splitlines()]
    assert len(lines) > 8

    for program, *words in lines:
        named = [str(tmp_path / word) if word.endswith((".backup", ".txt")) else word for word in words]
        answer = toolcrib(*named)
        assert program == "toolcrib"
        assert answer.code == 0, (words, answer)
