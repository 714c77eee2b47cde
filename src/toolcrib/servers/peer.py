"""JSON-RPC over a link: gives each request its answer, and each request of the other side a handler.

Every request has a deadline that covers the write too. A cancelled or late caller tells the other side. Calls
may come from any task. It knows nothing of MCP beyond progress tokens and cancellation.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from toolcrib.errors import CallTimeout, ConnectionLost, PeerError, ToolcribError
from toolcrib.servers.link import Link, Message

logger = logging.getLogger(__name__)

METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
MAX_INCOMING_REQUESTS = 64
"""How many requests of the other side may be in hand at once; a flood is refused, not endured."""
LONGEST_EXTENDED_CALL = 600.0
"""Progress keeps a call alive beyond its deadline, but never longer than this."""
CANCEL_NOTICE_TIMEOUT = 2.0

OnProgress = Callable[[float, float | None, str | None], None]


class Answerer(Protocol):
    """Who answers the other side."""

    async def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a request of the other side; raises `PeerError` to refuse it."""

    def noticed(self, method: str, params: dict[str, Any]) -> None:
        """A notification arrived that belongs to no request."""


class _Pending:
    """A request on its way: who waits, for how long, and who hears of progress."""

    __slots__ = ("deadline", "future", "latest", "on_progress", "patience")

    def __init__(self, future: asyncio.Future[Any], patience: float | None, on_progress: OnProgress | None):
        self.future = future
        self.patience = patience
        self.on_progress = on_progress
        self.deadline: asyncio.Timeout | None = None
        self.latest = 0.0


