"""One client's conversation with a server of tools, in whichever era the client speaks: the methods of each
era, how long tool lists may be cached, and errors such as "Unknown tool".

Calls run side by side. A call that the client cancels is stopped and never answered. Nothing the client sends
raises anything but the cancellation of the task that waits for the answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeVar

from toolcrib.errors import ToolcribError
from toolcrib.serverkit.caller_context import CALL_ID, call_id
from toolcrib.serverkit.context import LOG_LEVELS, LogLevel, OnLog, ToolContext
from toolcrib.serverkit.functions import FunctionTool
from toolcrib.serverkit.protocol import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LEGACY_VERSIONS,
    LOG_LEVEL,
    METHOD_NOT_FOUND,
    MODERN_VERSIONS,
    REQUEST_ID,
    SERVER_INFO,
    SUBSCRIPTION_ID,
    Message,
    Refusal,
    Request,
    log_level,
    notification,
    read_request,
    refuse,
)
from toolcrib.serverkit.readiness import READY
from toolcrib.serverkit.results import Result

PREVIEW = "toolcrib/preview"
SCOPE = "toolcrib/scope"
HostMethod = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""Takes the parameters of a request, returns its result."""
Outcome = TypeVar("Outcome")
RequestId = int | str


class ServedTool(Protocol):
    """What a server can offer; `FunctionTool` is one."""

    @property
    def definition(self) -> dict[str, Any]:
        """The raw MCP definition; its `name` is the tool's."""

    async def call(self, arguments: Mapping[str, Any], context: ToolContext | None = None) -> Result:
        """A raw MCP result; a failure is a result too."""


class ToolProvider(Protocol):
    """The part of a server that a session needs."""

    name: str
    instructions: str
    info: dict[str, str]
    host_methods: dict[str, HostMethod]

    @property
    def tools(self) -> Mapping[str, ServedTool]: ...


class RunningRequests(dict[RequestId, asyncio.Task[Any]]):
    """The task behind each request."""

    _cancelled: frozenset[RequestId] = frozenset()

    async def outcome(
        self, request_id: RequestId, work: Awaitable[Outcome], loop: asyncio.AbstractEventLoop | None = None
    ) -> Outcome | None:
        """What the work comes to; None when the client cancelled the request meanwhile.

        The running `loop`, where it is known, saves a look for it: a system call in Python 3.11.
        """
        task = asyncio.current_task(loop)
        if task is None:
            raise RuntimeError("requests are answered in tasks")
        before = task.cancelling()
        self[request_id] = task
        try:
            result = await work
        except asyncio.CancelledError:
            if request_id not in self._cancelled or task.uncancel() > before:
                raise
            return None
        else:
            if request_id not in self._cancelled:
                return result
            task.uncancel()  # it finished although it was told to stop
            return None
        finally:
            del self[request_id]
            if self._cancelled:
                self._cancelled -= {request_id}

    def cancel(self, request_id: Any) -> None:
        """The client no longer wants this one; an unknown one is fine."""
        task = self.get(request_id) if type(request_id) in REQUEST_ID else None
        if task is not None and request_id not in self._cancelled:
            self._cancelled |= {request_id}
            task.cancel()

    def cancel_all(self) -> None:
        """Stop every one; none of them is answered."""
        for request_id in tuple(self):
            self.cancel(request_id)


logger = logging.getLogger(__name__)

Notify = Callable[[Message], None]
Answer = dict[str, Any]

TOOLS_FRESH_FOR = 300_000
"""Milliseconds for which a client may keep what it was told; our tools do not change while we run."""
CAPABILITIES: Mapping[str, Any] = {"tools": {"listChanged": False}, "logging": {}}


