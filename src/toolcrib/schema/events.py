"""Events that the host publishes: changes of servers, tools, config, setups, questions, chat turns, notices,
workflows and runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.schema.servers import ServerStatus
from toolcrib.schema.setups import SetupStatus
from toolcrib.schema.tools import CallRecord


@dataclass(frozen=True)
class ServerChanged:
    status: ServerStatus


@dataclass(frozen=True)
class ServerRemoved:
    name: str


@dataclass(frozen=True)
class ToolsChanged:
    version: int
    server: str | None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallFinished:
    record: CallRecord


@dataclass(frozen=True)
class ServerLogged:
    """A server sent a log message (not stderr, which is kept in a file)."""

    server: str
    level: str
    data: object


@dataclass(frozen=True)
class ServerNoticed:
    """A server sent a notification, kept unchanged; tool lists have their own event."""

    server: str
    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True)
class ConfigChanged:
    """The config file was read again; `error` says why the last valid state is kept, if so."""

    changed: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class SetupTold:
    """A setup in the background progressed or ended."""

    status: SetupStatus


@dataclass(frozen=True)
class SetupForgotten:
    """A finished setup is no longer shown."""

    name: str


@dataclass(frozen=True)
class WaitingChanged:
    """A question was asked or answered."""


@dataclass(frozen=True)
class TurnTold:
    """A chat turn in this host published an event; `number` counts them from 1."""

    chat: str
    turn: str
    number: int
    event: Mapping[str, Any]


@dataclass(frozen=True)
class Noticed:
    """A notice for the user; `undo` reverts it, if possible."""

    text: str
    undo: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class WorkflowsChanged:
    """A workflow was saved or removed."""

    name: str


@dataclass(frozen=True)
class RunChanged:
    """A run of a workflow, or one of its steps, changed."""

    run: str
    step: str | None = None


Event = (
    ServerChanged
    | ServerRemoved
    | ToolsChanged
    | CallFinished
    | ServerLogged
    | ServerNoticed
    | ConfigChanged
    | SetupTold
    | SetupForgotten
    | WaitingChanged
    | TurnTold
    | Noticed
    | WorkflowsChanged
    | RunChanged
)
