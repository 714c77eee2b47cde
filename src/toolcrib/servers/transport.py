"""What a transport module offers, and how the rest of the program learns what is special about a type.

No other module compares the names of types: it asks `traits_of(type)`. A new transport is one new file.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast

from toolcrib import plugins
from toolcrib.errors import NotFound

if TYPE_CHECKING:
    from toolcrib.config.reading import Section
    from toolcrib.servers.link import Inbox, Link, LinkContext

TRANSPORTS = "toolcrib.servers.transports"


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What is special about servers of one type."""

    title: str = ""
    """How it is named to users; its type when empty."""
    spawns: bool = False
    """Opening it starts a process on this machine."""
    remote: bool = False
    """It is reached at an address, with `url` and `headers`."""
    in_process: bool = False
    """Its code runs inside Toolcrib."""
    installable: bool = False
    """An installer can put it in place; its module offers `start(spec, installed)`."""
    exportable: bool = False
    """Other programs can start it by a plain command, which the module's `resolve(spec, context)` returns."""
    first_word: str = "command"
    """The key that the first word fills in `toolcrib add NAME --type TYPE -- WORD`."""
    index: str = ""
    """The package index in which its `package` is found: `npm` or `pypi`."""
    probe: int | None = None
    """Its turn when an address is tried without a known type, lowest first; None when it is not tried."""
    second_connection: bool = False
    """A server of both protocol eras asks an older client only over a connection of the older era."""


class Transport(Protocol):
    """A module of `servers/transports`."""

    TRAITS: Traits
    Spec: type[Section]
    """Its part of a config entry."""

    def open(self, spec: Any, inbox: Inbox, context: LinkContext) -> AbstractAsyncContextManager[Link]:
        """A link to the server for as long as the block lasts."""


def find_transport(kind: str) -> Transport:
    """The module for this type; raises `NotFound`."""
    return cast("Transport", plugins.find(TRANSPORTS, kind))


@cache
def traits_of(kind: str | None) -> Traits:
    """The traits of a type; those of an unknown type, or of a module that declares none, are all unset."""
    try:
        transport = find_transport(kind or "")
    except NotFound:
        return Traits()
    return getattr(transport, "TRAITS", Traits())


def remote_types() -> tuple[str, ...]:
    """The types that are reached at an address, sorted."""
    return tuple(kind for kind in plugins.names(TRANSPORTS) if traits_of(kind).remote)


def probed_types() -> tuple[str, ...]:
    """The types that an address is tried with, in order."""
    turns = {kind: traits_of(kind).probe for kind in plugins.names(TRANSPORTS)}
    return tuple(kind for _, kind in sorted((turn, kind) for kind, turn in turns.items() if turn is not None))
