"""Tests a server step by step (resolve, spawn and handshake or connect, list, ready), times each step, and
reports the error of the first that fails.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from toolcrib.config.secret_detection import without_secrets
from toolcrib.errors import ConnectionLost, ServerLacks, ToolcribError
from toolcrib.schema.json_values import OMITTED
from toolcrib.schema.servers import ServerEntry
from toolcrib.servers.connector import Connector
from toolcrib.servers.processes.log import log_size, slow_start
from toolcrib.servers.sessions.session import NoHandshake, Session, connect, converse, new_peer
from toolcrib.servers.transport import Link, traits_of

Result = TypeVar("Result")
StepName = Literal["resolve", "spawn", "connect", "handshake", "list", "ready"]


@dataclass(frozen=True, kw_only=True)
class StepResult:
    """One step of a test; the test ends at the first step that fails."""

    name: StepName
    ok: bool
    ms: float
    detail: str = ""
    hint: str = field(default="", metadata=OMITTED)


@dataclass
class TrialResult:
    steps: list[StepResult] = field(default_factory=list)
    definitions: list[Any] = field(default_factory=list)
    error: ToolcribError | None = None

    @property
    def ok(self) -> bool:
        return self.error is None


async def try_server(
    connector: Connector, entry: ServerEntry, on_step: Callable[[StepResult], None] = lambda step: None
) -> TrialResult:
    """Run the steps until one fails; the server is closed afterwards."""
    trial = TrialResult()
    try:
        await _steps(connector, entry, _StepRunner(trial, entry, connector.log_path(entry.name), on_step))
    except ToolcribError as error:
        trial.error = error
    return trial


async def _steps(connector: Connector, entry: ServerEntry, step: _StepRunner) -> None:
    async with AsyncExitStack() as stack:
        open_link = await step.run("resolve", connector.resolve(entry), lambda _: _target(entry))
        peer = new_peer(entry.name, connector.handlers)
        opening = stack.enter_async_context(open_link(peer))
        again = connect(
            entry.name, open_link, handlers=connector.handlers, era="legacy", timeout=entry.start_timeout
        )

        async def shake_hands(link: Link) -> Session:
            conversation = converse(entry.name, peer, link, connector.handlers, timeout=entry.start_timeout)
            return await _handshake(stack, conversation, again)

        async def connect_first() -> Session:
            return await shake_hands(await opening)

        if traits_of(entry.type).spawns:
            link = await step.run("spawn", opening, lambda link: f"process {link.pid}" if link.pid else "")
            session = await step.run("handshake", shake_hands(link), _server_name)
        else:
            # Over HTTP nothing is sent before the handshake, so that only both together tell of a connection.
            session = await step.run("connect", connect_first(), _server_name)
        definitions = await step.run(
            "list",
            session.list_tools(timeout=entry.start_timeout),
            _tool_count,
        )
        step.trial.definitions = definitions
        if session.reports_readiness:
            await step.run("ready", _check_readiness(session, entry.start_timeout), lambda _: "")


async def _check_readiness(session: Session, timeout: float) -> None:
    lack = await session.find_lack(timeout=timeout)
    if lack is not None:
        raise ServerLacks(lack.message, needs=lack.needs, hint=lack.hint)


async def _handshake(
    stack: AsyncExitStack,
    conversation: AbstractAsyncContextManager[Session],
    again: AbstractAsyncContextManager[Session],
) -> Session:
    """Like a supervisor, restarts a server that exits on the probe without it."""
    try:
        return await stack.enter_async_context(conversation)
    except ConnectionLost:
        await stack.aclose()
    return await stack.enter_async_context(again)


class _StepRunner:
    """Runs steps with the start timeout and records them."""

    def __init__(
        self, trial: TrialResult, entry: ServerEntry, log: Path, on_step: Callable[[StepResult], None]
    ) -> None:
        self.trial = trial
        self._entry = entry
        self._log, self._log_before = log, log_size(log)
        self._on_step = on_step

    async def run(self, name: StepName, work: Awaitable[Result], detail: Callable[[Result], str]) -> Result:
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self._entry.start_timeout):
                result = await work
        except (TimeoutError, NoHandshake):
            message = f"No answer within {self._entry.start_timeout:g} s."
            error = slow_start(self._entry.name, message, self._log, self._log_before)
            self._record_failure(name, began, error)
            raise error from None
        except ToolcribError as error:
            self._record_failure(name, began, error)
            raise
        self._record(StepResult(name=name, ok=True, ms=_since(began), detail=detail(result)))
        return result

    def _record_failure(self, name: StepName, began: float, error: ToolcribError) -> None:
        detail, hint = error.message, error.hint
        self._record(StepResult(name=name, ok=False, ms=_since(began), detail=detail, hint=hint))

    def _record(self, step: StepResult) -> None:
        self.trial.steps.append(step)
        self._on_step(step)


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 1)


def _target(entry: ServerEntry) -> str:
    """The command or address as written in the entry, without variables and secrets filled in."""
    raw = entry.raw
    if isinstance(raw.get("command"), str):
        arguments = raw.get("args")
        return " ".join([raw["command"], *map(str, arguments if isinstance(arguments, list) else [])])
    for key in ("url", "module", "package"):
        if isinstance(raw.get(key), str):
            return without_secrets(raw[key])
    return entry.type


def _tool_count(tools: list[Any]) -> str:
    return f"{len(tools)} tool{'' if len(tools) == 1 else 's'}"


def _server_name(session: Session) -> str:
    info = session.agreement.server_info
    name = " ".join(str(info[key]) for key in ("name", "version") if info.get(key))
    return f"{name or 'unnamed'}, protocol {session.agreement.version}"
