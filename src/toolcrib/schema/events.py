"""What the host tells whoever listens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.schema.servers import ServerStatus
from toolcrib.schema.setups import SetupStatus
from toolcrib.schema.tools import CallRecord


@dataclass(frozen=True)
class ServerChanged:
    """A server moved to another state."""

    status: ServerStatus


@dataclass(frozen=True)
class ServerRemoved:
    """A server is no longer configured."""

    name: str


@dataclass(frozen=True)
class ToolsChanged:
    """The registry has a new snapshot."""

    version: int
    server: str | None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallFinished:
    """A call went through the door."""

    record: CallRecord


@dataclass(frozen=True)
class ServerLogged:
    """A server sent a log message (not stderr, which goes to its file)."""

    server: str
    level: str
    data: object


@dataclass(frozen=True)
class ServerNoticed:
    """A server sent a notification, which stands here as it came; its tool list has an event of its own."""

    server: str
    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True)
class ConfigChanged:
    """The config file was read again; `error` says why the last good state stays, if it does."""

    changed: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class SetupTold:
    """Work on a server that goes on by itself came further, or ended."""

    status: SetupStatus


@dataclass(frozen=True)
class SetupForgotten:
    """Nobody needs to see how the work on this server went any more."""

    name: str


@dataclass(frozen=True)
class WaitingChanged:
    """Something waits for a person, or waits no more."""


@dataclass(frozen=True)
class TurnTold:
    """A turn of a chat that runs in this host told something; `number` counts what it told, from 1 on."""

    chat: str
    turn: str
    number: int
    event: Mapping[str, Any]


@dataclass(frozen=True)
class Noticed:
    """Something was done that a person may want to know of; `undo` takes it back, where that can be."""

    text: str
    undo: Mapping[str, Any] | None = None


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
)
