"""Turns every error into a message or JSON, and an exit code. Default hints ("Look for the cause with:
toolcrib doctor"), and codes for signals and a closed pipe."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping
from typing import Any

import click

from toolcrib.cli.output import as_json, label, say_exactly
from toolcrib.cli.streams import OutputFailed
from toolcrib.errors import (
    ConfigError,
    DatabaseError,
    InstallFailed,
    ServerUnavailable,
    ToolcribError,
    UsageError,
)

INTERRUPTED = 130
BROKEN_PIPE = 141
"""128 plus the number of the signal, as in shells."""


class Interrupted(Exception):
    """A signal asked the command to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


def report(error: BaseException, *, as_data: bool, debug: bool) -> int:
    """Print an error and return its exit code."""
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    failure, code = _translate(error)
    if as_data:
        say_exactly(as_json({"error": failure}))
        return code
    if failure["kind"] in ("interrupted", "output_closed"):
        return code  # The user who did it knows.
    label("error:", "red", failure["message"])
    if failure["hint"]:
        label("hint:", "cyan", failure["hint"])
    return code


def _translate(error: BaseException) -> tuple[Mapping[str, Any], int]:
    if isinstance(error, ToolcribError):
        from toolcrib.schema.failures import to_json

        return {**to_json(error), "hint": error.hint or _usual_hint(error)}, error.exit_code
    if isinstance(error, click.ClickException):
        return _failure("usage", _usage_message(error), _usage_hint(error)), 2
    if isinstance(error, Interrupted):
        return _failure("interrupted", "The command was ended by a signal."), error.exit_code
    if isinstance(error, KeyboardInterrupt | click.Abort | EOFError):
        return _failure("interrupted", "Interrupted."), INTERRUPTED
    if isinstance(error, OutputFailed):
        return _output_failure(error)
    from toolcrib.schema.system_failures import explained

    if known := explained(error):
        return _translate(known)
    hint = "This is a bug in Toolcrib: run the command again with --debug and report the output."
    return _failure("internal", f"{type(error).__name__}: {error}", hint), 1


def _usual_hint(error: ToolcribError) -> str:
    """For the few errors that have none of their own."""
    if isinstance(error, UsageError):
        return "See: toolcrib --help"
    unclear = (ConfigError, DatabaseError, InstallFailed, ServerUnavailable)
    return "Look for the cause with: toolcrib doctor" if isinstance(error, unclear) else ""


def _output_failure(error: OutputFailed) -> tuple[Mapping[str, Any], int]:
    if error.reader_is_gone:
        return _failure("output_closed", "The reader of the output is gone."), BROKEN_PIPE
    hint = "Free some space, or write the output to another file or program."
    return _failure("system", f"The output cannot be written: {error}.", hint), 1


def _failure(kind: str, message: str, hint: str = "") -> dict[str, Any]:
    return {"kind": kind, "message": message, "hint": hint, "retryable": False}


def _usage_message(error: click.ClickException) -> str:
    # Not `format_message`: it adds suggestions, which belong in the hint.
    plain = isinstance(error, click.NoSuchOption)
    message = error.message if plain else error.format_message()
    return message if message.endswith((".", "?", "!")) else f"{message}."


def _usage_hint(error: click.ClickException) -> str:
    hints = [str(getattr(error, "hint", ""))]
    if isinstance(error, click.NoSuchOption) and error.possibilities:
        hints.insert(0, f"Did you mean {' or '.join(sorted(error.possibilities)[:3])}?")
    if any(hints):
        return " ".join(hint for hint in hints if hint)
    context = getattr(error, "ctx", None)
    return f"See: {context.command_path if context is not None else 'toolcrib'} --help"
