"""A remote server over HTTP with SSE, the older transport of 2024-11-05: one stream in, one POST a message
out. Has the errors for an invalid message endpoint and a closed stream.

When the stream ends, the link is lost.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import httpx2

from toolcrib.errors import ConnectionLost, PeerError, RemoteUnreachable, ToolcribError
from toolcrib.servers.metered import EXCHANGE, MAX_REPLIES, Metered, ServerShare, note_event
from toolcrib.servers.remote.conversation import is_reply, is_request, is_same_id, messages_in
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
from toolcrib.servers.sessions.codec import encode_any
from toolcrib.servers.transport import Inbox, Link, LinkContext, Message
from toolcrib.tasks import cancel_and_wait


class SseLink:
    """The stream, and the endpoint that the server gave for messages."""

    pid = None

    def __init__(self, endpoint: RemoteEndpoint, inbox: Inbox, context: LinkContext) -> None:
        self._endpoint = endpoint
        self._inbox = inbox
        self._context = context
        self._address: asyncio.Future[httpx2.URL] = asyncio.get_running_loop().create_future()
        self._reading: asyncio.Task[None] | None = None
        self._share = ServerShare(context.on_flood)
        self._hearing: Metered[None] | None = None
        self._replies = asyncio.Semaphore(MAX_REPLIES)
        self._expected = 0
        """Answers that may still come."""
        self._over = False

    async def start(self) -> None:
        """Open the stream and wait for the message endpoint."""
        self._hearing = self._share.metered(self._read())
        self._reading = asyncio.ensure_future(self._hearing)
        await self._address

    @property
    def throttled(self) -> float:
        return self._share.throttled

    async def send(self, message: Message) -> None:
        """POST a message; the answer arrives on the stream."""
        if self._over:
            raise self._gone()
        if "method" not in message:
            async with self._replies:
                await self._share.metered(self._post(message))
            return
        if is_request(message):
            self._expect(1)
        await self._share.metered(self._post(message), free=EXCHANGE)

    async def _post(self, message: Message) -> None:
        url = self._address.result()
        body = await encode_any(message)
        async with self._endpoint.exchange("POST", POST_HEADERS, body, url=url) as response:
            if response.status_code < 300:
                await self._endpoint.body(response, self._context.max_message_bytes)
                return
            await self._take_refusal(response, message)

    async def close(self) -> None:
        self._over = True
        self._share.close()
        await cancel_and_wait(self._reading)

    async def _take_refusal(self, response: httpx2.Response, message: Message) -> None:
        refusal, said = await self._endpoint.refusal_in(response)
        status = response.status_code
        is_answer = refusal is not None and is_same_id(refusal.get("id"), message.get("id"))
        if status in (404, 410) and not is_answer:  # the stream is open, but the session is gone
            self._lose(self._gone())
            raise self._gone()
        if refusal is None or not is_request(message) or status in (401, 403, 429) or status >= 500:
            raise self._endpoint.refusal(response, said)
        self._inbox.receive({**refusal, "id": message["id"]})

    async def _read(self) -> None:
        """Read the stream to its end, which ends the link."""
        try:
            async with self._endpoint.exchange("GET", GET_HEADERS) as response:
                await self._check(response)
                await self._hear(response)
            error: ToolcribError = self._gone()
        except ToolcribError as failure:
            error = failure
        if self._address.done():
            self._lose(error)
        else:
            self._address.set_exception(error)

    async def _check(self, response: httpx2.Response) -> None:
        if response.status_code >= 300:
            _, said = await self._endpoint.refusal_in(response)
            raise self._endpoint.refusal(response, said)
        kind = content_type(response)
        if kind != "text/event-stream":
            raise PeerError(
                f"{self._context.server} sent content type {kind or 'none'} instead of an event stream.",
                code=INVALID_REQUEST,
                hint="If the server uses streamable HTTP, set its type to http.",
            )

    async def _hear(self, response: httpx2.Response) -> None:
        reader = EventStreamReader(max_event_bytes=self._context.max_message_bytes)
        async with contextlib.aclosing(self._endpoint.events(response, reader)) as events:
            async for event in events:
                if event.type == "endpoint":
                    self._take_address(event)
                    continue
                messages = await messages_in(event, self._context.on_log)
                answers = min(self._expected, sum(map(is_reply, messages)))
                self._expect(-answers)
                note_event(answer=answers > 0)
                for message in messages:
                    if not self._over:
                        self._inbox.receive(message)

    def _expect(self, change: int) -> None:
        self._expected += change
        if self._hearing is not None:
            self._hearing.answer_expected = self._expected > 0

    def _take_address(self, event: ServerSentEvent) -> None:
        if self._address.done():
            return
        try:
            url = self._endpoint.url.join(event.data.decode("utf-8", "replace"))
        except httpx2.InvalidURL as error:
            raise RemoteUnreachable(
                f"{self._context.server} sent an invalid message endpoint.",
                hint="Ask its operator; if it also offers streamable HTTP, set its type to http.",
            ) from error
        if not self._endpoint.same_origin(url):
            raise RemoteUnreachable(
                f"{self._context.server} sent an endpoint on another host ({url.host}), which is refused.",
                hint="If the server has moved there, change its url.",
            )
        self._address.set_result(url)

    def _lose(self, error: ToolcribError) -> None:
        if not self._over:
            self._over = True
            self._inbox.lost(error)

    def _gone(self) -> ConnectionLost:
        return ConnectionLost(
            f"{self._context.server} closed its event stream.",
            hint="It was probably restarted; the connection is reopened automatically.",
        )


@contextlib.asynccontextmanager
async def open_sse(spec: RemoteSpec, inbox: Inbox, context: LinkContext) -> AsyncIterator[Link]:
    """A link to the server with its event stream at `spec.url`."""
    async with open_endpoint(spec, context) as endpoint:
        link = SseLink(endpoint, inbox, context)
        try:
            await link.start()
            yield link
        finally:
            await link.close()
