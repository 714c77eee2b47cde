"""Background work on a server."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from toolcrib.operations.overview import source_of
from toolcrib.operations.results.overview import ServerSource
from toolcrib.schema import failures
from toolcrib.schema.failures import Failure
from toolcrib.schema.json_values import moment
from toolcrib.schema.setups import SetupStatus, SetupStep


class SetupShown(TypedDict):
    """The progress of background work on a server; with its source instead of its entry."""

    name: str
    kind: Literal["add", "trust", "test", "update"]
    state: Literal["running", "ok", "failed", "stopped"]
    installing: bool
    """Whether its files are being downloaded or installed now."""
    source: ServerSource | None
    began: str
    ended: str | None
    steps: list[SetupStep]
    done: int
    total: int
    """Packages of an installation; 0 if unknown."""
    error: Failure | None
    review: list[str]
    """Unclear parts of its tool descriptions."""
    tools: int
    log: list[str]
    """The last lines of its log, if it failed."""


class SetupForgotten(TypedDict):
    """Whether it was dismissed; running work is not."""

    name: str
    forgotten: bool


def setup_json(status: SetupStatus) -> SetupShown:
    return {
        "name": status.name,
        "kind": status.kind,
        "state": status.state,
        "installing": status.installing,
        "source": source_of(status.entry) if status.entry else None,
        "began": moment(status.began),
        "ended": moment(status.ended) if status.ended else None,
        "steps": list(status.steps),
        "done": status.done,
        "total": status.total,
        "error": failures.to_json(status.error) if status.error else None,
        "review": list(status.review),
        "tools": status.tools,
        "log": list(status.log),
    }
