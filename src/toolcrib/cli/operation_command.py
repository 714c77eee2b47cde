"""Makes the command of an operation: its parameters from the operation's, a line or a table of the result.
Formats of cells (date, duration, size, list)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from string import Formatter
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import CliCommand, make_cli_command
from toolcrib.cli.output import note, say, show_table
from toolcrib.cli.times import duration, local, parse_since, size

if TYPE_CHECKING:
    from toolcrib.cli.surface import Surface
    from toolcrib.operations.command import Column, Command, CommandParameter

_TYPES = {"str": click.STRING, "int": click.INT, "float": click.FLOAT}
_FORMATS: dict[str, Callable[[Any], str]] = {
    "date": lambda moment: str(moment)[:10],
    "duration": duration,
    "list": ", ".join,
    "local": local,
    "size": size,
    "versions": lambda found: ", ".join(version["version"] for version in found),
}
"""The formats of `Column.text`."""


def make_command(operation: str, command: Command) -> CliCommand:
    """The command that runs this operation."""
    times = {parameter.name for parameter in command.parameters if parameter.type == "datetime"}

    async def run(surface: Surface, **values: Any) -> None:
        # An option that is not given keeps the default of the operation.
        given = {name: value for name, value in values.items() if value is not None and value is not False}
        given |= {name: parse_since(given[name]).isoformat() for name in times & given.keys()}
        async with surface.reach() as client:
            result = await getattr(client, operation)(**given)
        if surface.answer(result):
            return
        if command.columns:
            _show_list(command, result)
        else:
            say(_line(command, result))

    name = command.name.rpartition(" ")[2] or operation
    parameters = [_parameter(parameter) for parameter in command.parameters]
    return make_cli_command(name, run, section=command.section, parameters=parameters, help=command.help)


def _parameter(parameter: CommandParameter) -> click.Parameter:
    completes = getattr(completion, parameter.completes) if parameter.completes else None
    if parameter.required or parameter.argument:
        return click.Argument(
            [parameter.name],
            type=_kind(parameter),
            required=parameter.required,
            shell_complete=completes,
        )
    names = [f"--{parameter.name.replace('_', '-')}", parameter.name]
    return click.Option(
        [*names, parameter.short] if parameter.short else names,
        type=_kind(parameter),
        is_flag=parameter.type == "bool",
        default=parameter.default,
        show_default=parameter.default is not None,
        metavar=parameter.metavar or None,
        help=parameter.help,
        shell_complete=completes,
    )


def _kind(parameter: CommandParameter) -> click.ParamType[Any] | None:
    if parameter.choices:
        return click.Choice(parameter.choices)
    return click.IntRange(*parameter.limits) if parameter.limits else _TYPES.get(parameter.type)


def _line(command: Command, result: Mapping[str, Any]) -> str:
    server = result.get("server", result) if command.shows_server else None
    if server is not None:
        from toolcrib.cli.commands.servers import describe

        return describe(server)
    key, without = command.done_without
    return (without if key and not result[key] else command.done).format_map(result)


def _show_list(command: Command, rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:
        note(command.empty)
        return
    columns = command.columns
    show_table(
        [column.header for column in columns],
        [[_text(column.text, row) for column in columns] for row in rows],
        colour=lambda number, text: _colour(columns[number], text),
        right=[number for number, column in enumerate(columns) if column.right],
    )
    for row in rows:
        if text := _text(command.row_note, row):
            note(text)


def _text(texts: str, row: Mapping[str, Any]) -> str:
    """The first of the texts, separated by `|`, whose values are not empty."""
    for text in texts.split("|"):
        with suppress(LookupError, TypeError):  # `error[message]` of a row without an error
            return _CellFormatter().vformat(text, (), row)
    return ""


class _CellFormatter(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if not value and (value is False or not isinstance(value, int | float)):
            raise LookupError
        if format_spec.startswith("="):
            return format_spec[1:]
        return _FORMATS.get(format_spec, str)(value)


def _colour(column: Column, text: str) -> str:
    colours = dict(column.colours)
    return colours.get(text, colours.get("", ""))
