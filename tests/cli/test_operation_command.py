"""A command that is made from an operation: arguments, options, and the line that it prints."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from toolcrib.cli.operation_command import make_command
from toolcrib.operations.command import Command, Parameter

SEARCH = make_command(
    "search_servers",
    Command(
        section="Servers",
        help="Find servers.",
        done="{total} servers for {query}.",
        done_without=("total", "No server for {query}."),
        parameters=(
            Parameter("query", required=True),
            Parameter("limit", type="int", metavar="N", help="Maximum number."),
        ),
    ),
)
OPTIONS = make_command(
    "anything",
    Command(
        section="Servers",
        help="Do anything.",
        parameters=(Parameter("dry_run", type="bool"), Parameter("scope", choices=("once", "always"))),
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


@pytest.mark.parametrize("args", [(), ("files", "--limit", "many")])
def test_arguments_that_do_not_fit_are_refused(args: tuple[str, ...]) -> None:
    with pytest.raises(click.UsageError):
        SEARCH.main(list(args), standalone_mode=False)
