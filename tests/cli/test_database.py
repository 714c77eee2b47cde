"""`toolcrib database` moves the data of a home to a shared database and back."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.cli.command_line import SMALL_SERVER, CommandLine, Process
from tests.databases.postgres import postgres, postgres_url

__all__ = ["postgres", "postgres_url"]


def with_login(url: str) -> str:
    return url.replace("postgres@", "postgres:hunter2@")


def own(toolcrib: CommandLine) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((toolcrib.home / "mcp.json").read_text()).get("toolcrib", {})
    return found


def everything(home: Path) -> str:
    """All text files of a home, without its secrets."""
    files = (file for file in home.rglob("*") if file.is_file() and file.name != "secrets.json")
    return "".join(file.read_text(errors="replace") for file in files)


def key_of(toolcrib: CommandLine) -> str:
    key: str = toolcrib("database", "key", "--json").json["key"]
    return key


@pytest.fixture
def used(toolcrib: CommandLine) -> CommandLine:
    """A home with a call, a rule, a profile and a token."""
    assert toolcrib("call", "demo__add", "a=1", "b=2").code == 0
    assert toolcrib("policy", "add", "deny", "demo/add", "--is", "a=7").code == 0
    assert toolcrib("profiles", "add", "team", "--tool", "demo__*").code == 0
    assert toolcrib("profiles", "token", "team").code == 0
    return toolcrib


def test_everything_is_moved_to_a_shared_database_and_back(used: CommandLine, postgres_url: str) -> None:
    tokens = own(used)["profiles"]["team"]
    plan = used("database", "move", with_login(postgres_url), "--json").json
    assert plan["moved"] is False
    assert {row["table"]: row["rows"] for row in plan["tables"]}["calls"] == 1

    moved = used("database", "move", with_login(postgres_url), "--json", "--yes").json

    assert {row["table"]: row["added"] for row in moved["tables"]}["approval_rules"] == 1
    assert moved["profiles"] == 1
    assert own(used) == {"database": postgres_url}
    assert "hunter2" not in everything(used.home)
    assert used("database", "show", "--json").json["shared"] is True
    assert used("audit", "--json").json[0]["tool"] == "demo__add"
    assert used("profiles", "--json").json[1]["token"] is True
    assert used("call", "demo__add", "a=3", "b=4").code == 0

    back = used("database", "move", "sqlite", "--json", "--yes").json

    assert {row["table"]: row["added"] for row in back["tables"]}["calls"] == 2
    assert own(used) == {"profiles": {"team": tokens}}
    assert Path(back["backup"]).exists()
    assert used("database", "show", "--json").json["tables"]["approval_rules"] == 1


def test_a_move_can_be_repeated_and_brings_back_nothing_that_was_removed(
    used: CommandLine, postgres_url: str
) -> None:
    assert used("database", "move", postgres_url, "--yes").code == 0
    rule = used("policy", "--json").json["rules"][0]["id"]
    assert used("policy", "remove", rule, "--yes").code == 0
    used("settings", "unset", "database")
    used("call", "demo__add", "a=5", "b=6")

    again = used("database", "move", postgres_url, "--json", "--yes").json

    added = {row["table"]: row["added"] for row in again["tables"]}
    assert again["repeated"] is True
    assert (added["calls"], added["approval_rules"]) == (1, 0)


def test_the_data_of_another_crib_is_only_merged_on_request(
    used: CommandLine, postgres_url: str, tmp_path: Path
) -> None:
    other = CommandLine(tmp_path / "other")
    other("call", "demo__add", "a=9", "b=9")
    assert used("database", "move", postgres_url, "--yes").code == 0

    refused = other("database", "move", postgres_url, "--json", "--yes")
    assert "already holds the data of another crib" in refused.error["message"]
    assert "database" not in own(other)

    without = other("database", "move", postgres_url, "--merge", "--json", "--yes")
    assert without.error["kind"] == "database_key_missing"
    assert "database" not in own(other)
    key = key_of(used)
    assert other("database", "move", postgres_url, "--merge", "--yes", TOOLCRIB_DATABASE_KEY=key).code == 0
    assert len(used("audit", "--json").json) == 2


def test_a_running_host_must_be_stopped_first(toolcrib: CommandLine, up: Process, postgres_url: str) -> None:
    refused = toolcrib("database", "move", postgres_url, "--json", "--yes")

    assert refused.error["kind"] == "host_running"


def test_a_setting_that_cannot_be_reached_is_refused_and_can_be_removed(toolcrib: CommandLine) -> None:
    nowhere = "postgresql://someone:hunter2@127.0.0.1:1/nowhere"
    refused = toolcrib("settings", "set", "database", nowhere, "--json")
    assert "cannot be used" in refused.error["message"]
    assert "hunter2" not in refused.out

    document = {"toolcrib": {"database": nowhere.replace(":hunter2", "")}}
    (toolcrib.home / "mcp.json").write_text(json.dumps(document))
    assert toolcrib("servers", "--json").error["kind"] == "database_unreachable"
    checks = toolcrib("doctor", "--json").json["checks"]
    assert [check["verdict"] for check in checks if check["name"] == "database"] == ["broken"]
    assert toolcrib("settings", "unset", "database", "--json").code == 0
    assert toolcrib("servers", "--json").code == 0


def test_a_password_in_the_config_file_is_refused(toolcrib: CommandLine) -> None:
    document = {"toolcrib": {"database": "postgresql://someone:hunter2@127.0.0.1/x"}}
    (toolcrib.home / "mcp.json").write_text(json.dumps(document))

    refused = toolcrib("servers", "--json")

    assert "without a password" in refused.error["message"]
    assert "hunter2" not in refused.out


def test_the_setting_hides_the_password_and_reuses_it_for_the_same_server(
    toolcrib: CommandLine, postgres_url: str
) -> None:
    saved = toolcrib("settings", "set", "database", with_login(postgres_url), "--json")

    assert saved.json["value"] == postgres_url
    assert "hunter2" not in saved.out + everything(toolcrib.home)
    assert "database-password" in toolcrib("secret", "--json").out
    assert toolcrib("settings", "set", "database", postgres_url).code == 0
    assert "database-password" in toolcrib("secret", "--json").out
    toolcrib("settings", "unset", "database")
    assert "database-password" not in toolcrib("secret", "--json").out


@pytest.mark.parametrize("password", ["Hash#Pw9", "What?Pw9", "sslpassword=Pw9"])
def test_no_password_is_written_or_shown_in_any_form_of_the_url(
    toolcrib: CommandLine, postgres_url: str, password: str
) -> None:
    as_query = password.startswith("sslpassword")
    given = f"{postgres_url}&{password}" if as_query else postgres_url.replace("@", f":{password}@")

    saved = toolcrib("settings", "set", "database", given, "--json")
    told = [
        toolcrib(*words, "--json").out
        for words in (("settings", "list"), ("database", "show"), ("doctor",), ("servers",))
    ]

    assert saved.json["value"] == postgres_url
    assert "Pw9" not in saved.out + "".join(told) + everything(toolcrib.home)
    key = "sslpassword" if as_query else "password"
    assert f"database-{key}" in toolcrib("secret", "--json").out


def test_a_url_that_libpq_reads_otherwise_is_refused_without_repeating_it(toolcrib: CommandLine) -> None:
    refused = toolcrib("settings", "set", "database", "postgresql://crib:Sla/shPw9@127.0.0.1/crib", "--json")

    assert "cannot be used" in refused.error["message"]
    assert "%2F" in refused.error["hint"]
    assert "shPw9" not in refused.out + refused.err


def test_another_machine_needs_the_key_of_the_database(
    used: CommandLine, postgres_url: str, tmp_path: Path
) -> None:
    other = CommandLine(tmp_path / "other")
    assert used("database", "move", postgres_url, "--yes").code == 0
    key = key_of(used)
    assert key not in everything(used.home) + used("secret", "--json").out
    assert "only shown on a terminal" in used("database", "key").err

    refused = other("settings", "set", "database", postgres_url, "--json")
    assert (refused.error["kind"], "toolcrib database key" in refused.error["hint"]) == (
        "database_key_missing",
        True,
    )
    wrong = tmp_path / "wrong"
    wrong.write_text(f"tckey_{'0' * 64}\n")
    refused = other("settings", "set", "database", postgres_url, "--database-key-file", str(wrong), "--json")
    assert "another key" in refused.error["message"]
    assert "database" not in own(other)

    file = tmp_path / "key"
    file.write_text(f"{key}\n")
    assert other("settings", "set", "database", postgres_url, "--database-key-file", str(file)).code == 0
    assert [rule["effect"] for rule in other("policy", "--json").json["rules"]] == ["deny"]
    assert key_of(other) == key


def test_a_host_without_the_key_does_not_start_until_it_is_set(
    used: CommandLine, postgres_url: str, tmp_path: Path
) -> None:
    other = CommandLine(tmp_path / "other")
    assert used("database", "move", postgres_url, "--yes").code == 0
    other.home.mkdir()
    (other.home / "mcp.json").write_text(json.dumps({"toolcrib": {"database": postgres_url}}))

    assert other("servers", "--json").error["kind"] == "database_key_missing"
    checks = other("doctor", "--json").json["checks"]
    assert [check["verdict"] for check in checks if check["name"] == "database"] == ["broken"]
    assert other("servers", "--json", TOOLCRIB_DATABASE_KEY=key_of(used)).code == 0
    key = {"TOOLCRIB_DATABASE_KEY": key_of(used)}
    assert other("settings", "set", "database", postgres_url, **key).code == 0
    assert other("servers", "--json").code == 0


def test_a_new_key_signs_what_was_valid(used: CommandLine, postgres_url: str, tmp_path: Path) -> None:
    assert used("database", "move", postgres_url, "--yes").code == 0
    rule = {"effect": "allow", "server": "*", "tool": "*"}
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        insert = "INSERT INTO approval_rules (id, rule, made_at) VALUES ('forged', %s, 1)"
        connection.execute(insert, (json.dumps(rule),))
    before = key_of(used)

    rotated = used("database", "key", "--rotate", "--yes", "--json").json

    assert rotated["key"] not in (before, "")
    assert [each["effect"] for each in used("policy", "--json").json["rules"]] == ["deny"]
    assert used("profiles", "--json").json[1]["token"] is True
    shown = used("database", "sign", "--json").json
    assert [(row["kind"], row["id"]) for row in shown["rows"]] == [("approval rule", "forged")]
    assert used("database", "sign", "--remove", "--yes").code == 0
    assert used("database", "sign", "--json").json["rows"] == []


def test_trust_that_is_only_in_the_earlier_database_is_said(toolcrib: CommandLine, postgres_url: str) -> None:
    toolcrib.extra["TOOLCRIB_TRUST_CONFIG"] = "0"
    toolcrib("servers")
    document = toolcrib.config()
    document["mcpServers"]["small"] = {"command": sys.executable, "args": [str(SMALL_SERVER)]}
    (toolcrib.home / "mcp.json").write_text(json.dumps(document))
    assert toolcrib("trust", "small", "--yes").code == 0

    there = toolcrib("settings", "set", "database", postgres_url)
    assert toolcrib("trust", "small", "--yes").code == 0
    back = toolcrib("settings", "unset", "database", "--json")

    assert "only in the earlier database, so they will not start: small" in there.err
    assert "toolcrib trust small" in there.err
    assert back.json["untrusted"] == [], "the file still has it"
