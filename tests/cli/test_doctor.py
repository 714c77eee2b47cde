"""`toolcrib doctor`: what is broken, what is odd, and what to do."""

from __future__ import annotations

from typing import Any

from tests.cli.command_line import Answer, CommandLine, Process


def checks(answer: Answer) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in answer.json["checks"]}


def test_a_new_home_is_sound(toolcrib: CommandLine) -> None:
    answer = toolcrib("doctor", "--json")

    found = checks(answer)
    assert (answer.code, answer.json["ok"]) == (0, True)
    for name in (
        "config",
        "database",
        "home",
        "keyring",
        "network",
        "orphans",
        "node",
        "npm",
        "uv",
        "python",
    ):
        assert found[name]["verdict"] != "broken"
    assert found["server demo"]["verdict"] == "ok"
    assert all(set(check) == {"name", "verdict", "detail", "hint"} for check in answer.json["checks"])


def test_a_server_that_does_not_start_is_broken_and_there_is_something_to_do(toolcrib: CommandLine) -> None:
    toolcrib("add", "absent", "--yes", "--as-is", "--", "/no/such/program")

    answer = toolcrib("doctor", "--json")

    absent = checks(answer)["server absent"]
    assert (answer.code, answer.json["ok"]) == (1, False)
    assert (absent["verdict"], bool(absent["hint"])) == ("broken", True)
    assert "/no/such/program" in absent["detail"]
    assert toolcrib("doctor").code == 1


def test_a_config_that_cannot_be_read_does_not_silence_the_doctor(toolcrib: CommandLine) -> None:
    (toolcrib.home / "mcp.json").write_text("{")

    answer = toolcrib("doctor", "--json")

    assert answer.code == 1
    assert checks(answer)["config"]["verdict"] == "broken"
    assert "line 1" in checks(answer)["config"]["detail"]
    assert checks(answer)["python"]["verdict"] == "ok"


def test_a_damaged_database_does_not_silence_the_doctor(toolcrib: CommandLine) -> None:
    (toolcrib.home / "data").mkdir()
    (toolcrib.home / "data" / "toolcrib.db").write_text("no database at all, but quite long " * 100)

    answer = toolcrib("doctor", "--json")

    assert answer.code == 1
    assert checks(answer)["database"]["verdict"] == "broken"


def test_an_authority_that_is_not_there_is_broken(toolcrib: CommandLine) -> None:
    answer = toolcrib("doctor", "--json", SSL_CERT_FILE="/no/such/file")

    assert checks(answer)["network"]["verdict"] == "broken"
    assert "SSL_CERT_FILE" in checks(answer)["network"]["hint"]


def test_files_that_others_can_read_are_closed_to_them(toolcrib: CommandLine) -> None:
    toolcrib("servers")
    (toolcrib.home / "mcp.json").chmod(0o644)

    answer = toolcrib("doctor", "--json")

    assert checks(answer)["home"]["verdict"] == "ok"
    assert (toolcrib.home / "mcp.json").stat().st_mode & 0o777 == 0o600


def test_the_running_host_is_pointed_to(toolcrib: CommandLine, up: Process) -> None:
    host = checks(toolcrib("doctor", "--json"))["host"]

    assert host["verdict"] == "ok"
    assert str(up.pid) in host["detail"]


def test_the_text_has_a_line_for_each_check(toolcrib: CommandLine) -> None:
    lines = toolcrib("doctor").out.splitlines()

    assert any(line.startswith("✓ config") for line in lines)
    assert lines[-1] == "No problems found."
