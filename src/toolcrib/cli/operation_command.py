"""Makes the command of an operation: arguments and options from its parameters, one line from its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import CliCommand, make_cli_command
from toolcrib.cli.output import say
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.operations.command import Command, Parameter

_TYPES = {"str": click.STRING, "int": click.INT, "float": click.FLOAT}


def make_command(operation: str, command: Command) -> CliCommand:
    """The command that runs this operation."""

    async def run(surface: Surface, **values: Any) -> None:
        # An option that is not given keeps the default of the operation.
        given = {name: value for name, value in values.items() if value is not None and value is not False}
        async with surface.reach() as client:
            result = await getattr(client, operation)(**given)
        if not surface.answer(result):
            say(_line(command, result))

    parameters = [_parameter(parameter) for parameter in command.parameters]
    return make_cli_command(operation, run, section=command.section, parameters=parameters, help=command.help)


def _parameter(parameter: Parameter) -> click.Parameter:
    completes = getattr(completion, parameter.completes) if parameter.completes else None
    kind = click.Choice(parameter.choices) if parameter.choices else _TYPES.get(parameter.type)
    if parameter.required:
        return click.Argument([parameter.name], type=kind, shell_complete=completes)
    return click.Option(
        [f"--{parameter.name.replace('_', '-')}", parameter.name],
        type=kind,
        is_flag=parameter.type == "bool",
        metavar=parameter.metavar or None,
        help=parameter.help,
        shell_complete=completes,
    )


def _line(command: Command, result: Mapping[str, Any]) -> str:
    server = result.get("server", result) if command.shows_server else None
    if server is not None:
        from toolcrib.cli.commands.servers import describe

        return describe(server)
    key, without = command.done_without
    return (without if key and not result[key] else command.done).format_map(result)