class Peer:
    """The two ends of one conversation, seen from ours. It is the link's inbox."""

    def __init__(self, answerer: Answerer, *, server: str = "server") -> None:
        self._answerer = answerer
        self._server = server
        self._link: Link | None = None
        self._pending: dict[Any, _Pending] = {}
        self._next_id = 1
        self._incoming: dict[Any, asyncio.Task[None]] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self.lost_with: asyncio.Future[ToolcribError] = self._loop.create_future()
        """Resolves with the reason once the link is gone for good."""

    def attach(self, link: Link) -> None:
        """Speak over this link from now on."""
        self._link = link

    @property
    def busy(self) -> bool:
        """True while a request is on its way."""
        return bool(self._pending)

    async def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        timeout: float | None,
        on_progress: OnProgress | None = None,
        cancellable: bool = True,
    ) -> dict[str, Any]:
        """Send a request and wait for its result. `timeout` in seconds; None waits until the link is lost."""
        link = self._usable_link()
        request_id = self._next_id
        self._next_id = request_id + 1
        pending = _Pending(self._loop.create_future(), timeout, on_progress)
        message: Message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        if params is not None:
            message["params"] = params
        if on_progress is not None:
            meta = {**(params or {}).get("_meta", {}), "progressToken": request_id}
            message["params"] = {**(params or {}), "_meta": meta}
            pending.latest = self._loop.time() + max(LONGEST_EXTENDED_CALL, timeout or 0)
        self._pending[request_id] = pending
        try:
            async with asyncio.timeout(timeout) as pending.deadline:
                await link.send(message)
                result = await pending.future
        except TimeoutError:
            self._abandon(request_id, "timed out", cancellable)
            raise CallTimeout(
                f"{self._server} did not answer {method} within {timeout:g} s.",
                hint="Raise the server's call timeout, or look at its log.",
            ) from None
        except asyncio.CancelledError:
            self._abandon(request_id, "cancelled", cancellable)
            raise
        finally:
            del self._pending[request_id]
            if pending.future.done() and not pending.future.cancelled():
                pending.future.exception()  # the sender may have failed first; this one is then not news
        if type(result) is not dict:
            raise PeerError(
                f"{self._server} answered {method} with something that is no object.", code=-32603
            )
        return result

    async def notify(
        self, method: str, params: dict[str, Any] | None = None, *, timeout: float = 10.0
    ) -> None:
        """Send a notification."""
        message: Message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        async with asyncio.timeout(timeout):
            await self._usable_link().send(message)

    def receive(self, message: Message) -> None:
        """One message of the other side (called by the link)."""
        method = message.get("method")
        if method is None:
            self._settle(message)
        elif "id" in message:
            self._take_request(message)
        else:
            self._take_notification(str(method), _params_of(message))

    def lost(self, error: ToolcribError) -> None:
        """The link is gone (called by the link): every waiting caller learns it now."""
        if self.lost_with.done():
            return
        self.lost_with.set_result(error)
        for pending in self._pending.values():
            if not pending.future.done():
                pending.future.set_exception(_copy_of(error))
        for task in self._incoming.values():
            task.cancel()

    async def close(self) -> None:
        """Stop answering; waiting callers learn that the connection was closed."""
        self.lost(ConnectionLost(f"The connection to {self._server} was closed."))
        tasks = [*self._incoming.values(), *self._background]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _usable_link(self) -> Link:
        if self.lost_with.done():
            raise _copy_of(self.lost_with.result())
        if self._link is None:
            raise ConnectionLost(f"{self._server} is not connected.")
        return self._link

    def _settle(self, message: Message) -> None:
        pending = self._pending_for(message.get("id"))
        if pending is None or pending.future.done():
            return
        error = message.get("error")
        if error is None:
            pending.future.set_result(message.get("result"))
        else:
            pending.future.set_exception(_peer_error(error))

    def _pending_for(self, request_id: Any) -> _Pending | None:
        pending = self._pending.get(request_id) if isinstance(request_id, int | str) else None
        if pending is not None:
            return pending
        if isinstance(request_id, str) and request_id.isdigit():
            return self._pending.get(int(request_id))
        if request_id is None and len(self._pending) == 1:  # an error without an id can only mean this one
            return next(iter(self._pending.values()))
        return None

    def _take_notification(self, method: str, params: dict[str, Any]) -> None:
        if method == "notifications/progress":
            self._take_progress(params)
        elif method == "notifications/cancelled":
            task = self._incoming.get(params.get("requestId"))
            if task is not None:
                task.cancel()
        else:
            self._answerer.noticed(method, params)

    def _take_progress(self, params: dict[str, Any]) -> None:
        pending = self._pending_for(params.get("progressToken"))
        if pending is None or pending.on_progress is None:
            return
        if pending.deadline is not None and pending.patience is not None:
            _reschedule(pending.deadline, min(self._loop.time() + pending.patience, pending.latest))
        progress, total, text = params.get("progress"), params.get("total"), params.get("message")
        pending.on_progress(
            float(progress) if isinstance(progress, int | float) else 0.0,
            float(total) if isinstance(total, int | float) else None,
            text if isinstance(text, str) else None,
        )

    def _take_request(self, message: Message) -> None:
        request_id = message["id"]
        if len(self._incoming) >= MAX_INCOMING_REQUESTS or request_id in self._incoming:
            self._reply(request_id, error={"code": -32000, "message": "Too many requests at once"})
            return
        task = self._loop.create_task(self._answer(message))
        self._incoming[request_id] = task
        task.add_done_callback(lambda _: self._incoming.pop(request_id, None))

    async def _answer(self, message: Message) -> None:
        request_id, method = message["id"], str(message["method"])
        try:
            with self._deadlines_held():
                result = await self._answerer.answer(method, _params_of(message))
        except PeerError as error:
            self._reply(request_id, error={"code": error.code, "message": error.message, "data": error.data})
        except ToolcribError as error:
            self._reply(request_id, error={"code": INTERNAL_ERROR, "message": error.message})
        except Exception:
            logger.exception("handler of %s failed", method, extra={"server": self._server})
            self._reply(request_id, error={"code": INTERNAL_ERROR, "message": "The handler failed"})
        else:
            self._reply(request_id, result=result)

    @contextlib.contextmanager
    def _deadlines_held(self) -> Iterator[None]:
        """While the other side waits for us (a person answering a question), no call of ours runs out."""
        began = self._loop.time()
        held = [(p.deadline, p.deadline.when()) for p in self._pending.values() if p.deadline is not None]
        for deadline, _ in held:
            _reschedule(deadline, None)
        try:
            yield
        finally:
            waited = self._loop.time() - began
            for deadline, when in held:
                _reschedule(deadline, None if when is None else when + waited)

    def _reply(self, request_id: Any, **body: Any) -> None:
        self._in_background({"jsonrpc": "2.0", "id": request_id, **body}, timeout=60.0)

    def _abandon(self, request_id: int, reason: str, cancellable: bool) -> None:
        if not cancellable or self.lost_with.done():
            return
        params = {"requestId": request_id, "reason": reason}
        message: Message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        self._in_background(message, timeout=CANCEL_NOTICE_TIMEOUT)

    def _in_background(self, message: Message, *, timeout: float) -> None:
        async def deliver() -> None:
            with contextlib.suppress(TimeoutError, ToolcribError):
                async with asyncio.timeout(timeout):
                    await self._usable_link().send(message)

        task = self._loop.create_task(deliver())
        self._background.add(task)
        task.add_done_callback(self._background.discard)


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


def _copy_of(error: ToolcribError) -> ToolcribError:
    """A fresh exception for each waiter: one shared object would gather everybody's tracebacks."""
    fresh = error.__class__.__new__(error.__class__)
    fresh.__dict__.update(error.__dict__)
    fresh.args = error.args
    return fresh


def _reschedule(deadline: asyncio.Timeout, when: float | None) -> None:
    with contextlib.suppress(RuntimeError):  # it has just expired or its block was just left
        deadline.reschedule(when)
