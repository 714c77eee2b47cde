"""Carries what a server asks (elicitation, sampling, roots) to the client whose call it is about.

A legacy client is asked on the stream of its call. A modern one gets `input_required` for an answer, while
the call waits here; it sends the call again with what was asked for, and the same call goes on. The state it
carries is a random key of ours, good once, for the same thing and the same principal.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from toolcrib.errors import PeerError, UsageError
from toolcrib.gateway.wire import Wire
from toolcrib.schema.tools import ToolResult
from toolcrib.serverkit.protocol import LOG_LEVEL, Request
from toolcrib.servers.sessions.handlers import Handlers, Hook

if TYPE_CHECKING:
    from toolcrib.gateway.front import Front

MAX_PARKED = 256
PARKED_FOR = 600.0
"""Seconds in which a person may answer."""
NO_CAPABILITY = -32021
CAPABILITY_OF = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}

current: ContextVar[RelayedCall | None] = ContextVar("current", default=None)
"""The client's call on whose behalf something runs."""


class RelayedCall:
    """One call of a client, for as long as it takes, over however many requests."""

    def __init__(self, front: Front, request: Request, wire: Wire) -> None:
        self.subject = _subject(request)
        self.principal = front.principal
        self.wire = wire
        self._front = front
        self._request = request
        self._modern = request.modern
        self._capabilities = front.can(request)
        self._open: dict[str, dict[str, Any]] = {}
        self._answers: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._asked = asyncio.Event()
        self._task: asyncio.Task[ToolResult] | None = None

    @property
    def log_level(self) -> str | None:
        """From which level on the client hears what servers log; None for nothing."""
        if not self._modern:
            return self._front.log_level
        level = self._request.meta.get(LOG_LEVEL)
        return level if isinstance(level, str) else None

    @property
    def parks(self) -> bool:
        """True when the client may have to come back with answers."""
        return self._modern and any(name in self._capabilities for name in CAPABILITY_OF.values())

    def start(self, work: Callable[[], Awaitable[ToolResult]]) -> None:
        """Begin the call in a task of its own, which knows whose it is."""

        async def run() -> ToolResult:
            current.set(self)
            return await work()

        self._task = asyncio.create_task(run())

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the client something; waits for its answer."""
        if CAPABILITY_OF[method] not in self._capabilities:
            raise PeerError(f"The client does not offer {CAPABILITY_OF[method]}.", code=NO_CAPABILITY)
        if not self._modern:
            return await self.wire.ask(method, params)
        key = secrets.token_hex(4)
        self._open[key] = {"method": method, "params": params}
        self._answers[key] = asyncio.get_running_loop().create_future()
        self._asked.set()
        return await self._answers[key]

    async def outcome(self) -> ToolResult | None:
        """The result, or None when the client has to be asked first."""
        assert self._task is not None
        asked = asyncio.ensure_future(self._asked.wait())
        waits: set[asyncio.Future[Any]] = {self._task, asked}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.cancel()
            raise
        finally:
            asked.cancel()
        return self._task.result() if self._task.done() else None

    def questions(self) -> dict[str, dict[str, Any]]:
        """What the client is to be asked now."""
        return dict(self._open)

    def answer(self, responses: Any) -> None:
        """Hand the client's answers over; raises `UsageError` when one is missing."""
        given = responses if isinstance(responses, dict) else {}
        missing = [key for key in self._open if not isinstance(given.get(key), dict)]
        if missing:
            raise UsageError(f"inputResponses lacks {', '.join(missing)}.")
        self._asked.clear()
        for key in list(self._open):
            del self._open[key]
            self._answers.pop(key).set_result(given[key])

    async def cancel(self) -> None:
        """The client is no longer interested."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


class Parking:
    """Calls that wait for their clients to come back, by the state the clients carry."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[RelayedCall, asyncio.TimerHandle]] = {}

    def park(self, call: RelayedCall) -> str:
        """Keep a call; returns its key. Too many are refused, and one nobody comes back for is given up."""
        if len(self._calls) >= MAX_PARKED:
            raise UsageError("Too many calls wait for answers; try again later.")
        key = secrets.token_urlsafe(24)
        timer = asyncio.get_running_loop().call_later(PARKED_FOR, self._give_up, key)
        self._calls[key] = (call, timer)
        return key

    def take(self, key: Any, front: Front, request: Request) -> RelayedCall:
        """The call that this key stands for; raises `UsageError` for a stranger's, old or altered key."""
        call, timer = self._calls.get(key, (None, None)) if isinstance(key, str) else (None, None)
        stranger = call is None or call.subject != _subject(request) or call.principal != front.principal
        if call is None or timer is None or stranger:
            raise UsageError("This requestState is not known here, or no longer.")
        timer.cancel()
        del self._calls[key]
        return call

    async def close(self) -> None:
        """Give all of them up."""
        calls, self._calls = self._calls, {}
        for call, timer in calls.values():
            timer.cancel()
            await call.cancel()

    def _give_up(self, key: str) -> None:
        call, _ = self._calls.pop(key)
        asyncio.ensure_future(call.cancel())  # noqa: RUF006 - it ends by itself


def _subject(request: Request) -> tuple[str, Any, Any]:
    """What a call is about: it goes on only as what it began as."""
    return request.method, request.params.get("name"), request.params.get("uri")


def bridge_handlers() -> Handlers:
    """The hooks for a host behind a gateway."""
    return Handlers(
        sample=_relay("sampling/createMessage"),
        elicit=_relay("elicitation/create"),
        roots=_relay("roots/list"),
    )


def _relay(method: str) -> Hook:
    async def ask(server: str, params: dict[str, Any]) -> dict[str, Any]:
        call = current.get()
        if call is None:
            raise PeerError(f"No client of the gateway waits for {server} just now.", code=NO_CAPABILITY)
        return await call.ask(method, params)

    return ask
