"""Carries what a server asks (elicitation, sampling, roots) to the client whose call it is about.

A legacy client is asked on the stream of its call. A modern one gets `input_required` for an answer and sends
the call again with what was asked for. What a modern server asked is handed to such a client as it came, and
nothing of it stays here. For a legacy server the call waits here and goes on; the state that the client then
carries is a random key, good once, for the same thing and the same principal.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from toolcrib.errors import PeerError, UsageError
from toolcrib.gateway.seals import seal, unseal
from toolcrib.gateway.wire import Wire
from toolcrib.schema.tools import ToolResult
from toolcrib.serverkit.protocol import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    INVALID_PARAMS,
    LOG_LEVEL,
    PROTOCOL_VERSION,
    Request,
)
from toolcrib.servers.sessions.handlers import Handlers, Hook
from toolcrib.servers.sessions.relayed_client import behalf

if TYPE_CHECKING:
    from toolcrib.gateway.client import Front

MAX_PARKED = 256
PARKED_FOR = 600.0
"""Seconds in which a person may answer."""
NO_CAPABILITY = -32021
_ENVELOPE = "io.modelcontextprotocol/"
"""Begins the keys that belong to one leg of the way alone; so does the token for progress."""
_USUAL = frozenset({PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO, "progressToken"})
_BROUGHT = frozenset({"inputResponses", "requestState"})
_NOTHING_BROUGHT: tuple[None, dict[str, Any]] = (None, {})
CAPABILITY_OF = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}


class RelayedCall:
    """One call of a client, for as long as it takes, over however many requests.

    Raises `UsageError` for a state that is not the client's own. To servers it is the client itself: what it
    can do, what its request carries besides, and its answers to what it was asked before.
    """

    def __init__(self, front: Front, request: Request, wire: Wire) -> None:
        self.principal = front.principal
        self.wire = wire
        self._front = front
        self._request = request
        self._modern = modern = request.modern
        comes_back = modern and not _BROUGHT.isdisjoint(request.params)
        self._asker, self._brought = self._bring(request) if comes_back else _NOTHING_BROUGHT
        stated = request.meta[CLIENT_CAPABILITIES] if modern else front.capabilities
        able = stated and {name: stated[name] for name in CAPABILITY_OF.values() if name in stated}
        self._capabilities: dict[str, Any] = able
        self.parks = modern and bool(able)
        """True when the client may have to come back with answers."""
        self.wants_legacy = not modern and bool(able)
        """It speaks the older era, and has something that servers may ask for."""
        self._meta = {} if request.meta.keys() <= _USUAL else _extra(request.meta)
        self._errand: _Errand | None = None

    @property
    def subject(self) -> tuple[str, Any, Any]:
        """What the call is about."""
        return _subject(self._request)

    @property
    def log_level(self) -> str | None:
        """From which level on the client hears what servers log; None for nothing."""
        if not self._modern:
            return self._front.log_level
        level = self._request.meta.get(LOG_LEVEL)
        return level if isinstance(level, str) else None

    def start(self, work: Callable[[], Awaitable[ToolResult]]) -> None:
        """Begin the call in a task of its own, which knows whose it is."""

        async def run() -> ToolResult:
            behalf.set(self)
            return await work()

        self._errand = _Errand(asyncio.create_task(run()))

    def stamp(self, server: str, params: dict[str, Any], *, modern: bool) -> dict[str, Any]:
        """The parameters as the client sends them to this server."""
        if self._asker not in (None, server):
            raise PeerError("This requestState is not of this server.", code=INVALID_PARAMS)
        if not modern:
            return {**params, "_meta": {**self._meta, **params.get("_meta", {})}} if self._meta else params
        meta = {**self._meta, **params.get("_meta", {}), CLIENT_CAPABILITIES: self._capabilities}
        level = self.log_level  # the modern era asks with each request for what it wants to hear
        if level is not None:
            meta[LOG_LEVEL] = level
        return {**params, **self._brought, "_meta": meta}

    def break_off(self) -> None:
        """The server closed its stream and goes on working."""
        self.wire.break_off()

    def hand_back(self, server: str, result: dict[str, Any]) -> dict[str, Any] | None:
        """What a modern server asks, for a modern client; its state is bound to it."""
        if not self._modern:
            return None
        asked = result.get("inputRequests")
        for question in asked.values() if isinstance(asked, dict) else ():
            self._check_able(question.get("method") if isinstance(question, dict) else None)
        if "requestState" not in result:
            return result
        return {**result, "requestState": seal(server, result["requestState"], self._mark)}

    @property
    def _mark(self) -> str:
        """What a state is good for: the same thing, asked for by the same principal."""
        return repr((self.principal.name, self.subject))

    def _bring(self, request: Request) -> tuple[str | None, dict[str, Any]]:
        """What a client that comes back brings for a modern server, and for which one the state is."""
        params = request.params
        brought = {"inputResponses": params["inputResponses"]} if "inputResponses" in params else {}
        if "requestState" not in params:
            return None, brought
        server, state = unseal(params["requestState"], self._mark)
        return server, {**brought, "requestState": state}

    def _check_able(self, method: Any) -> None:
        needed = CAPABILITY_OF.get(method) if isinstance(method, str) else None
        if needed is None or needed not in self._capabilities:
            data: Any = {"requiredCapabilities": {needed: {}}} if needed else None
            raise PeerError(f"The client does not offer {needed or method}.", code=NO_CAPABILITY, data=data)

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the client something; waits for its answer."""
        self._check_able(method)
        if not self._modern:
            return await self.wire.ask(method, params)
        return await self._started.ask(method, params)

    async def outcome(self) -> ToolResult | None:
        """The result, or None when the client has to be asked first."""
        errand = self._started
        asked = asyncio.ensure_future(errand.asked.wait())
        waits: set[asyncio.Future[Any]] = {errand.task, asked}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.cancel()
            raise
        finally:
            asked.cancel()
        return errand.task.result() if errand.task.done() else None

    def questions(self) -> dict[str, dict[str, Any]]:
        """What the client is to be asked now."""
        return dict(self._started.open)

    def answer(self, responses: Any) -> None:
        """Hand the client's answers over; raises `UsageError` when one is missing."""
        self._started.answer(responses)

    async def cancel(self) -> None:
        """The client is no longer interested."""
        if self._errand is not None:
            self._errand.task.cancel()
            await asyncio.gather(self._errand.task, return_exceptions=True)

    @property
    def _started(self) -> _Errand:
        assert self._errand is not None
        return self._errand


