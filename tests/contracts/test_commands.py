"""Every command of `cli/commands` offers `command`, with a help text."""

from __future__ import annotations

import click
import pytest

from toolcrib import plugins

COMMANDS = "toolcrib.cli.commands"


@pytest.mark.parametrize("name", plugins.names(COMMANDS))
def test_a_command_has_a_name_and_a_help_text(name: str) -> None:
    command = plugins.find(COMMANDS, name).command

    assert isinstance(command, click.Command)
    assert command.help
    context = click.Context(command, info_name=name)
    assert command.get_short_help_str()
    assert "--json" in command.get_help(context)
