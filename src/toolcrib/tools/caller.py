"""Every tool call of every surface goes through `Caller.call`: order of the steps, and the record of every
outcome. Counts calls, errors and durations (median, 95th percentile) for each tool and server.

resolve → validate → gate → compare → source → cap → record. The gate sees only valid calls, the source only
allowed calls of a tool that has not changed since the decision. This path costs some twenty microseconds.

Counting takes a few hundred bytes a tool. Always on, at less than a microsecond a call. Durations cover a
tool's latest one to two thousand calls, in steps of 20 %. The number of tools is bounded: beyond it, the
oldest idle tool is merged into its server's rest.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
import time
from array import array
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from toolcrib.errors import (
    CallFailed,
    InvalidArguments,
    ServerNotReady,
    ToolcribError,
    UnknownTool,
    UsageError,
)
from toolcrib.events import Bus
from toolcrib.schema.events import CallFinished, Event
from toolcrib.schema.tools import (
    CallRecord,
    CallUnderWay,
    Origin,
    Outcome,
    Principal,
    Tool,
    ToolCall,
    ToolResult,
)
from toolcrib.tools.masker import Masker
from toolcrib.tools.ports import (
    CallGate,
    OnDecided,
    OnProgress,
    Recorder,
    ToolSource,
)
from toolcrib.tools.registry import Registry
from toolcrib.tools.results import cap, outcome_of, refusal, result_size
from toolcrib.tools.validation import ArgumentChecker

if TYPE_CHECKING:
    from toolcrib.config.settings import Settings
    from toolcrib.telemetry.instruments import CallSpan, Instruments

logger = logging.getLogger(__name__)

_ANYONE = Principal()
_MAX_ERROR = 500
_NOTHING: Mapping[str, Any] = MappingProxyType({})

MAX_TOOLS = 2000
WINDOW = 1000
"""Calls after which the older half of a tool's durations is dropped."""
STEP = 1.2
BOUNDS = tuple(0.05 * STEP**number for number in range(90))
"""Upper bounds in milliseconds, from 0.05 to more than nine minutes."""
_NO_FAILURE = frozenset({"ok", "cancelled"})
_UNTIMED = frozenset({"invalid", "denied", "cancelled"})
"""Outcomes whose duration says nothing about the tool."""


async def _never(name: str) -> bool:
    return False


