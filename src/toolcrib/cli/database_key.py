"""The key of a shared database, as commands get it: from a file, the environment or a hidden prompt."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import click

from toolcrib.errors import DatabaseKeyMissing, UsageError

T = TypeVar("T")
LARGEST = 1000

key_file = click.option(
    "--database-key-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Read the key of a shared database from this file.",
)


def given_key(file: Path | None) -> str | None:
    """The key that the command was given; raises `UsageError` for a file that cannot be read."""
    from toolcrib.config.database_key import VARIABLE

    if file is None:
        return os.environ.get(VARIABLE) or None
    try:
        with file.open("rb") as opened:
            return opened.read(LARGEST).decode("ascii", "replace")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from None


async def with_key(given: str | None, work: Callable[[str | None], Awaitable[T]]) -> T:
    """Do something that may need the key; it is asked for if it was not given."""
    from toolcrib.cli.questions import ask_unseen, can_ask

    try:
        return await work(given)
    except DatabaseKeyMissing:
        if given is not None or not can_ask():
            raise
    question = "Key of the database, which `toolcrib database key` shows on a machine that uses it:"
    return await work(ask_unseen(question))
