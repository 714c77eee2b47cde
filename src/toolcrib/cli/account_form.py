"""Collects what a new account needs: from options, from stdin, and from questions on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.cli.proposal import read_pairs
from toolcrib.cli.questions import ask, ask_unseen, can_ask, choose
from toolcrib.errors import UsageError
from toolcrib.serverkit.bounded_read import read_bounded_text

if TYPE_CHECKING:
    from toolcrib.operations.client import AccountField, AccountProviderShown

LARGEST = 64 * 1024
CLIENT_FILE = "client_file"
STDIN_KEYS = ("password", "token")
"""Fields that have an option to read them from stdin."""


def read_values(
    provider: AccountProviderShown,
    given: Mapping[str, str | None],
    *,
    pairs: tuple[str, ...] = (),
    from_stdin: str = "",
    client_file: str | None = None,
    replace: bool = False,
) -> dict[str, str]:
    """The values by the keys of the provider's fields; `from_stdin` is the key of the secret on stdin."""
    values = {key: value for key, value in given.items() if value is not None}
    values |= _pairs(provider, pairs)
    if from_stdin:
        values[from_stdin] = _read_secret(from_stdin)
    if client_file is not None:
        values[CLIENT_FILE] = _read_file(client_file)
    if can_ask():
        return values | _asked(provider, values, replace=replace)
    _check_secret(provider, values)
    return values


def _pairs(provider: AccountProviderShown, pairs: tuple[str, ...]) -> dict[str, str]:
    values = read_pairs(pairs, "=", "--set")
    for field in provider["fields"]:
        if field["secret"] and field["key"] in values:
            raise UsageError(
                f"{field['label']} is a secret; other users of this machine can read command lines.",
                hint="Leave it out: it is asked for on a terminal. In scripts use --password-stdin.",
            )
    return values


def _check_secret(provider: AccountProviderShown, values: Mapping[str, str]) -> None:
    """Raise `UsageError` that says how a script passes a secret that is missing."""
    for field in provider["fields"]:
        if field["key"] in STDIN_KEYS and field["required"] and not values.get(field["key"]):
            raise UsageError(
                f"{field['label']} is missing.", hint=f"Pass it on stdin with --{field['key']}-stdin."
            )


def _asked(provider: AccountProviderShown, values: Mapping[str, str], *, replace: bool) -> dict[str, str]:
    """Answers for the required fields that are missing, and for the client file of a first sign-in."""
    missing = [field for field in provider["fields"] if field["required"] and not values.get(field["key"])]
    answers = {field["key"]: _ask(field) for field in missing}
    keys = [field["key"] for field in provider["fields"]]
    if CLIENT_FILE in keys and not replace and not values.get(CLIENT_FILE) and not values.get("client_id"):
        answers[CLIENT_FILE] = _read_file(ask("Path of the OAuth client file"))
    return answers


def _ask(field: AccountField) -> str:
    question = f"{field['label']} ({field['help'].rstrip('.')})" if field["help"] else field["label"]
    if field["secret"]:
        return ask_unseen(question)
    if field["choices"]:
        return choose(question, field["choices"])
    return ask(question, field["default"])


def _read_secret(key: str) -> str:
    if sys.stdin.isatty():
        return ask_unseen(key.capitalize())
    value = sys.stdin.read(LARGEST + 1)
    if len(value) > LARGEST:
        raise UsageError(f"The value on stdin is longer than {LARGEST} characters.")
    # `echo value |` and files end in a line break that is not part of it.
    return value.removesuffix("\n").removesuffix("\r")


def _read_file(path: str) -> str:
    try:
        text = read_bounded_text(Path(path).expanduser(), LARGEST, pipes=True)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UsageError(f"The client file cannot be read: {reason}.", hint="Check its path.") from None
    return text
