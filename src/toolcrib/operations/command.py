"""What an operation declares about its generated command: name, help, section, options, table columns,
colors, and the messages when it is done or there is nothing to list. `index.py` lists all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CommandParameter:
    """A parameter on the command line: an argument if required, else an option.

    `type` and what follows it are taken from the operation.
    """

    name: str
    help: str = ""
    metavar: str = ""
    completes: str = ""
    """The function of `cli/completion.py` that completes it."""
    short: str = ""
    """A second name of the option, such as `-n`."""
    argument: bool = False
    """An argument although it is not required."""
    type: Literal["str", "int", "float", "bool", "datetime"] = "str"
    required: bool = False
    choices: tuple[str, ...] = ()
    default: int | float | str | None = None
    """Only if there is something to show in the help."""
    limits: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    header: str
    text: str
    """A cell, formatted with its row: `{name}`, or `{time:local}` in a format of `cli/operation_command.py`.

    `{user}|-` shows the second text if the value is empty, and `{read_only:=yes}` shows `yes` if it is not.
    """
    right: bool = False
    colours: tuple[tuple[str, str], ...] = ()
    """Colours by text; an empty text is for all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Shown as `toolcrib OPERATION`, or as `name`."""

    name: str = ""
    """The group and the subcommand: `secret list`."""
    section: str = ""
    """The section of the help: Models, Host, Servers, Tools or Housekeeping; a subcommand has none."""
    help: str
    done: str = ""
    """The line to print, formatted with the result: `{name} is on.`"""
    done_without: tuple[str, str] = ("", "")
    """A key of the result, and the line to print if its value is empty."""
    shows_server: bool = False
    """Print the state of the server that the result is or has; `done` if it has none."""
    columns: tuple[Column, ...] = ()
    """The result is a list, printed as a table."""
    empty: str = ""
    """The note if the list is empty."""
    row_note: str = ""
    """The note below the table for each row that has these values: `{name}: {error[message]}`."""
    parameters: tuple[CommandParameter, ...] = ()


SERVER = CommandParameter("name", completes="servers")
"""The name of a configured server."""
