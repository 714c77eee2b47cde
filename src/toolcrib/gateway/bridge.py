"""Forwards requests of a server (elicitation, sampling, roots) to the client whose call caused them. How many
calls wait for input and for how long, and the signed request state.

A legacy client gets them on the stream of its call. A modern one gets `input_required` as the result and
repeats the call with its input. Requests of a modern server are passed on to such a client unchanged, and
nothing is kept here. The call to a legacy server waits here for the client to come back; its request state is
then a random key, valid once, for the same call of the same client.

Request state of servers that clients carry is signed: it names the server, and is valid for one purpose only.
Only a key is kept here, so a client may come back at any time and as often as the server allows. The key, and
with it every state, ends with the process. Gateways on a shared database have one key, so that a client may
come back to any of them.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from pydantic_core import from_json

from toolcrib.errors import PeerError, UsageError
from toolcrib.gateway.wire import Wire
from toolcrib.schema.tools import Principal, ToolResult
from toolcrib.serverkit.encoding import encode
from toolcrib.serverkit.protocol import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    INVALID_PARAMS,
    LOG_LEVEL,
    PROTOCOL_VERSION,
    Request,
    is_request_id,
    notification,
)
from toolcrib.servers.sessions.handlers import Handlers, Hook, relayed_client

_PREFIX = "toolcrib."

MAX_WAITING = 256
WAIT_SECONDS = 600.0
"""Seconds that a user has to answer."""
NO_CAPABILITY = -32021
_ENVELOPE = "io.modelcontextprotocol/"
"""Prefix of the keys that concern one connection only, as the progress token does."""
_USUAL_KEYS = frozenset({PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO, "progressToken"})
_INPUT_KEYS = frozenset({"inputResponses", "requestState"})
_NOTHING: dict[str, Any] = {}
CAPABILITY_OF = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}


def is_signed(state: Any) -> bool:
    """True if it looks like one of ours."""
    return isinstance(state, str) and state.startswith(_PREFIX)


def sign_state(server: str, state: Any, purpose: str) -> str:
    """A server's state as the client carries it."""
    content = base64.urlsafe_b64encode(encode([server, state])).decode()
    return f"{_PREFIX}{content}.{_signature(content, purpose)}"


def verify_state(signed: Any, purpose: str) -> tuple[str, Any]:
    """The server and its state; raises `UsageError` if it was altered or is for another purpose."""
    if is_signed(signed):
        content, _, signature = signed.removeprefix(_PREFIX).partition(".")
        if hmac.compare_digest(_signature(content, purpose).encode(), signature.encode("utf-8", "replace")):
            server, state = from_json(base64.urlsafe_b64decode(content))
            return server, state
    raise UsageError("This requestState is unknown or has expired.")


def _signature(content: str, purpose: str) -> str:
    text = f"{content}.{purpose}".encode("utf-8", "surrogatepass")
    return hmac.new(_keys[0], text, hashlib.sha256).hexdigest()


def use_key(key: bytes) -> None:
    """Sign with the key of the shared database from now on."""
    _keys[:] = [key]


_keys = [secrets.token_bytes(32)]
"""The one key of this process."""


class CallingClient(Protocol):
    """What a call has to know of its client."""

    principal: Principal
    capabilities: Mapping[str, Any]
    log_level: str


