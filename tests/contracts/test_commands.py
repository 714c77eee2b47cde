"""Every command, of `cli/commands` or made from an operation, has a help text and `--json`."""

from __future__ import annotations

import click
import pytest

from toolcrib.cli.entry import program
from toolcrib.cli.group import FOLDER
from toolcrib.feature import FEATURES
from toolcrib.operations.index import COMMANDS, FEATURE_COMMANDS
from toolcrib.operations.registry import feature_of
from toolcrib.plugins import names

PROGRAM = program()
NAMES = PROGRAM.list_commands(click.Context(PROGRAM))
MISSING = {name for name, module in FEATURE_COMMANDS.items() if feature_of(module) not in names(FEATURES)}
"""Commands that only say that their feature is not installed."""


@pytest.mark.parametrize("name", sorted({*NAMES} - MISSING))
def test_a_command_has_a_name_and_a_help_text(name: str) -> None:
    command = PROGRAM.get_command(click.Context(PROGRAM), name)

    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.help
    context = click.Context(command, info_name=name)
    assert command.get_short_help_str()
    assert "--json" in command.get_help(context)


def test_no_command_is_both_a_module_and_made_from_an_operation() -> None:
    assert not {*names(FOLDER)} & {*COMMANDS}
    assert len(NAMES) == len(names(FOLDER)) + len(COMMANDS) + len(FEATURE_COMMANDS)
