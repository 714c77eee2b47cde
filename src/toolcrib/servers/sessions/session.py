"""A session with one server, in either protocol era, in raw MCP payloads: calls, lists and change
notifications. Limits: most tools and pages listed, rounds of input in a call.

`connect` owns the connection: entering it opens the link and negotiates the version, leaving it ends
everything behind the link. Calls may come from any task. The legacy era sends us requests where the modern
one answers `input_required`; both use the same handlers, so callers see no difference.

The legacy era sends changes unasked; the modern one only on a `subscriptions/listen` stream, which is
reopened if cut. It replays nothing, so a reopened stream counts as a change of everything it covers.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

from toolcrib.errors import CallFailed, CallTimeout, PeerError, ServerUnavailable, StartFailed, ToolcribError
from toolcrib.serverkit.caller_context import CALL_ID, asked_call
from toolcrib.serverkit.encoding import MAX_HANDED_ON
from toolcrib.serverkit.readiness import READY, Lack, read_lack
from toolcrib.servers.processes.log import slow_start_hint
from toolcrib.servers.sessions.codec import Measured
from toolcrib.servers.sessions.handlers import Handlers, relayed_client
from toolcrib.servers.sessions.negotiation import Agreement, Era, Identity, negotiate
from toolcrib.servers.sessions.peer import INTERNAL_ERROR, METHOD_NOT_FOUND, OnNotice, OnProgress, Peer
from toolcrib.servers.transport import Inbox, Link
from toolcrib.tasks import in_background
from toolcrib.telemetry.propagation import carried
from toolcrib.version import __version__

if TYPE_CHECKING:
    from toolcrib.servers.traffic import Recording

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
CHANGES = {
    "tools": ("toolsListChanged", "notifications/tools/list_changed"),
    "prompts": ("promptsListChanged", "notifications/prompts/list_changed"),
    "resources": ("resourcesListChanged", "notifications/resources/list_changed"),
}

logger = logging.getLogger(__name__)

CALL = "tools/call"
HEADER_MISMATCH = -32020
RELIST_TIMEOUT = 30.0
MAX_FRESH_MS = 86_400_000
MAX_INPUT_ROUNDS = 10
MAX_PAGES = 1000
MAX_LISTED = 20_000
"""The most tools, resources or prompts accepted from one server."""

OpenLink = Callable[[Inbox], AbstractAsyncContextManager[Link]]


@asynccontextmanager
async def listen(session: Session, on_notice: OnNotice) -> AsyncIterator[None]:
    """Listen in the background while the block runs, if the server announces changes."""
    wanted = [kind for kind in CHANGES if _promises_changes(session.agreement.capabilities.get(kind))]
    if not wanted:
        yield
        return
    async with in_background(_keep_listening(session, wanted, on_notice), "changes"):
        yield


def _promises_changes(capability: Any) -> bool:
    return isinstance(capability, dict) and capability.get("listChanged") is True


async def _keep_listening(session: Session, wanted: list[str], on_notice: OnNotice) -> None:
    pause = FIRST_PAUSE
    params = {"notifications": {CHANGES[kind][0]: True for kind in wanted}}
    while True:
        began = asyncio.get_running_loop().time()
        try:
            await session.request("subscriptions/listen", params, timeout=None)
        except PeerError:
            return  # not supported after all
        except (ServerUnavailable, CallFailed):
            pass
        if asyncio.get_running_loop().time() - began > LONGEST_PAUSE:
            pause = FIRST_PAUSE
        await asyncio.sleep(pause)
        if session.lost.done():
            return
        pause = min(pause * 2, LONGEST_PAUSE)
        for kind in wanted:
            on_notice(CHANGES[kind][1], {})


class Session:
    """A live connection to a server."""

    def __init__(self, server: str, peer: Peer, agreement: Agreement, identity: Identity, handlers: Handlers):
        self.server = server
        self.agreement = agreement
        self.pid: int | None = None
        self.fresh_until: dict[str, float] = {}
        """Until when (loop clock) the server declares a list unchanged, by method."""
        self.lost = peer.lost_with
        """Resolves with the reason once the connection is lost."""
        self._peer = peer
        self._handlers = handlers
        modern = agreement.era == "modern"
        self._meta = identity.meta(agreement.version) if modern else None

    @property
    def oldest_request(self) -> Any:
        """Identifies the request that is in progress for longest; None if not busy."""
        return self._peer.oldest_request

    def lose(self, error: ToolcribError) -> None:
        """Mark the connection as lost; its owner closes it."""
        self._peer.lost(error)

    def offers(self, capability: str) -> bool:
        """Whether the server declared this capability, such as `tools` or `completions`."""
        return capability in self.agreement.capabilities

    @property
    def reports_readiness(self) -> bool:
        """Whether the server can tell what its tools need, such as an account."""
        experimental = self.agreement.capabilities.get("experimental")
        return isinstance(experimental, dict) and READY in experimental

    async def find_lack(self, *, timeout: float) -> Lack | None:
        """What the tools need before they work; None if nothing, or if the server cannot tell."""
        if not self.reports_readiness:
            return None
        try:
            return read_lack(await self.request(READY, timeout=timeout))
        except PeerError as error:  # such as accounts that cannot be read
            return Lack("", error.message, error.hint)

    def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        timeout: float | None,
        on_progress: OnProgress | None = None,
    ) -> Coroutine[Any, Any, dict[str, Any]]:
        """Send any request, with the `_meta` of the negotiated era."""
        if self._meta is not None:
            params = {} if params is None else params
            extra = params.get("_meta")
            params = {**params, "_meta": self._meta if extra is None else {**self._meta, **extra}}
        return self._peer.request(method, params, timeout=timeout, on_progress=on_progress)

    async def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a notification; ignored in the modern era, which has only cancellation."""
        if self._meta is None:
            await self._peer.notify(method, params)

    def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        timeout: float | None,
        on_progress: OnProgress | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Coroutine[Any, Any, dict[str, Any]]:
        """Call a tool by its original name, answering the server's questions."""
        params: dict[str, Any] = {"name": name, "arguments": arguments}
        if meta:
            params["_meta"] = meta
        return self.ask(CALL, params, timeout=timeout, on_progress=on_progress)

    async def ask(
        self,
        method: str,
        params: dict[str, Any],
        *,
        timeout: float | None,
        on_progress: OnProgress | None = None,
        check: Callable[[Any], None] | None = None,
    ) -> dict[str, Any]:
        """Send a request that the server may answer with questions, such as `tools/call` or `prompts/get`.

        `check` gets the tool's definition if the server makes us list its tools first.
        """
        trace = carried.get()
        if trace is not None:
            params = {**params, "_meta": {**params.get("_meta", {}), **trace}}
        asked = asked_call.get()
        if asked is not None and method == CALL:
            params = {**params, "_meta": {**params.get("_meta", {}), CALL_ID: asked}}
        client = relayed_client.get()
        if client is not None:
            params = client.stamp(self.server, params, modern=self._meta is not None)
        if self._meta is not None:
            extra = params.get("_meta")
            params = {**params, "_meta": self._meta if extra is None else {**self._meta, **extra}}
        try:
            result = await self._peer.request(method, params, timeout=timeout, on_progress=on_progress)
        except PeerError as error:
            if error.code != HEADER_MISMATCH or method != CALL:
                raise
            # The tool now needs other arguments in headers; the link learns them from the list.
            listed = await self.list_tools(timeout=timeout or RELIST_TIMEOUT)
            if check is not None:
                check(_named(listed, params["name"]))
            result = await self.request(method, params, timeout=timeout, on_progress=on_progress)
        if result.get("resultType") == "input_required":
            handed_back = None if client is None else client.hand_back(self.server, result)
            if handed_back is not None:
                return handed_back
            result = await self._with_input(method, params, result, timeout, on_progress)
        if type(result) is Measured and result.many_values:
            raise await self._too_many_values(result)
        if method == CALL and not isinstance(result.get("content"), list):
            return self._with_content(result)
        return result

    async def _too_many_values(self, result: Measured) -> PeerError:
        """The reason; frees the result beside the loop."""
        from toolcrib.serverkit.encoding import free  # rarely needed

        await asyncio.to_thread(free, result)
        return PeerError(
            f"{self.server} answered with more than {MAX_HANDED_ON:,} values, which is refused.",
            code=INTERNAL_ERROR,
            hint="Request less, one part at a time, or as a single text.",
        )

    def _with_content(self, result: dict[str, Any]) -> dict[str, Any]:
        """Some servers omit `content` next to `structuredContent`; any other value is an error."""
        if result.get("content") is not None:
            raise PeerError(
                f"{self.server} answered with a `content` that is not a list.",
                code=INTERNAL_ERROR,
                hint="This is a bug in the server: report it to its author.",
            )
        return {**result, "content": []}

    async def list_all(self, kind: str, *, timeout: float, key: str | None = None) -> list[Any]:
        """All pages of `tools/list`, `resources/list`, `prompts/list` or `resources/templates/list`."""
        try:
            async with asyncio.timeout(timeout):
                return await self._pages(f"{kind}/list", key or kind.partition("/")[0], timeout)
        except TimeoutError:
            raise CallTimeout(
                f"{self.server} did not list all of its {kind} within {timeout:g} s.",
                hint=f"See `toolcrib logs {self.server}`.",
            ) from None

    async def list_tools(self, *, timeout: float) -> list[Any]:
        """The raw tool definitions, valid or not; empty if the server declares no tools."""
        if self.agreement.capabilities and not self.offers("tools"):
            return []
        try:
            return await self.list_all("tools", timeout=timeout)
        except PeerError as error:
            if error.code == METHOD_NOT_FOUND and not self.offers("tools"):
                return []
            raise

    async def check(self, *, timeout: float) -> None:
        """Health check: any answer counts, even a refusal."""
        method = "server/discover" if self._meta is not None else "ping"
        with contextlib.suppress(PeerError):
            await self.request(method, timeout=timeout)

    async def _pages(self, method: str, key: str, timeout: float) -> list[Any]:
        items: list[Any] = []
        cursor: Any = None
        seen: set[str] = set()
        fresh_until = math.inf
        for _ in range(MAX_PAGES):
            page = await self.request(method, {"cursor": cursor} if cursor else None, timeout=timeout)
            found = page.get(key)
            items.extend(found if isinstance(found, list) else [])
            fresh_until = min(fresh_until, _fresh_until(page))
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or not cursor or cursor in seen or len(items) >= MAX_LISTED:
                break
            seen.add(cursor)
        self.fresh_until[method] = fresh_until
        return items[:MAX_LISTED]

    async def _with_input(
        self,
        method: str,
        params: dict[str, Any],
        result: dict[str, Any],
        timeout: float | None,
        on_progress: OnProgress | None,
    ) -> dict[str, Any]:
        """Answer the server's questions and send the request again, until it is complete."""
        for round_number in range(MAX_INPUT_ROUNDS):
            retry = {
                key: value for key, value in params.items() if key not in ("inputResponses", "requestState")
            }
            wanted = result.get("inputRequests")
            if isinstance(wanted, dict) and wanted:
                retry["inputResponses"] = await self._answers(wanted)
            else:
                await asyncio.sleep(min(0.05 * 2**round_number, 0.25))
            if "requestState" in result:
                retry["requestState"] = result["requestState"]
            result = await self.request(method, retry, timeout=timeout, on_progress=on_progress)
            if result.get("resultType") != "input_required":
                return result
        raise CallFailed(
            f"{self.server} asked for more input {MAX_INPUT_ROUNDS} times without finishing the call.",
            hint="The server may be broken; check its log.",
        )

    async def _answers(self, wanted: dict[str, Any]) -> dict[str, Any]:
        async def answer(request: Any) -> dict[str, Any]:
            request = request if isinstance(request, dict) else {}
            params = request.get("params")
            return await self._handlers.answer(
                self.server, str(request.get("method")), params if isinstance(params, dict) else {}
            )

        tasks = [asyncio.ensure_future(answer(request)) for request in wanted.values()]
        try:
            return dict(zip(wanted, await asyncio.gather(*tasks), strict=True))
        finally:
            for task in tasks:  # one refusal ends the call: the user is not asked the rest
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _named(listed: list[Any], name: str) -> Any:
    return next((tool for tool in listed if isinstance(tool, dict) and tool.get("name") == name), None)