class RelayedCall:
    """One call of a client, over as many requests as it takes.

    Raises `UsageError` for a request state that is not the client's own. To servers it acts as the client:
    with its capabilities, its metadata and its input.
    """

    may_wait = False
    """The client may have to come back with input."""
    wants_legacy = False
    """It is of the legacy era and has capabilities that servers may use."""
    _asker: str | None = None
    _input = _capabilities = _meta = _NOTHING
    _task: _CallTask | None = None

    def __init__(self, client: CallingClient, request: Request, wire: Wire) -> None:
        self.principal = client.principal
        self.wire = wire
        self._client = client
        self._request = request
        self._modern = modern = request.modern
        if modern and not _INPUT_KEYS.isdisjoint(request.params):
            self._asker, self._input = self._read_input(request)
        stated = request.meta[CLIENT_CAPABILITIES] if modern else client.capabilities
        if stated:
            self._capabilities = {name: stated[name] for name in CAPABILITY_OF.values() if name in stated}
            self.may_wait = modern and bool(self._capabilities)
            self.wants_legacy = not modern and bool(self._capabilities)
        if not request.meta.keys() <= _USUAL_KEYS:
            self._meta = _extra(request.meta)

    @property
    def subject(self) -> tuple[str, Any, Any]:
        """What identifies the call."""
        return _subject(self._request)

    @property
    def log_level(self) -> str | None:
        """The lowest level of log messages that the client wants; None for none."""
        if not self._modern:
            return self._client.log_level
        level = self._request.meta.get(LOG_LEVEL)
        return level if isinstance(level, str) else None

    def start(self, work: Callable[[], Awaitable[ToolResult]]) -> None:
        """Run the call in a task of its own, on behalf of the client."""

        async def run() -> ToolResult:
            relayed_client.set(self)
            return await work()

        self._task = _CallTask(asyncio.create_task(run()))

    def stamp(self, server: str, params: dict[str, Any], *, modern: bool) -> dict[str, Any]:
        """The parameters as the client would send them to this server."""
        if self._asker not in (None, server):
            raise PeerError("This requestState belongs to another server.", code=INVALID_PARAMS)
        if not modern:
            return {**params, "_meta": {**self._meta, **params.get("_meta", {})}} if self._meta else params
        meta = {**self._meta, **params.get("_meta", {}), CLIENT_CAPABILITIES: self._capabilities}
        # In the modern era, each request sets the level.
        level = self._request.meta.get(LOG_LEVEL) if self._modern else self._client.log_level
        if isinstance(level, str):
            meta[LOG_LEVEL] = level
        return {**params, **self._input, "_meta": meta}

    def break_off(self) -> None:
        """The server closed its stream and continues to work."""
        self.wire.interrupt()

    def hand_back(self, server: str, result: dict[str, Any]) -> dict[str, Any] | None:
        """The input that a modern server requires, for a modern client; the state is bound to the call."""
        if not self._modern:
            return None
        asked = result.get("inputRequests")
        for question in asked.values() if isinstance(asked, dict) else ():
            self._check_able(question.get("method") if isinstance(question, dict) else None)
        if "requestState" not in result:
            return result
        return {**result, "requestState": sign_state(server, result["requestState"], self._purpose)}

    @property
    def _purpose(self) -> str:
        """A state is valid for the same call of the same client."""
        return json.dumps([self.principal.name, self.principal.session, self.subject], sort_keys=True)

    def _read_input(self, request: Request) -> tuple[str | None, dict[str, Any]]:
        """The server that the state is for, and the input for it."""
        params = request.params
        given = {"inputResponses": params["inputResponses"]} if "inputResponses" in params else {}
        if "requestState" not in params:
            return None, given
        server, state = verify_state(params["requestState"], self._purpose)
        return server, {**given, "requestState": state}

    def _check_able(self, method: Any) -> None:
        needed = CAPABILITY_OF.get(method) if isinstance(method, str) else None
        if needed is None or needed not in self._capabilities:
            data: Any = {"requiredCapabilities": {needed: {}}} if needed else None
            raise PeerError(f"The client does not support {needed or method}.", code=NO_CAPABILITY, data=data)

    @property
    def can_elicit(self) -> bool:
        """True if the client can show its user a form; a capability without modes means that."""
        modes = self._capabilities.get("elicitation") if self._capabilities else None
        return isinstance(modes, dict) and (not modes or "form" in modes)

    def report(self, progress: float, message: str) -> None:
        """Send progress to a client that gave a token for it."""
        token = self._request.meta.get("progressToken")
        if is_request_id(token):
            params: dict[str, Any] = {"progressToken": token, "progress": progress, "message": message}
            self.wire.notify(notification("notifications/progress", params))

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send the client a request; waits for the result."""
        self._check_able(method)
        if not self._modern:
            return await self.wire.ask(method, params)
        return await self._started.ask(method, params)

    async def outcome(self) -> ToolResult | None:
        """The result; None if the client must give input first."""
        running = self._started
        asked = asyncio.ensure_future(running.asked.wait())
        waits: set[asyncio.Future[Any]] = {running.task, asked}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.cancel()
            raise
        finally:
            asked.cancel()
        return running.task.result() if running.task.done() else None

    def input_requests(self) -> dict[str, dict[str, Any]]:
        """The input that the client must give now."""
        return dict(self._started.open)

    def answer(self, responses: Any) -> None:
        """Pass the client's input on; raises `UsageError` when some is missing."""
        self._started.answer(responses)

    async def cancel(self) -> None:
        if self._task is not None:
            self._task.task.cancel()
            await asyncio.gather(self._task.task, return_exceptions=True)

    @property
    def _started(self) -> _CallTask:
        assert self._task is not None
        return self._task


