"""The contract of a transport module: it opens a two-way channel of JSON-RPC messages (a link). Has the
properties of a server type, the longest message, and the order in which types are tried for an address.

No other module compares type names: `traits_of(type)` describes a type. A new transport is one new file in
`servers/transports`. Leaving a link's context closes it and ends everything behind it within a bounded time.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from toolcrib import plugins
from toolcrib.errors import NotFound, ToolcribError
from toolcrib.schema.servers import SandboxPolicy
from toolcrib.serverkit.network.resolving import Resolver, system_resolver

if TYPE_CHECKING:
    from toolcrib.config.sections import Section

TRANSPORTS = "toolcrib.servers.transports"


@dataclass(frozen=True, kw_only=True)
class Traits:
    """The properties of a server type."""

    title: str = ""
    """Shown to users; the type if empty."""
    spawns: bool = False
    """Starts a process on this machine."""
    remote: bool = False
    """Has a `url` and `headers`."""
    in_process: bool = False
    """Runs inside the Toolcrib process."""
    installable: bool = False
    """Has an installer; the module offers `start(spec, installed)`."""
    exportable: bool = False
    """Other programs can start it with the command that the module's `resolve(spec, context)` returns."""
    first_word: str = "command"
    """The key set by the first word in `toolcrib add NAME --type TYPE -- WORD`."""
    index: str = ""
    """The index of its `package`: `npm` or `pypi`."""
    probe: int | None = None
    """Its place in the order in which types are tried for an address; None if not tried."""
    second_connection: bool = False
    """A server that speaks both protocol eras can ask an older client only over an older connection."""


class Transport(Protocol):
    """A module of `servers/transports`."""

    TRAITS: Traits
    Spec: type[Section]
    """Its keys of a config entry."""

    def open(self, spec: Any, inbox: Inbox, context: LinkContext) -> AbstractAsyncContextManager[Link]:
        """A link to the server while the block runs."""


def find_transport(kind: str) -> Transport:
    """The module for this type; raises `NotFound`."""
    return cast("Transport", plugins.find(TRANSPORTS, kind))


@cache
def traits_of(kind: str | None) -> Traits:
    """The traits of a type; the defaults for an unknown type."""
    try:
        transport = find_transport(kind or "")
    except NotFound:
        return Traits()
    return getattr(transport, "TRAITS", Traits())


def remote_types() -> tuple[str, ...]:
    """The types with an address, sorted."""
    return tuple(kind for kind in plugins.names(TRANSPORTS) if traits_of(kind).remote)


def probed_types() -> tuple[str, ...]:
    """The types to try for an address, in order."""
    turns = {kind: traits_of(kind).probe for kind in plugins.names(TRANSPORTS)}
    return tuple(kind for _, kind in sorted((turn, kind) for kind, turn in turns.items() if turn is not None))


Message = dict[str, Any]
"""One JSON-RPC message, unchanged from the wire."""

MAX_MESSAGE_BYTES = 256 * 1024 * 1024
"""The largest accepted message; base64 screenshots and file dumps are far smaller."""


class Link(Protocol):
    """A link may also have `throttled`: for how many seconds a server that sends too much is read slowly."""

    @property
    def pid(self) -> int | None:
        """The process behind the link, if it is ours."""

    async def send(self, message: Message) -> None:
        """Send a message; raises `ToolcribError` if it cannot be delivered, which need not end the link.

        Request-response transports (HTTP, in process) return when the exchange is over: the reply has then
        reached the inbox, and cancelling the sender closes the exchange.
        """


class Inbox(Protocol):
    """Receives messages from a link; the methods must not block."""

    def receive(self, message: Message) -> None: ...

    def lost(self, error: ToolcribError) -> None:
        """The link is lost, with the reason. Called at most once, never after the context was left."""


@dataclass(frozen=True, kw_only=True)
class LinkContext:
    """Settings and callbacks for a transport."""

    server: str
    log_path: Path | None = None
    """The log file for a process's stderr (rotated)."""
    installs: Path | None = None
    """The folder of installed servers."""
    home: Path | None = None
    """The home that the user chose for this host; None for the platform's folders."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables for a process, besides those of its entry."""
    on_log: Callable[[str], None] = lambda line: None
    """Called with a diagnostic line of a remote or in-process transport."""
    on_junk: Callable[[int], None] = lambda count: None
    """Called with the number of lines so far that were not messages."""
    on_flood: Callable[[bool], None] = lambda flooding: None
    """Called when the server begins to send more than is read, and when it has calmed down."""
    masked: frozenset[str] = frozenset()
    """Secret values to mask in logs."""
    marker: str = field(default_factory=lambda: secrets.token_hex(12))
    """An environment value by which a process and its descendants are found."""
    on_spawn: Callable[[int], None] = lambda group: None
    """Called with the process group as soon as it exists."""
    on_exit: Callable[[int], None] = lambda group: None
    """Called when the process group has ended."""
    auth: Any = None
    """An `httpx2.Auth` for a remote server that needs a sign-in."""
    resolve: Resolver = system_resolver
    """Looks up the names of hosts that a remote server points to."""
    max_message_bytes: int = MAX_MESSAGE_BYTES
    sandbox: SandboxPolicy | None = None
    """What a process may reach; None for everything that the user may."""
