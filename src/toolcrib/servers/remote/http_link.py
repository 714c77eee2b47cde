"""A remote server over streamable HTTP: each message is a POST, whose response carries the answer. Decides
when it falls back to SSE, how often a cut stream is resumed, and the delays before it is reopened.

A failed POST affects no other. If the server forgot a legacy session, the link is lost and the owner opens a
new one; a cut stream is resumed if its events have ids. Cancelling a sender closes its stream, which cancels
the request in the modern era. Leaving the context ends the session within a bounded time.

The stream on which a legacy server sends notifications and requests is kept open. If it ends, it is resumed,
after delays that grow while nothing arrives. A server without such a stream is asked only once.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2

from toolcrib.errors import (
    AuthRequired,
    ConnectionLost,
    PeerError,
    RemoteUnreachable,
    ResultTooLarge,
    ToolcribError,
)
from toolcrib.servers.metered import EXCHANGE, MAX_REPLIES, ServerShare, note_event
from toolcrib.servers.remote.conversation import (
    SESSION_ID,
    Conversation,
    is_reply,
    is_request,
    is_same_id,
    messages_in,
)
from toolcrib.servers.remote.endpoint import (
    GET_HEADERS,
    INVALID_REQUEST,
    POST_HEADERS,
    RemoteEndpoint,
    content_type,
    open_endpoint,
)
from toolcrib.servers.remote.event_stream import EventStreamReader, ServerSentEvent
from toolcrib.servers.remote.spec import RemoteSpec
from toolcrib.servers.sessions.codec import NotAMessage, decode_any, encode_any
from toolcrib.servers.sessions.handlers import relayed_client
from toolcrib.servers.transport import Inbox, Link, LinkContext, Message
from toolcrib.tasks import cancel_and_wait

if TYPE_CHECKING:
    from toolcrib.servers.remote.sse_link import SseLink

PATIENCE = 1.0
"""Seconds the handshake waits for the stream, so that early messages are not missed."""

OpenStream = Callable[[str | None], AbstractAsyncContextManager[httpx2.Response | None]]
"""Opens the stream after the event with this id; None if the server offers none."""

PARSE_ERROR = -32700
MAX_FRUITLESS_RESUMES = 3
"""How often a cut answer is resumed without receiving anything new."""
DRAIN_PATIENCE = 0.05
"""Seconds to wait for the end of an answered stream, so that its connection can be reused."""
DELETE_TIMEOUT = 1.0
MAY_BE_SSE = (400, 404, 405)
SSE_PATIENCE = 5.0
"""Seconds an SSE server has to send its message endpoint."""


class Listener:
    def __init__(
        self,
        endpoint: RemoteEndpoint,
        open_stream: OpenStream,
        receive: Callable[[Message], None],
        context: LinkContext,
        share: ServerShare,
    ) -> None:
        self._share = share
        self._endpoint = endpoint
        self._open_stream = open_stream
        self._receive = receive
        self._context = context
        self._reconnect = Reconnect()
        self._opened = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start listening; returns when the stream is open, or after `PATIENCE`."""
        self._task = asyncio.ensure_future(self._share.metered(self._keep_listening()))
        self._task.add_done_callback(lambda _: self._opened.set())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self._opened.wait()

    async def stop(self) -> None:
        await cancel_and_wait(self._task)

    async def _keep_listening(self) -> None:
        last_event_id: str | None = None
        clock = asyncio.get_running_loop().time
        while True:
            reader = EventStreamReader(max_event_bytes=self._context.max_message_bytes)
            began = clock()
            try:
                if not await self._listen(reader, last_event_id):
                    return
            except AuthRequired as error:
                self._context.on_log(error.message)
                return
            except (RemoteUnreachable, ConnectionLost, ResultTooLarge) as error:
                self._context.on_log(error.message)
            self._opened.set()
            if clock() - began > self._reconnect.longest:
                self._reconnect.fruitful()
            last_event_id = reader.last_event_id or last_event_id
            await asyncio.sleep(self._reconnect.next_delay(reader.retry))

    async def _listen(self, reader: EventStreamReader, last_event_id: str | None) -> bool:
        """Read one stream to its end; False if there is none."""
        async with self._open_stream(last_event_id) as response:
            if response is None:
                return False
            self._opened.set()
            async with contextlib.aclosing(self._endpoint.events(response, reader)) as events:
                async for event in events:
                    for message in await messages_in(event, self._context.on_log):
                        self._reconnect.fruitful()
                        self._receive(message)
        return True