class Caller:
    """Runs tools. `settings` may be replaced while calls are running."""

    def __init__(
        self,
        registry: Registry,
        sources: Iterable[ToolSource],
        gate: CallGate,
        recorder: Recorder,
        bus: Bus[Event],
        settings: Settings,
        *,
        masker: Masker | None = None,
        telemetry: Instruments | None = None,
        arrive: Callable[[str], Awaitable[bool]] = _never,
        settle: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.settings = settings
        self.counts = Counts()
        """Number and duration of calls for each tool."""
        self._registry = registry
        self._sources = _by_origin(sources)
        self._gate = gate
        self._recorder = recorder
        self._bus = bus
        self._masker = masker or Masker()
        self._telemetry = telemetry
        self.arrive = arrive
        """Waits for the server of an unknown tool if it is starting; False if none is."""
        self._settle = settle
        """Waits until the record of a call is stored; None to answer before."""
        self._checker = ArgumentChecker()
        self._ids = map(f"{secrets.token_hex(4)}-{{:x}}".format, itertools.count(1))
        self._under_way: dict[str, _CallState] = {}

    def under_way(self) -> list[CallUnderWay]:
        """The running calls, oldest first."""
        return [state.shown(self._masker) for state in self._under_way.values()]

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        principal: Principal = _ANYONE,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        on_decided: OnDecided | None = None,
    ) -> ToolResult:
        """Run a tool and return its raw MCP result; a failure reported by the tool has `isError`.

        Raises a `ToolcribError` if the call was not made or got no answer. Cancelling the caller cancels the
        call.
        """
        state = _CallState(next(self._ids), name, arguments, principal)
        self._under_way[state.id] = state
        try:
            try:
                state.tool = tool = self._registry.resolve(name)
            except (UnknownTool, ServerNotReady):
                if not await self.arrive(name):
                    raise
                state.tool = tool = self._registry.resolve(name)
            snapshot = self._registry.snapshot
            state.tally = self.counts.began(tool)
            if self._telemetry is not None:
                state.watch = self._telemetry.began(tool, principal)
            given = arguments if type(arguments) is dict else _as_object(name, arguments)
            state.arguments = given
            self._checker.check(tool, given)
            source = self._sources[tool.origin]
            if timeout is None:
                timeout = source.default_timeout(tool)
            call = ToolCall(state.id, tool, given, principal, timeout)
            # Written before the tool runs: a tool may change its arguments.
            state.text = self._masker.arguments(given)
            decision = await self._gate.check(call)
            if on_decided is not None:
                on_decided(decision)
            if decision.reason:
                state.extra = {"rule": decision.rule, "reason": decision.reason, **decision.noted}
            if not decision.allowed:
                raise refusal(tool, decision)
            if self._registry.snapshot is not snapshot:  # tools changed while the user was asked
                self._registry.check_unchanged(tool)
            state.began = time.perf_counter()
            result = await source.call(call, on_progress)
            state.size = result_size(result)
            if state.size > self.settings.max_result_bytes:
                result, state.size = cap(result, self.settings.max_result_bytes)
            if decision.on_result is not None:
                decision.on_result(result)
            outcome: Outcome = "tool_error" if result.get("isError") else "ok"
        except asyncio.CancelledError:
            self._record(state, "cancelled")
            raise
        except ToolcribError as error:
            self._record(state, outcome_of(error), error)
            if self._settle is not None:
                await self._settle()
            raise
        except Exception as error:
            # A source must not raise other errors; if it does, the call is still recorded.
            logger.exception("%s failed unexpectedly", name)
            failure = CallFailed(f"{name} failed unexpectedly: {type(error).__name__}: {error}")
            self._record(state, "failed", failure)
            raise failure from error
        self._record(state, outcome)
        if self._settle is not None:
            await self._settle()
        return result

    def refuse(self, name: str, arguments: Any, principal: Principal, error: ToolcribError | None) -> None:
        """Record a call that a surface rejected before it reached `call`; without an error, one that the
        client cancelled."""
        state = _CallState(next(self._ids), name, arguments, principal)
        self._under_way[state.id] = state
        self._record(state, "cancelled" if error is None else outcome_of(error), error)

    def _record(self, state: _CallState, outcome: Outcome, error: ToolcribError | None = None) -> None:
        tool = state.tool
        del self._under_way[state.id]
        ms = 0.0 if state.began is None else (time.perf_counter() - state.began) * 1000
        if state.tally is not None:
            state.tally.ended(outcome, ms)
        if state.watch is not None:
            state.watch.ended(outcome, ms, error)
        record = CallRecord(  # positional: keyword arguments would take twice as long
            state.time,
            state.name[:200] if tool is None else tool.name,
            None if tool is None else tool.server,
            state.principal.name,
            outcome,
            ms,
            state.size,
            self._masker.arguments(state.arguments) if state.text is None else state.text,
            None if error is None else self._masker.text(f"{error.kind}: {error.message}", _MAX_ERROR),
            state.principal.session,
            state.id,
            state.extra,
        )
        self._recorder.record(record)
        if self._bus.hears(CallFinished):
            self._bus.publish(CallFinished(record))


class _CallState:
    """One call's progress; attributes that it may never reach have defaults in the class."""

    tool: Tool | None = None
    tally: Tally | None = None
    watch: CallSpan | None = None
    text: str | None = None
    extra: Mapping[str, Any] = _NOTHING
    size = 0
    began: float | None = None
    """Start of the tool itself; waiting for an approval is not counted."""

    def __init__(self, id_: str, name: str, arguments: Any, principal: Principal) -> None:
        self.id = id_
        self.name = name
        known = type(arguments) is dict or isinstance(arguments, Mapping)
        self.arguments: Mapping[str, Any] = arguments if known else {}
        self.principal = principal
        self.time = datetime.now(UTC)

    def shown(self, masker: Masker) -> CallUnderWay:
        return CallUnderWay(
            id=self.id,
            tool=self.name[:200] if self.tool is None else self.tool.name,
            server=None if self.tool is None else self.tool.server,
            principal=self.principal.name,
            session=self.principal.session,
            time=self.time,
            arguments=masker.arguments(self.arguments) if self.text is None else self.text,
            extra=self.extra,
            began=None if self.began is None else datetime.now(UTC) - _since(self.began),
        )


def _since(began: float) -> timedelta:
    return timedelta(seconds=time.perf_counter() - began)


def _by_origin(sources: Iterable[ToolSource]) -> dict[Origin, ToolSource]:
    known: dict[Origin, ToolSource] = {}
    for source in sources:
        if source.origin in known:
            raise UsageError(
                f"Two sources run {source.origin} tools: {known[source.origin].id}, {source.id}."
            )
        known[source.origin] = source
    return known