class ServerSession:
    """What one connection needs to remember: the version it opened with, its log level, its running calls."""

    def __init__(self, server: ToolProvider) -> None:
        self._server = server
        self._running = RunningRequests()
        self._log_level: LogLevel = "info"
        self._ended = asyncio.Event()
        self.version: str | None = None
        """The version agreed on by `initialize`; None while the client has not opened that way."""

    async def respond(self, message: Message, notify: Notify) -> Message | None:
        """The answer to one message; None for a notification.

        `notify` is called, from the event loop, with what is to be said before the answer.
        """
        if not isinstance(message.get("method"), str):
            return None if _is_response(message) else refuse(None, _INVALID)
        if "id" not in message:
            self._take_notification(message)
            return None
        request_id = message["id"]
        if type(request_id) not in REQUEST_ID or request_id in self._running:
            return refuse(None, _INVALID)
        try:
            request = read_request(message, opened=self.version is not None)
            result = await self._running.outcome(request.id, self._answer(request, notify))
            return None if result is None else {"jsonrpc": "2.0", "id": request.id, "result": result}
        except Refusal as refusal:
            return refuse(request_id, refusal)
        except Exception:
            logger.exception("%s failed", message["method"])
            return refuse(request_id, Refusal(INTERNAL_ERROR, "The server failed; see its log."))

    def end(self) -> None:
        """The client is leaving: what it listens to ends; running calls may still be answered."""
        self._ended.set()

    def cancel_all(self) -> None:
        """Stop every running call; none of them is answered."""
        self._running.cancel_all()

    async def _answer(self, request: Request, notify: Notify) -> Answer:
        methods = _MODERN if request.modern else _LEGACY
        handler = methods.get(request.method)
        own = self._server.host_methods.get(request.method)
        if handler is None and own is not None:
            return await self._answer_host(own, request)
        if handler is None:
            raise Refusal(METHOD_NOT_FOUND, f"There is no method {request.method!r} here.")
        result = await handler(self, request, notify)
        if not request.modern:
            return result
        meta = {**result.get("_meta", {}), SERVER_INFO: self._server.info}
        return {"resultType": "complete", **result, "_meta": meta}

    async def _answer_host(self, method: HostMethod, request: Request) -> Answer:
        try:
            return await method(request.params)
        except ToolcribError as error:
            raise Refusal(INTERNAL_ERROR, f"{error.message} {error.hint}".strip()) from None

    async def _initialize(self, request: Request, notify: Notify) -> Answer:
        asked = request.params.get("protocolVersion")
        self.version = asked if asked in LEGACY_VERSIONS else LEGACY_VERSIONS[0]
        return {"protocolVersion": self.version, "serverInfo": self._server.info, **self._offer()}

    async def _discover(self, request: Request, notify: Notify) -> Answer:
        # Private, because instructions may name folders of the person who runs the server.
        hints = {"ttlMs": TOOLS_FRESH_FOR, "cacheScope": "private"}
        return {"supportedVersions": list(MODERN_VERSIONS), **self._offer(), **hints}

    def _offer(self) -> Answer:
        instructions = self._server.instructions
        capabilities = dict(CAPABILITIES)
        if READY in self._server.host_methods:
            capabilities["experimental"] = {READY: {}}
        return {
            "capabilities": capabilities,
            **({"instructions": instructions} if instructions else {}),
        }

    async def _acknowledge(self, request: Request, notify: Notify) -> Answer:
        """`ping`, and `shutdown`: not part of MCP, but older clients send it as that of language servers."""
        return {}

    async def _set_log_level(self, request: Request, notify: Notify) -> Answer:
        self._log_level = log_level(request.params.get("level"))
        return {}

    async def _list_tools(self, request: Request, notify: Notify) -> Answer:
        if request.params.get("cursor") is not None:
            raise Refusal(INVALID_PARAMS, "Invalid cursor: the list has one page.")
        tools = [tool.definition for tool in self._server.tools.values()]
        if not request.modern:
            return {"tools": tools}
        return {"tools": tools, "ttlMs": TOOLS_FRESH_FOR, "cacheScope": "public"}

    async def _call_tool(self, request: Request, notify: Notify) -> Answer:
        name, arguments = request.params.get("name"), request.params.get("arguments")
        tool = self._server.tools.get(name) if isinstance(name, str) else None
        if tool is None:
            raise Refusal(INVALID_PARAMS, f"Unknown tool: {name}")
        if arguments is not None and not isinstance(arguments, dict):
            raise Refusal(INVALID_PARAMS, f"The arguments of {name} must be an object.")
        # Modern clients ask for logs call by call; the others get them from a level on.
        level = request.meta.get(LOG_LEVEL) if request.modern else self._log_level
        reports = _Reports(request, notify, level, self._server.name)
        asked = call_id.set(_call_id(request))
        try:
            later = None if request.modern else self._later_log(notify)
            return await tool.call(arguments or {}, ToolContext(reports.progress, reports.log, later))
        finally:
            reports.over = True
            call_id.reset(asked)

    async def _preview_call(self, request: Request, notify: Notify) -> Answer:
        """Not part of MCP: what an approval question shows of a call. Nothing is changed."""
        return await self._describe_call(request, "preview", FunctionTool.preview)

    async def _scope_call(self, request: Request, notify: Notify) -> Answer:
        """Not part of MCP: what a call acts on. Nothing is changed."""
        return await self._describe_call(request, "scope", FunctionTool.scope)

    async def _describe_call(self, request: Request, key: str, describe: _Describe) -> Answer:
        name, arguments = request.params.get("name"), request.params.get("arguments")
        tool = self._server.tools.get(name) if isinstance(name, str) else None
        if not isinstance(tool, FunctionTool) or not isinstance(arguments, dict):
            return {key: None}
        asked = call_id.set(_call_id(request))
        try:
            return {key: await describe(tool, arguments)}
        except ToolcribError as error:
            return {key: None, "problem": error.message}
        finally:
            call_id.reset(asked)

    def _later_log(self, notify: Notify) -> OnLog:
        """Logs between calls, which modern versions forbid: there each belongs to a request."""

        def log(level: LogLevel, data: object) -> None:
            if not self._ended.is_set() and LOG_LEVELS.index(level) >= LOG_LEVELS.index(self._log_level):
                params = {"level": level, "logger": self._server.name, "data": data}
                notify(notification("notifications/message", params))

        return log

    async def _listen(self, request: Request, notify: Notify) -> Answer:
        """Nothing here changes, so the stream stays silent after its acknowledgement."""
        meta = {SUBSCRIPTION_ID: request.id}
        params = {"_meta": meta, "notifications": {}}
        notify(notification("notifications/subscriptions/acknowledged", params))
        await self._ended.wait()
        return {"_meta": meta}

    def _take_notification(self, message: Message) -> None:
        params = message.get("params")
        if message["method"] == "notifications/cancelled" and isinstance(params, dict):
            self._running.cancel(params.get("requestId"))