SHORTEST_DELAY = 0.05


@dataclass(kw_only=True)
class Reconnect:
    """The delay before reopening a cut stream: doubles with each attempt that brought nothing."""

    first: float = 1.0
    longest: float = 60.0
    fruitless: int = 0
    """Attempts since the last message."""

    def fruitful(self) -> None:
        """A message arrived: reset the delay."""
        self.fruitless = 0

    def next_delay(self, asked: float | None = None) -> float:
        """Seconds to wait; at least what the server `asked` for (its `retry:`)."""
        start = max(self.first if asked is None else asked, SHORTEST_DELAY)
        delay = start * float(2 ** min(self.fruitless, 16))
        self.fruitless += 1
        return min(delay, max(start, self.longest))


@dataclass
class _Exchange:
    """One request and its answer, possibly over several streams."""

    request: Message
    resumable: bool
    answered: bool = False
    waiting: asyncio.Timeout = field(default_factory=lambda: asyncio.timeout(None))
    last_event_id: str | None = None
    retry: float | None = None
    cut: ToolcribError | None = None
    reconnect: Reconnect = field(default_factory=lambda: Reconnect(first=0.5))

    @property
    def id(self) -> Any:
        return self.request["id"]


class HttpLink:
    """A link to one endpoint."""

    pid = None

    def __init__(
        self, endpoint: RemoteEndpoint, inbox: Inbox, context: LinkContext, *, sse_fallback: bool = True
    ) -> None:
        self._endpoint = endpoint
        self._sse_fallback = sse_fallback
        self._inbox = inbox
        self._context = context
        self._conversation = Conversation()
        self._exchanges: dict[Any, _Exchange] = {}
        self._listener: Listener | None = None
        self._share = ServerShare(context.on_flood)
        self._replies = asyncio.Semaphore(MAX_REPLIES)
        self._over = False
        self._drains = True
        self._older: SseLink | None = None
        """The link of a server that supports only SSE."""

    @property
    def throttled(self) -> float:
        return self._share.throttled if self._older is None else self._older.throttled

    async def send(self, message: Message) -> None:
        """POST a message; for a request, returns when its answer is in the inbox."""
        if self._older is not None:
            await self._older.send(message)
            return
        if self._over:
            raise self._session_ended()
        if self._conversation.needs_no_sending(message):
            return
        if message.get("method") == "initialize":
            await self._initialize(message)
            return
        if is_request(message):
            await self._request(message)
            return
        if "method" not in message:
            async with self._replies:
                await self._share.metered(self._notify(message))
            return
        await self._notify(message)
        if message.get("method") == "notifications/initialized" and self._listener is None:
            self._listener = Listener(
                self._endpoint, self._stream, self._take_elsewhere, self._context, self._share
            )
            await self._listener.start()

    async def close(self) -> None:
        """End a legacy session and stop listening; takes about a second at most."""
        if self._older is not None:
            await self._older.close()
        over, self._over = self._over, True
        self._share.close()
        if self._listener is not None:
            await self._listener.stop()
        if self._conversation.session_id is None or over:
            return
        with contextlib.suppress(TimeoutError, ToolcribError):
            async with asyncio.timeout(DELETE_TIMEOUT):
                async with self._endpoint.exchange("DELETE", self._conversation.session_headers()):
                    pass

    async def _initialize(self, message: Message) -> None:
        """If the server refuses the POST, try SSE, as the specification says."""
        try:
            await self._request(message)
        except PeerError as refused:
            status = refused.data.get("status") if isinstance(refused.data, dict) else None
            if not self._sse_fallback or status not in MAY_BE_SSE:
                raise
            self._older = await self._open_older(refused)
            await self._older.send(message)

    async def _open_older(self, refused: PeerError) -> SseLink:
        from toolcrib.servers.remote.sse_link import SseLink

        link = SseLink(self._endpoint, self._inbox, self._context)
        try:
            async with asyncio.timeout(SSE_PATIENCE):
                await link.start()
        except (TimeoutError, ToolcribError):
            await link.close()
            raise refused from None
        self._context.on_log("Streamable HTTP is not supported; using the older SSE transport.")
        return link

    # One request and its answer

    async def _request(self, message: Message) -> None:
        await self._share.metered(self._exchange(message), free=EXCHANGE, answer_expected=True)

    async def _exchange(self, message: Message) -> None:
        headers = POST_HEADERS | self._conversation.headers_for(message)
        body = await encode_any(message)
        exchange = _Exchange(message, resumable=not self._conversation.modern)
        self._exchanges[exchange.id] = exchange
        try:
            async with exchange.waiting:
                async with self._endpoint.exchange("POST", headers, body) as response:
                    await self._take_answer(response, exchange)
                while not exchange.answered:
                    _release_client(exchange)
                    await self._resume(exchange)
        except (TimeoutError, ToolcribError):
            if not exchange.answered:  # else the answer came on another stream
                raise
        finally:
            self._exchanges.pop(exchange.id, None)

    async def _take_answer(self, response: httpx2.Response, exchange: _Exchange) -> None:
        if response.status_code >= 300:
            await self._take_refusal(response, exchange)
            return
        if exchange.request["method"] == "initialize":
            self._conversation.session_id = response.headers.get(SESSION_ID)
        kind = content_type(response)
        if kind == "text/event-stream":
            await self._follow(response, exchange)
        elif kind == "application/json":
            await self._take_body(response, exchange)
        else:
            raise PeerError(
                f"{self._context.server} sent content type {kind or 'none'} (HTTP {response.status_code}).",
                code=INVALID_REQUEST,
                data={"status": response.status_code},
                hint="Check that the url is an MCP endpoint.",
            )

    async def _take_body(self, response: httpx2.Response, exchange: _Exchange) -> None:
        body = await self._endpoint.body(response, self._context.max_message_bytes)
        try:
            messages = await decode_any(body)
        except NotAMessage as error:
            messages = [] if error.answer is None else [error.answer]
        for message in messages:
            self._take(message, exchange)
        if not exchange.answered:
            raise PeerError(f"{self._context.server} sent no valid answer.", code=PARSE_ERROR)

    async def _take_refusal(self, response: httpx2.Response, exchange: _Exchange) -> None:
        """Deliver a JSON-RPC error; raise any other refusal."""
        refusal, said = await self._endpoint.refusal_in(response)
        status = response.status_code
        if self._conversation.ended_by(status, refusal, exchange.id):
            raise self._lose_session()
        is_answer = refusal is not None and (status < 500 or is_same_id(refusal.get("id"), exchange.id))
        if refusal is None or not is_answer or status in (401, 403, 429):
            raise self._endpoint.refusal(response, said)
        self._take({**refusal, "id": exchange.id}, exchange)

    async def _follow(self, response: httpx2.Response, exchange: _Exchange) -> None:
        """Read the answer's event stream; `_resume` handles a cut stream."""
        reader = EventStreamReader(max_event_bytes=self._context.max_message_bytes)
        try:
            async with contextlib.aclosing(self._endpoint.events(response, reader)) as events:
                async for event in events:
                    for message in await messages_in(event, self._context.on_log):
                        self._take(message, exchange)
                    note_event(answer=exchange.answered)
                    if exchange.answered:
                        await self._drain(events)
                        return
        except ConnectionLost as error:
            exchange.cut = error
        exchange.retry = exchange.retry if reader.retry is None else reader.retry
        if reader.last_event_id is not None:
            exchange.last_event_id = reader.last_event_id
            exchange.reconnect.fruitful()

    async def _drain(self, events: AsyncGenerator[ServerSentEvent]) -> None:
        """Wait briefly for the end of an answered stream, so that its connection can be reused."""
        if not self._drains:
            return
        try:
            async with asyncio.timeout(DRAIN_PATIENCE):
                async for _ in events:
                    pass
        except TimeoutError:
            self._drains = False  # this server leaves streams open: never wait again

    async def _resume(self, exchange: _Exchange) -> None:
        """Request the rest of a cut answer, or raise its error if that is not possible."""
        if self._over:
            raise self._session_ended()
        fruitless = exchange.reconnect.fruitless >= MAX_FRUITLESS_RESUMES
        if not exchange.resumable or exchange.last_event_id is None or fruitless:
            raise exchange.cut or ConnectionLost(
                f"{self._context.server} ended the stream without an answer.",
                hint="The call may or may not have taken effect.",
            )
        await asyncio.sleep(exchange.reconnect.next_delay(exchange.retry))
        try:
            async with self._stream(exchange.last_event_id) as response:
                if response is None:
                    exchange.resumable = False
                else:
                    await self._follow(response, exchange)
        except (RemoteUnreachable, ConnectionLost) as error:
            exchange.cut = error

    # Everything else

    async def _notify(self, message: Message) -> None:
        headers = POST_HEADERS | self._conversation.headers_for(message)
        async with self._endpoint.exchange("POST", headers, await encode_any(message)) as response:
            if response.status_code < 300:
                if content_type(response) != "text/event-stream":
                    await self._endpoint.body(response, self._context.max_message_bytes)
                return
            refusal, said = await self._endpoint.refusal_in(response)
            if self._conversation.ended_by(response.status_code, refusal):
                raise self._lose_session()
            raise self._endpoint.refusal(response, said)

    @contextlib.asynccontextmanager
    async def _stream(self, last_event_id: str | None) -> AsyncIterator[httpx2.Response | None]:
        """A GET stream of the legacy session; None if the server offers none or forgot the session."""
        headers = GET_HEADERS | self._conversation.session_headers()
        if last_event_id is not None:
            headers["Last-Event-ID"] = last_event_id
        async with self._endpoint.exchange("GET", headers) as response:
            if response.status_code == 200 and content_type(response) == "text/event-stream":
                yield response
                return
            refusal, said = await self._endpoint.refusal_in(response)
            if self._conversation.ended_by(response.status_code, refusal):
                self._lose_session()
            elif response.status_code >= 500 or response.status_code in (401, 403, 429):
                raise self._endpoint.refusal(response, said)
            yield None

    def _take(self, message: Message, exchange: _Exchange) -> None:
        if not is_reply(message):
            exchange.reconnect.fruitful()
            self._deliver(message)
            return
        if not is_same_id(message.get("id"), exchange.id):
            self._take_elsewhere(message)
            return
        message, complaints = self._conversation.learn(exchange.request, message)
        for complaint in complaints:
            self._context.on_log(complaint)
        exchange.answered = True
        self._deliver(message)

    def _take_elsewhere(self, message: Message) -> None:
        """A message on another request's stream; some servers answer there."""
        request_id = message.get("id")
        exchange = self._exchanges.get(request_id) if type(request_id) in (int, str) else None
        if exchange is None or exchange.answered or not is_reply(message):
            self._deliver(message)
            return
        self._take(message, exchange)
        exchange.waiting.reschedule(0.0)

    def _deliver(self, message: Message) -> None:
        if not self._over:
            self._inbox.receive(message)

    def _lose_session(self) -> ConnectionLost:
        error = self._session_ended()
        if not self._over:
            self._over = True
            self._inbox.lost(self._session_ended())
        return error

    def _session_ended(self) -> ConnectionLost:
        return ConnectionLost(
            f"{self._context.server} ended the session.",
            hint="It was probably restarted; a new session is opened automatically.",
        )


@contextlib.asynccontextmanager
async def open_http(
    spec: RemoteSpec, inbox: Inbox, context: LinkContext, *, sse_fallback: bool = True
) -> AsyncIterator[Link]:
    """A link to `spec.url`; nothing is sent before the first message."""
    async with open_endpoint(spec, context) as endpoint:
        link = HttpLink(endpoint, inbox, context, sse_fallback=sse_fallback)
        try:
            yield link
        finally:
            await link.close()


def _release_client(exchange: _Exchange) -> None:
    """If the server closes a stream deliberately to save a connection, let our client do the same."""
    client = relayed_client.get()
    if client is not None and exchange.cut is None and exchange.last_event_id is not None:
        client.break_off()
