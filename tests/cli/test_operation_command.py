"""A command that is made from an operation: arguments, options, and the line or the table that it prints."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from toolcrib.cli.operation_command import make_command
from toolcrib.operations.command import Column, Command, CommandParameter

SEARCH = make_command(
    "search_servers",
    Command(
        section="Servers",
        help="Find servers.",
        done="{total} servers for {query}.",
        done_without=("total", "No server for {query}."),
        parameters=(
            CommandParameter("query", required=True),
            CommandParameter("limit", type="int", metavar="N", help="Maximum number."),
        ),
    ),
)
OPTIONS = make_command(
    "anything",
    Command(
        section="Servers",
        help="Do anything.",
        parameters=(
            CommandParameter("dry_run", type="bool"),
            CommandParameter("scope", choices=("once", "always")),
        ),
    ),
)
LISTED = make_command(
    "secret_list",
    Command(
        name="secret list",
        help="List the secrets.",
        columns=(
            Column("NAME", "{name}", right=True),
            Column("PLACE", "{place}|missing"),
            Column("KNOWN", "{place:=yes}|no"),
            Column("SERVERS", "{servers:list}|-"),
        ),
        empty="No secrets.",
        row_note="{name} is in the {place}.",
    ),
)


def run(home: Path, *args: str) -> None:
    SEARCH.main([*args, "--home", str(home)], standalone_mode=False)


def test_a_command_is_named_after_its_operation() -> None:
    assert SEARCH.name == "search-servers"
    assert "--limit N" in SEARCH.get_help(click.Context(SEARCH))


def test_it_prints_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, "time")
    run(tmp_path, "xyzzy")

    found, nothing = capsys.readouterr().out.splitlines()
    assert found.endswith("servers for time.")
    assert nothing == "No server for xyzzy."


def test_options_reach_the_operation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, "files", "--limit", "1", "--json")

    assert len(json.loads(capsys.readouterr().out)["servers"]) == 1


def test_flags_and_choices() -> None:
    params = OPTIONS.make_context("anything", ["--dry-run", "--scope", "once"]).params

    assert (params["dry_run"], params["scope"]) == (True, "once")
    with pytest.raises(click.UsageError):
        OPTIONS.make_context("anything", ["--scope", "never"])


def test_a_list_is_a_table_with_a_note_for_each_row_that_has_its_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = {"command": "cat", "env": {"KEY": "${secret:absent}"}}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"one": entry, "two": entry}}))
    secrets = {"version": 1, "secrets": {"key": "value"}, "keyring": []}
    (tmp_path / "secrets.json").write_text(json.dumps(secrets))

    assert LISTED.name == "list"
    LISTED.main(["--home", str(tmp_path)], standalone_mode=False)

    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "  NAME  PLACE    KNOWN  SERVERS",
        "absent  missing  no     one, two",
        "   key  file     yes    -",
    ]
    assert printed.err == "key is in the file.\n"


def test_an_empty_list_is_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mcp.json").write_text("{}")

    LISTED.main(["--home", str(tmp_path)], standalone_mode=False)

    assert capsys.readouterr() == ("", "No secrets.\n")


@pytest.mark.parametrize("args", [(), ("files", "--limit", "many")])
def test_arguments_that_do_not_fit_are_refused(args: tuple[str, ...]) -> None:
    with pytest.raises(click.UsageError):
        SEARCH.main(list(args), standalone_mode=False)
