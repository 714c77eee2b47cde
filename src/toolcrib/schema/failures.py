"""Errors as data and back, so that one raised in the host is the same one in the client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from toolcrib.errors import ToolcribError


class FailureText(TypedDict):
    """An error; `kind` names it, `hint` says what to do."""

    kind: str
    message: str
    hint: str


class Failure(FailureText):
    """An error as every surface shows it; `kind` names it, `hint` says what to do."""

    retryable: bool
    line: NotRequired[int]
    column: NotRequired[int]
    code: NotRequired[int]
    data: NotRequired[Any]


_DETAILS = ("line", "column", "code", "data")
"""What some errors know besides: a place in the config file, a server's own code."""


def to_json(error: ToolcribError) -> Failure:
    """The error in the form that every surface shows."""
    details = {key: getattr(error, key) for key in _DETAILS if getattr(error, key, None) is not None}
    return cast("Failure", {**error.as_json(), **details})


def from_json(data: Mapping[str, Any]) -> ToolcribError:
    """The error again, of the class that its kind names; an unknown kind gives the root."""
    kind = str(data.get("kind", ""))
    error_class = _classes().get(kind, ToolcribError)
    # Not by calling the class: some want more than a message, and what they know is put back below.
    error = error_class.__new__(error_class)
    ToolcribError.__init__(error, str(data.get("message", "")), hint=str(data.get("hint", "")))
    for key in _DETAILS:
        setattr(error, key, data.get(key))
    return error


@cache
def _classes() -> dict[str, type[ToolcribError]]:
    found: dict[str, type[ToolcribError]] = {}
    for error_class in _below(ToolcribError):
        # The first of a kind is the one that `errors` declares; a subclass elsewhere may share its word.
        found.setdefault(error_class.kind, error_class)
    return found


def _below(error_class: type[ToolcribError]) -> Iterator[type[ToolcribError]]:
    yield error_class
    for subclass in error_class.__subclasses__():
        yield from _below(subclass)