class _CallTask:
    """A call in a task of its own, and the input that it waits for."""

    def __init__(self, task: asyncio.Task[ToolResult]) -> None:
        self.task = task
        self.open: dict[str, dict[str, Any]] = {}
        self.asked = asyncio.Event()
        self._answers: dict[str, asyncio.Future[dict[str, Any]]] = {}

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Wait for the client to come back with this input."""
        key = secrets.token_hex(4)
        self.open[key] = {"method": method, "params": params}
        self._answers[key] = asyncio.get_running_loop().create_future()
        self.asked.set()
        return await self._answers[key]

    def answer(self, responses: Any) -> None:
        """Pass the client's input on; raises `UsageError` when some is missing."""
        given = responses if isinstance(responses, dict) else {}
        missing = [key for key in self.open if not isinstance(given.get(key), dict)]
        if missing:
            raise UsageError(f"inputResponses lacks {', '.join(missing)}.")
        self.asked.clear()
        for key in list(self.open):
            del self.open[key]
            self._answers.pop(key).set_result(given[key])


class WaitingCalls:
    """Calls that wait for their clients to come back with input, by request state."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[RelayedCall, asyncio.TimerHandle]] = {}

    def add(self, call: RelayedCall) -> str:
        """Keep a call for a while; returns its request state. Too many are refused."""
        if len(self._calls) >= MAX_WAITING:
            raise UsageError("Too many calls are waiting for input; try again later.")
        key = secrets.token_urlsafe(24)
        timer = asyncio.get_running_loop().call_later(WAIT_SECONDS, self._expire, key)
        self._calls[key] = (call, timer)
        return key

    def pop(self, key: Any, principal: Principal, request: Request) -> RelayedCall:
        """The call of this state; raises `UsageError` for an unknown one, or one of another call or
        client."""
        call, timer = self._calls.get(key, (None, None)) if isinstance(key, str) else (None, None)
        foreign = call is None or call.subject != _subject(request) or call.principal != principal
        if call is None or timer is None or foreign:
            raise UsageError("This requestState is unknown or has expired.")
        timer.cancel()
        del self._calls[key]
        return call

    async def close(self) -> None:
        """Cancel all."""
        calls, self._calls = self._calls, {}
        for call, timer in calls.values():
            timer.cancel()
            await call.cancel()

    def _expire(self, key: str) -> None:
        call, _ = self._calls.pop(key)
        asyncio.ensure_future(call.cancel())  # noqa: RUF006 - it ends by itself


def _subject(request: Request) -> tuple[str, Any, Any]:
    """What identifies a call: a client may continue only the same one."""
    params = request.params
    return request.method, params.get("name") or params.get("uri"), params.get("arguments")


def bridge_handlers() -> Handlers:
    """The handlers for a host behind a gateway."""
    return Handlers(
        sample=_relay("sampling/createMessage"),
        elicit=_relay("elicitation/create"),
        roots=_relay("roots/list"),
    )


def _relay(method: str) -> Hook:
    async def ask(server: str, params: dict[str, Any]) -> dict[str, Any]:
        call = relayed_client.get()
        if not isinstance(call, RelayedCall):
            raise PeerError(f"No client of the gateway is waiting for {server}.", code=NO_CAPABILITY)
        return await call.ask(method, params)

    return ask


def _extra(meta: dict[str, Any]) -> dict[str, Any]:
    """The metadata of a request that is passed on to servers."""
    return {
        key: value for key, value in meta.items() if not key.startswith(_ENVELOPE) and key != "progressToken"
    }