class _Errand:
    """A call in a task of its own, and what its client is to be asked before it can go on."""

    def __init__(self, task: asyncio.Task[ToolResult]) -> None:
        self.task = task
        self.open: dict[str, dict[str, Any]] = {}
        self.asked = asyncio.Event()
        self._answers: dict[str, asyncio.Future[dict[str, Any]]] = {}

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Wait for the client to come back with the answer to this."""
        key = secrets.token_hex(4)
        self.open[key] = {"method": method, "params": params}
        self._answers[key] = asyncio.get_running_loop().create_future()
        self.asked.set()
        return await self._answers[key]

    def answer(self, responses: Any) -> None:
        """Hand the client's answers over; raises `UsageError` when one is missing."""
        given = responses if isinstance(responses, dict) else {}
        missing = [key for key in self.open if not isinstance(given.get(key), dict)]
        if missing:
            raise UsageError(f"inputResponses lacks {', '.join(missing)}.")
        self.asked.clear()
        for key in list(self.open):
            del self.open[key]
            self._answers.pop(key).set_result(given[key])


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
        call = behalf.get()
        if not isinstance(call, RelayedCall):
            raise PeerError(f"No client of the gateway waits for {server} just now.", code=NO_CAPABILITY)
        return await call.ask(method, params)

    return ask


def _extra(meta: dict[str, Any]) -> dict[str, Any]:
    """What a request carries besides what belongs to one leg of the way."""
    return {
        key: value for key, value in meta.items() if not key.startswith(_ENVELOPE) and key != "progressToken"
    }
