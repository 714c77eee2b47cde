"""A database that was emptied, deleted or replaced is reported by every command until that is confirmed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine


def _delete(database: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        database.with_name(database.name + ending).unlink(missing_ok=True)


def _empty(database: Path) -> None:
    _delete(database)
    database.touch()


@pytest.mark.parametrize("change", [_empty, _delete])
def test_every_command_reports_a_lost_database_until_it_is_confirmed(toolcrib: CommandLine, change) -> None:
    assert toolcrib("policy", "add", "deny", "demo/add").code == 0
    assert "warning" not in toolcrib("servers").err
    database = toolcrib.home / "data" / "toolcrib.db"
    copy = database.parent / "backups" / "toolcrib-v9-20260101T000000.db"
    copy.parent.mkdir(exist_ok=True)
    shutil.copy(database, copy)
    change(database)

    for command in (["servers", "--json"], ["policy", "list", "--json"], ["servers", "--json"]):
        answer = toolcrib(*command)
        assert answer.code == 0
        assert isinstance(answer.json, dict | list)
        assert "a new one was created" in answer.err
        assert f"&& cp {copy} {database}" in answer.err
    checks = toolcrib("doctor", "--json").json["checks"]
    assert any("a new one was created" in check["detail"] for check in checks if check["name"] == "database")

    _delete(database)
    shutil.copy(copy, database)
    assert toolcrib("servers").code == 0  # the first to open it
    assert "warning" not in toolcrib("servers").err
    assert [rule["effect"] for rule in toolcrib("policy", "list", "--json").json["rules"]] == ["deny"]


def test_doctor_names_what_an_interrupted_restore_left(toolcrib: CommandLine) -> None:
    left = toolcrib.home / "data" / ".restore-1-x"
    left.mkdir(parents=True)

    checks = toolcrib("doctor", "--json").json["checks"]

    assert any(str(left) in check["detail"] and str(left) in check["hint"] for check in checks)