def _fresh_until(page: dict[str, Any]) -> float:
    """Without `ttlMs`, an answer is stale at once."""
    ttl = page.get("ttlMs")
    milliseconds = ttl if isinstance(ttl, int) and not isinstance(ttl, bool) and ttl > 0 else 0
    return asyncio.get_running_loop().time() + min(milliseconds, MAX_FRESH_MS) / 1000


class NoHandshake(StartFailed):
    """The server did not answer the handshake in time."""


def _ignore(method: str, params: dict[str, Any]) -> None:
    """Ignores the notification."""


def new_peer(
    server: str,
    handlers: Handlers,
    on_notice: OnNotice = _ignore,
    recordings: Mapping[str, Recording] | None = None,
) -> Peer:
    """The inbox for a new link."""

    async def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
        return {} if method == "ping" else await handlers.answer(server, method, params)

    return Peer(answer, on_notice, server=server, recordings=recordings)


@asynccontextmanager
async def connect(
    server: str,
    open_link: OpenLink,
    *,
    handlers: Handlers | None = None,
    era: Era | None = None,
    timeout: float = 60.0,
    on_notice: OnNotice = _ignore,
    recordings: Mapping[str, Recording] | None = None,
) -> AsyncIterator[Session]:
    """Open a link and negotiate the version; the session lasts until the block is left."""
    handlers = handlers or Handlers()
    peer = new_peer(server, handlers, on_notice, recordings)
    async with (
        open_link(peer) as link,
        converse(server, peer, link, handlers, era=era, timeout=timeout, on_notice=on_notice) as session,
    ):
        yield session


@asynccontextmanager
async def converse(
    server: str,
    peer: Peer,
    link: Link,
    handlers: Handlers,
    *,
    era: Era | None = None,
    timeout: float = 60.0,
    on_notice: OnNotice = _ignore,
) -> AsyncIterator[Session]:
    """Negotiate the version over an open link; the session lasts until the block is left."""
    identity = Identity(
        info={"name": "toolcrib", "version": __version__}, capabilities=handlers.capabilities()
    )
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(peer.close)
        peer.attach(link)
        try:
            agreement = await negotiate(peer, identity, era=era, timeout=timeout)
        except PeerError as error:
            raise StartFailed(
                f"{server} refused the handshake: {error.message}",
                hint=error.hint or f"See `toolcrib logs {server}`.",
            ) from None
        except (TimeoutError, CallTimeout):
            raise NoHandshake(
                f"{server} did not answer the handshake within {timeout:g} s.",
                hint=slow_start_hint(server),
            ) from None
        session = Session(server, peer, agreement, identity, handlers)
        session.pid = link.pid
        if agreement.era == "modern":
            await stack.enter_async_context(listen(session, on_notice))
        yield session
