"""JSON-RPC over a link: matches answers to requests, and passes the other side's requests to a handler. Has
the error for a call timeout, the longest call that reports progress, and the most requests at once.

Every request has a timeout that includes the write. A cancelled or timed-out request is cancelled at the
other side too. Calls may come from any task. Of MCP it knows only progress tokens and cancellation.

A timeout is paused while the other side waits for us, and restarts with each progress report, up to a limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextvars import Context
from math import inf
from typing import TYPE_CHECKING, Any

from toolcrib.errors import (
    CallFailed,
    CallTimeout,
    ConnectionLost,
    NotDelivered,
    PeerError,
    ToolcribError,
    UsageError,
)
from toolcrib.servers.transport import Link, Message
from toolcrib.tasks import TaskSet

if TYPE_CHECKING:
    from toolcrib.servers.traffic import Recording

_NEAR = 0.002
"""Seconds by which a timer may fire early: event loops count in milliseconds."""

OnProgress = Callable[[float, float | None, str | None], None]
OnNotice = Callable[[str, dict[str, Any]], None]
"""Called with a notification that belongs to no request."""
Answer = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]

logger = logging.getLogger(__name__)

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
MAX_INCOMING_REQUESTS = 64
"""The most requests of the other side in progress at once; more are refused."""
MAX_WAITING_NOTICES = 1000
"""The most refusals waiting to be sent; more are dropped."""
LONGEST_EXTENDED_CALL = 600.0
"""Progress extends a call's timeout, but never beyond this."""
CANCEL_NOTICE_TIMEOUT = 2.0
REASON_PATIENCE = 0.5
"""Seconds to wait for the exit code of a process that no longer reads."""
REPLY_TIMEOUT = 60.0
_REQUEST_ID = frozenset({int, str})
"""As MCP allows them. A dict takes `true` for 1 and `5.0` for 5, so types are compared."""


