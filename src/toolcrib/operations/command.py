"""Commands that are generated from operations; `index.py` lists all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter on the command line: an argument if required, else an option.

    `type`, `required` and `choices` are taken from the operation.
    """

    name: str
    help: str = ""
    metavar: str = ""
    completes: str = ""
    """The function of `cli/completion.py` that completes it."""
    type: Literal["str", "int", "float", "bool"] = "str"
    required: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Shown as `toolcrib OPERATION`."""

    section: str
    """The section of the help: Models, Host, Servers, Tools or Housekeeping."""
    help: str
    done: str = ""
    """The line to print, formatted with the result: `{name} is on.`"""
    done_without: tuple[str, str] = ("", "")
    """A key of the result, and the line to print if its value is empty."""
    shows_server: bool = False
    """Print the state of the server that the result is or has; `done` if it has none."""
    parameters: tuple[Parameter, ...] = ()


SERVER = Parameter("name", completes="servers")
"""The name of a configured server."""