class _Reports:
    """What a running call tells its client: only as long as it runs, and only as far as it was asked for."""

    def __init__(self, request: Request, notify: Notify, level: LogLevel | None, logger: str) -> None:
        token = request.meta.get("progressToken")
        self._token = token if type(token) in REQUEST_ID else None
        self._notify = notify
        self._level = None if level is None else LOG_LEVELS.index(level)
        self._logger = logger
        self._done = float("-inf")
        self.over = False

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        if self.over or self._token is None or done <= self._done:
            return
        self._done = done
        params: dict[str, Any] = {"progressToken": self._token, "progress": done}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        self._notify(notification("notifications/progress", params))

    def log(self, level: LogLevel, data: object) -> None:
        if self.over or self._level is None or LOG_LEVELS.index(level) < self._level:
            return
        params = {"level": level, "logger": self._logger, "data": data}
        self._notify(notification("notifications/message", params))


def _call_id(request: Request) -> str | None:
    given = request.meta.get(CALL_ID)
    return given if isinstance(given, str) else None


def _is_response(message: Message) -> bool:
    return "result" in message or "error" in message


_INVALID = Refusal(INVALID_REQUEST, "Not a JSON-RPC request with a method and an unused id.")

_Describe = Callable[[FunctionTool, Mapping[str, Any]], Awaitable[dict[str, Any] | None]]
_Handler = Callable[[ServerSession, Request, Notify], Awaitable[Answer]]
_BOTH: Mapping[str, _Handler] = {
    "tools/list": ServerSession._list_tools,
    "tools/call": ServerSession._call_tool,
    PREVIEW: ServerSession._preview_call,
    SCOPE: ServerSession._scope_call,
    "shutdown": ServerSession._acknowledge,
}
_LEGACY: Mapping[str, _Handler] = {
    **_BOTH,
    "initialize": ServerSession._initialize,
    "ping": ServerSession._acknowledge,
    "logging/setLevel": ServerSession._set_log_level,
}
_MODERN: Mapping[str, _Handler] = {
    **_BOTH,
    "server/discover": ServerSession._discover,
    "subscriptions/listen": ServerSession._listen,
}