class Deadlines:
    """The timeouts of all requests of one connection with a single timer: one for each request would cost
    more than the rest of a quick call."""

    def __init__(self, loop: asyncio.AbstractEventLoop, requests: Mapping[Any, Pending]) -> None:
        self.loop = loop
        self._requests = requests
        self._handle: asyncio.TimerHandle | None = None
        self.rings_at = inf
        self._context = contextvars.Context()
        """An empty context: otherwise the timer would keep the first request's context alive."""

    def watch(self, when: float) -> None:
        """Check all timeouts at this time, or earlier."""
        if when < self.rings_at:
            if self._handle is not None:
                self._handle.cancel()
            self.rings_at = when
            self._handle = self.loop.call_at(when, self._ring, context=self._context)

    def close(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle, self.rings_at = None, inf

    def _ring(self) -> None:
        self._handle, self.rings_at = None, inf
        now = self.loop.time()
        for request in tuple(self._requests.values()):
            if request.at is None or request.future.done():
                continue
            if request.at - now > _NEAR:
                self.watch(request.at)
            else:
                request.future.set_exception(TimeoutError())


class Pending:
    """One request; `patience` is None for an open stream."""

    __slots__ = (
        "_deadlines",
        "at",
        "context",
        "deadline",
        "future",
        "held_since",
        "holds",
        "latest",
        "left",
        "on_progress",
        "patience",
    )

    def __init__(self, future: asyncio.Future[Any], patience: float | None, on_progress: OnProgress | None):
        self.future = future
        self.context = contextvars.copy_context()
        """The sender's context: a question of the other side is asked for that sender."""
        self.patience = patience
        self.on_progress = on_progress
        self.deadline: asyncio.Timeout | None = None
        """The timeout of the sending task, if it has one."""
        self.at: float | None = None
        """When it times out, by the loop's clock; None if paused or handled by `deadline`."""
        self._deadlines: Deadlines | None = None
        self.latest = 0.0
        self.holds = 0

    def begin(self, deadlines: Deadlines, seconds: float) -> None:
        """Time out after `seconds`: cheaper than a task timeout."""
        self._deadlines = deadlines
        self.at = at = deadlines.loop.time() + seconds
        if at < deadlines.rings_at:
            deadlines.watch(at)

    def hold(self, now: float) -> None:
        """Pause the timeout; calls nest."""
        self.holds += 1
        if self.holds == 1 and self.patience is not None:
            self.held_since, self.left = now, (self._when() or now) - now
            self._reschedule(None)

    def release(self, now: float) -> None:
        """Resume the timeout after the last `hold`."""
        self.holds -= 1
        if self.holds == 0 and self.patience is not None:
            self.latest += now - self.held_since
            self._reschedule(now + self.left)

    def progressed(self, now: float) -> None:
        """Restart the timeout, up to `latest`."""
        if self.patience is None:
            return
        if self.holds:
            self.left = min(self.patience, self.latest - self.held_since)
        else:
            self._reschedule(min(now + self.patience, self.latest))

    def _when(self) -> float | None:
        return self.at if self.deadline is None else self.deadline.when()

    def _reschedule(self, when: float | None) -> None:
        """Change the time of the timeout; None pauses it. No effect once answered."""
        if self.deadline is not None:
            with contextlib.suppress(RuntimeError):  # it has just expired, or its block has ended
                self.deadline.reschedule(when)
        elif self._deadlines is not None:
            self.at = None if self.future.done() else when
            if self.at is not None:
                self._deadlines.watch(self.at)


class Peer:
    """Our end of one connection; the link's inbox."""

    def __init__(
        self,
        answer: Answer,
        on_notice: OnNotice,
        *,
        server: str = "server",
        recordings: Mapping[str, Recording] | None = None,
    ) -> None:
        """`answer` has the result of a request of the other side, or raises `PeerError` to refuse it.

        `recordings` has those that go on, by server, and changes while the connection lasts.
        """
        self._find_answer = answer
        self._on_notice = on_notice
        self._server = server
        self._recordings = {} if recordings is None else recordings
        self._link: Link | None = None
        self._post: Callable[[Message], bool] | None = None
        self._pending: dict[Any, Pending] = {}
        self._next_id = 1
        self._incoming: dict[Any, asyncio.Task[None]] = {}
        self._background = TaskSet()
        self._loop = asyncio.get_running_loop()
        self._deadlines = Deadlines(self._loop, self._pending)
        self.lost_with: asyncio.Future[ToolcribError] = self._loop.create_future()
        """Resolves with the reason once the link is lost."""

    def attach(self, link: Link) -> None:
        self._link = link
        self._post = getattr(link, "post", None)

    @property
    def oldest_request(self) -> Any:
        """The id of the request in progress for longest; None if none is. Open streams do not count."""
        return next((id_ for id_, pending in self._pending.items() if pending.patience is not None), None)

    async def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        timeout: float | None,
        on_progress: OnProgress | None = None,
        cancellable: bool = True,
    ) -> dict[str, Any]:
        """Send a request and wait for its result; without `timeout`, until the link is lost."""
        link = self._link
        if link is None or self.lost_with.done():
            link = self._usable_link()
        request_id = self._next_id
        self._next_id = request_id + 1
        future = self._loop.create_future()
        pending = Pending(future, timeout, on_progress)
        message: Message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        if params is not None:
            message["params"] = params
        if on_progress is not None:
            meta = {**(params or {}).get("_meta", {}), "progressToken": request_id}
            message["params"] = {**(params or {}), "_meta": meta}
            pending.latest = self._loop.time() + max(LONGEST_EXTENDED_CALL, timeout or 0)
        if self._recordings:
            self._record(message, to_server=True)
        self._pending[request_id] = pending
        result = None
        try:
            if timeout is not None and self._post is not None and self._post(message):
                # Sent without waiting: no task timeout is needed.
                pending.begin(self._deadlines, timeout)
                result = await future
            else:
                async with asyncio.timeout(timeout) as pending.deadline:
                    await link.send(message)
                    result = await future
        except TimeoutError:
            self._abandon(request_id, "timed out", cancellable)
            raise self._timed_out(method, timeout, getattr(link, "throttled", 0.0)) from None
        except asyncio.CancelledError:
            self._abandon(request_id, "cancelled", cancellable)
            raise
        except ConnectionLost as error:
            raise await self._explained(error) from None
        finally:
            del self._pending[request_id]
            if result is None and future.done() and not future.cancelled():
                future.exception()  # the send failed first; mark this error as seen
        if not isinstance(result, dict):
            raise PeerError(
                f"{self._server} answered {method} with a result that is not an object.", code=INTERNAL_ERROR
            )
        return result

    def _timed_out(self, method: str, timeout: float | None, throttled: float) -> CallTimeout:
        late = f"{self._server} did not answer {method} within {timeout:g} s"
        if not throttled:
            return CallTimeout(f"{late}.", hint="Raise the server's call timeout, or check its log.")
        return CallTimeout(
            f"{late}: it sends too much that nobody asked for, and has been throttled for {throttled:.1f} s. "
            "The answer may be behind the rest of its output.",
            hint=f"Check what it sends with `toolcrib logs {self._server}`, and report it to its author.",
        )

    async def notify(
        self, method: str, params: dict[str, Any] | None = None, *, timeout: float = 10.0
    ) -> None:
        """Send a notification; raises `CallTimeout` if the other side does not read it."""
        message: Message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        if self._recordings:
            self._record(message, to_server=True)
        try:
            async with asyncio.timeout(timeout):
                await self._usable_link().send(message)
        except TimeoutError:
            raise CallTimeout(
                f"{self._server} did not read {method} within {timeout:g} s.", hint="Check its log."
            ) from None

    def receive(self, message: Message) -> None:
        """Handle a message (called by the link)."""
        if self.lost_with.done():
            return
        method = message.get("method")
        try:
            if self._recordings:
                self._record(message, to_server=False)
            if method is None:
                self._settle(message)
            elif "id" in message:
                self._take_request(message)
            else:
                self._take_notification(str(method), _params_of(message))
        except Exception:  # the link must continue to read
            logger.exception("a message could not be handled", extra={"server": self._server})

    def lost(self, error: ToolcribError) -> None:
        """The link is lost (called by the link): all waiting requests fail."""
        if self.lost_with.done():
            return
        self.lost_with.set_result(error)
        self._deadlines.close()
        for pending in self._pending.values():
            if not pending.future.done():
                pending.future.set_exception(_copy_of(error))
        for task in self._incoming.values():
            task.cancel()

    async def close(self) -> None:
        """Stop answering; waiting requests fail."""
        self.lost(ConnectionLost(f"The connection to {self._server} was closed."))
        tasks = [*self._incoming.values(), *self._background]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _explained(self, error: ConnectionLost) -> ToolcribError:
        """The reason for a failed write, which the link may learn a moment later."""
        if isinstance(error, NotDelivered):
            await asyncio.wait({self.lost_with}, timeout=REASON_PATIENCE)
        if not self.lost_with.done():
            return error
        reason = self.lost_with.result()
        if isinstance(error, NotDelivered) and isinstance(reason, ConnectionLost):
            return NotDelivered(reason.message, hint=reason.hint)
        return _copy_of(reason)

    def _record(self, message: Message, *, to_server: bool) -> None:
        recording = self._recordings.get(self._server)
        if recording is not None and not self.lost_with.done():
            recording.note(self, message, to_server=to_server)

    def _usable_link(self) -> Link:
        if self.lost_with.done():
            raise _copy_of(self.lost_with.result()) from None
        if self._link is None:
            raise ConnectionLost(f"{self._server} is not connected.")
        return self._link

    def _settle(self, message: Message) -> None:
        request_id = message.get("id")
        # As `_pending_for`, without a function call for every answer.
        pending = self._pending.get(request_id) if type(request_id) is int else None
        if pending is None:
            if request_id is None:
                logger.warning("an answer without an id is ignored", extra={"server": self._server})
            return
        future, error = pending.future, message.get("error")
        if future.done():
            return
        if error is None:
            future.set_result(message.get("result"))
        else:
            future.set_exception(_peer_error(error))

    def _pending_for(self, request_id: Any) -> Pending | None:
        """The request with exactly this id: `5` is not "5", `5.0` or `true`, which are equal in a dict."""
        return self._pending.get(request_id) if type(request_id) is int else None

    def _take_notification(self, method: str, params: dict[str, Any]) -> None:
        if method == "notifications/progress":
            self._take_progress(params)
        elif method == "notifications/cancelled":
            self._take_cancellation(params.get("requestId"))
        else:
            self._on_notice(method, params)

    def _take_progress(self, params: dict[str, Any]) -> None:
        pending = self._pending_for(params.get("progressToken"))
        if pending is None or pending.on_progress is None:
            return
        pending.progressed(self._loop.time())
        text = params.get("message")
        pending.on_progress(
            _as_float(params.get("progress")) or 0.0,
            _as_float(params.get("total")),
            text if isinstance(text, str) else None,
        )

    def _take_cancellation(self, request_id: Any) -> None:
        """The other side cancels its own request, or ends a stream of ours."""
        if type(request_id) not in _REQUEST_ID:
            return
        task = self._incoming.get(request_id)
        if task is not None:
            task.cancel()
            return
        pending = self._pending_for(request_id)
        if pending is not None and pending.patience is None and not pending.future.done():
            pending.future.set_exception(CallFailed(f"{self._server} ended the stream."))

    def _take_request(self, message: Message) -> None:
        request_id = message["id"]
        if type(request_id) not in _REQUEST_ID:
            self._refuse(None, INVALID_REQUEST, "The id must be a string or an integer")
            return
        if len(self._incoming) >= MAX_INCOMING_REQUESTS or request_id in self._incoming:
            self._refuse(request_id, -32000, "Too many requests at once")
            return
        task = self._loop.create_task(self._answer(message), context=self._context_of_call())
        self._incoming[request_id] = task
        task.add_done_callback(lambda _: self._incoming.pop(request_id, None))

    def _context_of_call(self) -> Context | None:
        """The context of the call that a request belongs to: the protocol does not say, so the latest one."""
        calls = [pending for pending in self._pending.values() if pending.patience is not None]
        return calls[-1].context.copy() if calls else None

    async def _answer(self, message: Message) -> None:
        """Counts as in progress until the reply is sent."""
        reply: Message = {"jsonrpc": "2.0", "id": message["id"]}
        outcome = await self._outcome(message)
        try:
            await self._deliver({**reply, **outcome}, timeout=REPLY_TIMEOUT)
        except UsageError as error:
            failure = {"code": INTERNAL_ERROR, "message": error.message}
            await self._deliver({**reply, "error": failure}, timeout=REPLY_TIMEOUT)

    async def _outcome(self, message: Message) -> dict[str, Any]:
        method = str(message["method"])
        try:
            with self._paused_deadlines():
                return {"result": await self._find_answer(method, _params_of(message))}
        except PeerError as error:
            return {"error": {"code": error.code, "message": error.message, "data": error.data}}
        except ToolcribError as error:
            return {"error": {"code": INTERNAL_ERROR, "message": error.message}}
        except Exception:
            logger.exception("handler of %s failed", method, extra={"server": self._server})
            return {"error": {"code": INTERNAL_ERROR, "message": "The handler failed"}}

    @contextlib.contextmanager
    def _paused_deadlines(self) -> Iterator[None]:
        """While the other side waits for us (such as for the user's answer), our calls do not time out."""
        held = list(self._pending.values())
        for pending in held:
            pending.hold(self._loop.time())
        try:
            yield
        finally:
            for pending in held:
                pending.release(self._loop.time())

    def _refuse(self, request_id: Any, code: int, text: str) -> None:
        if len(self._background) < MAX_WAITING_NOTICES:
            error = {"code": code, "message": text}
            self._in_background({"jsonrpc": "2.0", "id": request_id, "error": error}, timeout=REPLY_TIMEOUT)

    def _abandon(self, request_id: int, reason: str, cancellable: bool) -> None:
        if not cancellable or self.lost_with.done():
            return
        params = {"requestId": request_id, "reason": reason}
        message: Message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        self._in_background(message, timeout=CANCEL_NOTICE_TIMEOUT)

    def _in_background(self, message: Message, *, timeout: float) -> None:
        self._background.start(self._deliver(message, timeout=timeout))

    async def _deliver(self, message: Message, *, timeout: float) -> None:
        """Send a message and ignore delivery errors. Raises only `UsageError`."""
        if self._recordings:
            self._record(message, to_server=True)
        try:
            async with asyncio.timeout(timeout):
                await self._usable_link().send(message)
        except UsageError:
            raise
        except (TimeoutError, ToolcribError):
            pass


def _params_of(message: Message) -> dict[str, Any]:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _peer_error(error: Any) -> PeerError:
    if not isinstance(error, dict):
        return PeerError(str(error), code=INTERNAL_ERROR)
    code = error.get("code")
    text = error.get("message")
    return PeerError(
        text if isinstance(text, str) and text else "The server gave no reason.",
        code=code if isinstance(code, int) else INTERNAL_ERROR,
        data=error.get("data"),
    )


def _as_float(value: Any) -> float | None:
    if not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _copy_of(error: ToolcribError) -> ToolcribError:
    """A new exception for each waiter: a shared one would collect all tracebacks."""
    fresh = error.__class__.__new__(error.__class__)
    fresh.__dict__.update(error.__dict__)
    fresh.args = error.args
    return fresh