def _as_object(name: str, arguments: Any) -> dict[str, Any]:
    if arguments is None:
        return {}
    if isinstance(arguments, Mapping):
        return dict(arguments)
    raise InvalidArguments(
        f"{name}: the arguments must be an object, not {type(arguments).__name__}.",
        hint='Write them by name, such as {"path": "notes.txt"}.',
    )


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Calls of a tool or a server; durations in milliseconds, None if there were none."""

    total: int = 0
    """Calls that have ended, whatever their outcome."""
    errors: int = 0
    """Calls that neither succeeded nor were cancelled."""
    in_flight: int = 0
    p50_ms: float | None = None
    p95_ms: float | None = None
    max_ms: float | None = None


@dataclass(frozen=True, kw_only=True)
class _Named:
    name: str


@dataclass(frozen=True, kw_only=True)
class ToolCalls(Counted, _Named):
    """Calls of one tool, by public name, since the host started."""


@dataclass(frozen=True, kw_only=True)
class ServerCalls(Counted):
    """Calls of a server since the host started, in total and per tool."""

    tools: tuple[ToolCalls, ...] = ()


class Tally:
    """The calls of one tool; `Counts.began` returns it, and `ended` completes a call."""

    __slots__ = ("_filled", "_longest", "_times", "errors", "in_flight", "server", "total")

    def __init__(self, server: str | None) -> None:
        self.server = server
        self.total = 0
        self.errors = 0
        self.in_flight = 0
        self._times = (_no_times(), _no_times())
        self._longest = (0.0, 0.0)
        self._filled = 0

    def ended(self, outcome: Outcome, ms: float) -> None:
        self.in_flight -= 1
        self.total += 1
        if outcome != "ok":
            self.errors += outcome not in _NO_FAILURE
            if outcome in _UNTIMED:
                return
        if self._filled >= WINDOW:
            self._times = (_no_times(), self._times[0])
            self._longest = (0.0, self._longest[0])
            self._filled = 0
        self._filled += 1
        self._times[0][bisect_left(BOUNDS, ms)] += 1
        if ms > self._longest[0]:
            self._longest = (ms, self._longest[1])

    def times(self) -> list[int]:
        """Number of the latest calls in each step of `BOUNDS`."""
        return [newer + older for newer, older in zip(*self._times, strict=True)]

    @property
    def longest(self) -> float:
        return max(self._longest)

    def absorb(self, other: Tally) -> None:
        """Add another tally's totals, without its durations."""
        self.total += other.total
        self.errors += other.errors


class Counts:
    def __init__(self, max_tools: int = MAX_TOOLS) -> None:
        self._max_tools = max_tools
        self._tallies: dict[str, Tally] = {}
        self.tallies = self._tallies.values()
        """Of each tool that was called."""
        self._others: dict[str | None, Tally] = {}

    def began(self, tool: Tool) -> Tally:
        tally = self._tallies.get(tool.name)
        if tally is None or tally.server != tool.server:
            tally = self._add(tool)
        tally.in_flight += 1
        return tally

    @property
    def in_flight(self) -> int:
        return sum(tally.in_flight for tally in self._tallies.values())

    def total(self, tool: str) -> int:
        """Calls of one tool, by public name, that have ended since the host started."""
        tally = self._tallies.get(tool)
        return 0 if tally is None else tally.total

    def of(self, server: str | None) -> ServerCalls:
        """The calls of one server since the host started; None for native tools."""
        tools = dict(sorted((name, tally) for name, tally in self._tallies.items() if tally.server == server))
        others = [self._others[server]] if server in self._others else []
        whole = _counted([*tools.values(), *others])
        counted = {name: _counted([tally]) for name, tally in tools.items()}
        return ServerCalls(
            **vars(whole), tools=tuple(ToolCalls(name=name, **vars(calls)) for name, calls in counted.items())
        )

    def forget(self, server: str | None) -> None:
        self._tallies = {name: tally for name, tally in self._tallies.items() if tally.server != server}
        self._others.pop(server, None)

    def _add(self, tool: Tool) -> Tally:
        if len(self._tallies) >= self._max_tools:
            self._make_room()
        tally = self._tallies[tool.name] = Tally(tool.server)
        return tally

    def _make_room(self) -> None:
        idle = next((name for name, tally in self._tallies.items() if not tally.in_flight), None)
        if idle is not None:
            gone = self._tallies.pop(idle)
            self._others.setdefault(gone.server, Tally(gone.server)).absorb(gone)


def _no_times() -> array[int]:
    return array("I", bytes(4 * (len(BOUNDS) + 1)))


def _counted(tallies: Iterable[Tally]) -> Counted:
    some = list(tallies)
    times = [sum(column) for column in zip(*(tally.times() for tally in some), strict=True)]
    longest = max((tally.longest for tally in some), default=0.0)
    return Counted(
        total=sum(tally.total for tally in some),
        errors=sum(tally.errors for tally in some),
        in_flight=sum(tally.in_flight for tally in some),
        p50_ms=_percentile(times, 0.50, longest),
        p95_ms=_percentile(times, 0.95, longest),
        max_ms=round(longest, 3) if any(times) else None,
    )


def _percentile(times: list[int], share: float, longest: float) -> float | None:
    """The duration that this share of calls stayed below, at most 20 % too high."""
    if not any(times):
        return None
    wanted = sum(times) * share
    step = next(number for number, reached in enumerate(accumulate(times)) if reached >= wanted)
    return round(min(BOUNDS[step], longest) if step < len(BOUNDS) else longest, 3)
