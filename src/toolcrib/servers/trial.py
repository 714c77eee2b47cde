"""Tries a server step by step — resolve, spawn or connect, handshake, list — and times each step."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, TypeVar

from toolcrib.config.address_secrets import without_secrets
from toolcrib.errors import ConnectionLost, StartFailed, ToolcribError
from toolcrib.schema.servers import ServerEntry
from toolcrib.servers.connector import Connector
from toolcrib.servers.sessions.session import Session, connect, converse, new_peer
from toolcrib.servers.transport import traits_of

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step and how it went."""

    name: str
    ok: bool
    ms: float
    detail: str = ""
    hint: str = ""


@dataclass
class Trial:
    """What a trial found out."""

    steps: list[Step] = field(default_factory=list)
    definitions: list[Any] = field(default_factory=list)
    error: ToolcribError | None = None

    @property
    def ok(self) -> bool:
        """True when every step went well."""
        return self.error is None


async def try_server(
    connector: Connector, entry: ServerEntry, on_step: Callable[[Step], None] = lambda step: None
) -> Trial:
    """Go through the steps; the first that fails ends the trial. Nothing of the server is left afterwards."""
    trial = Trial()
    try:
        await _steps(connector, entry, _Stopwatch(trial, entry, on_step))
    except ToolcribError as error:
        trial.error = error
    return trial


async def _steps(connector: Connector, entry: ServerEntry, step: _Stopwatch) -> None:
    async with AsyncExitStack() as stack:
        open_link = await step.take("resolve", connector.resolve(entry), lambda _: _what(entry))
        peer = new_peer(entry.name, connector.handlers)
        opening = "spawn" if traits_of(entry.type).spawns else "connect"
        link = await step.take(
            opening,
            stack.enter_async_context(open_link(peer)),
            lambda link: f"process {link.pid}" if link.pid else "",
        )
        conversation = converse(entry.name, peer, link, connector.handlers, timeout=entry.start_timeout)
        again = connect(
            entry.name, open_link, handlers=connector.handlers, era="legacy", timeout=entry.start_timeout
        )
        session = await step.take("handshake", _shake_hands(stack, conversation, again), _who)
        definitions = await step.take(
            "list",
            session.list_tools(timeout=entry.start_timeout),
            _how_many,
        )
        step.trial.definitions = definitions


async def _shake_hands(
    stack: AsyncExitStack,
    conversation: AbstractAsyncContextManager[Session],
    again: AbstractAsyncContextManager[Session],
) -> Session:
    """As a supervisor does: a server that dies on the probe is started again without it."""
    try:
        return await stack.enter_async_context(conversation)
    except ConnectionLost:
        await stack.aclose()
    return await stack.enter_async_context(again)


class _Stopwatch:
    """Takes steps under the start deadline and writes them down."""

    def __init__(self, trial: Trial, entry: ServerEntry, on_step: Callable[[Step], None]) -> None:
        self.trial = trial
        self._entry = entry
        self._on_step = on_step

    async def take(self, name: str, work: Awaitable[Result], detail: Callable[[Result], str]) -> Result:
        """Do one step; its failure is written down and raised."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self._entry.start_timeout):
                result = await work
        except TimeoutError:
            error = StartFailed(
                f"No answer within {self._entry.start_timeout:g} s.",
                hint=f"See `toolcrib logs {self._entry.name}`; raise timeouts.start if it is merely slow.",
            )
            self._write(Step(name=name, ok=False, ms=_since(began), detail=error.message, hint=error.hint))
            raise error from None
        except ToolcribError as error:
            self._write(Step(name=name, ok=False, ms=_since(began), detail=error.message, hint=error.hint))
            raise
        self._write(Step(name=name, ok=True, ms=_since(began), detail=detail(result)))
        return result

    def _write(self, step: Step) -> None:
        self.trial.steps.append(step)
        self._on_step(step)


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 1)


def _what(entry: ServerEntry) -> str:
    """What will be run or reached, as the entry has it: variables and secrets are not filled in here."""
    raw = entry.raw
    if isinstance(raw.get("command"), str):
        arguments = raw.get("args")
        return " ".join([raw["command"], *map(str, arguments if isinstance(arguments, list) else [])])
    for key in ("url", "module", "package"):
        if isinstance(raw.get(key), str):
            return without_secrets(raw[key])
    return entry.type


def _how_many(tools: list[Any]) -> str:
    return f"{len(tools)} tool{'' if len(tools) == 1 else 's'}"


def _who(session: Session) -> str:
    info = session.agreement.server_info
    name = " ".join(str(info[key]) for key in ("name", "version") if info.get(key))
    return f"{name or 'unnamed'}, protocol {session.agreement.version}"
