"""The one door: every tool call of every surface goes through `Caller.call`, and every outcome is recorded.

resolve → validate → gate → compare → source → cap → record. The gate sees only calls that could run, the
source only calls that may, of a tool that is still the one that was decided on. The door adds some twenty
microseconds, so nothing is built here that nobody asked for.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

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
from toolcrib.tools.counts import Counts, Tally
from toolcrib.tools.limits import cap
from toolcrib.tools.masking import Masker
from toolcrib.tools.outcomes import outcome_of, refusal
from toolcrib.tools.ports import (
    CallSettings,
    CallWatch,
    Gate,
    OnDecided,
    OnProgress,
    Recorder,
    Telemetry,
    ToolSource,
)
from toolcrib.tools.registry import Registry
from toolcrib.tools.validation import ArgumentChecker

logger = logging.getLogger(__name__)

_ANYONE = Principal()
_MAX_ERROR = 500
_NOTHING: Mapping[str, Any] = MappingProxyType({})


async def _never(name: str) -> bool:
    return False


class Caller:
    """Runs tools. `settings` may be replaced while calls are under way."""

    def __init__(
        self,
        registry: Registry,
        sources: Iterable[ToolSource],
        gate: Gate,
        recorder: Recorder,
        bus: Bus[Event],
        settings: CallSettings,
        *,
        masker: Masker | None = None,
        telemetry: Telemetry | None = None,
        arrive: Callable[[str], Awaitable[bool]] = _never,
    ) -> None:
        self.settings = settings
        self.counts = Counts()
        """How often each tool was called, and how long that took."""
        self._registry = registry
        self._sources = _by_origin(sources)
        self._gate = gate
        self._recorder = recorder
        self._bus = bus
        self._masker = masker or Masker()
        self._telemetry = telemetry
        self.arrive = arrive
        """Waits for the server of an unknown tool, if one is starting; False when none is."""
        self._checker = ArgumentChecker()
        self._ids = map(f"{secrets.token_hex(4)}-{{:x}}".format, itertools.count(1))
        self._under_way: dict[str, _Visit] = {}

    def under_way(self) -> list[CallUnderWay]:
        """The calls that have not ended, the oldest first."""
        return [visit.shown(self._masker) for visit in self._under_way.values()]

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
        """Run a tool and return its raw MCP result; one that failed by its own account has `isError`.

        Raises a `ToolcribError` when the call could not be made or got no answer. Cancelling the caller
        cancels the call.
        """
        visit = _Visit(next(self._ids), name, arguments, principal)
        self._under_way[visit.id] = visit
        try:
            try:
                visit.tool = tool = self._registry.resolve(name)
            except (UnknownTool, ServerNotReady):
                if not await self.arrive(name):
                    raise
                visit.tool = tool = self._registry.resolve(name)
            snapshot = self._registry.snapshot
            visit.tally = self.counts.began(tool)
            if self._telemetry is not None:
                visit.watch = self._telemetry.began(tool, principal)
            given = arguments if type(arguments) is dict else _as_object(name, arguments)
            visit.arguments = given
            self._checker.check(tool, given)
            source = self._sources[tool.origin]
            if timeout is None:
                timeout = source.default_timeout(tool)
            call = ToolCall(visit.id, tool, given, principal, timeout)
            # Written down before the tool runs: a tool may change what it was given.
            visit.text = self._masker.arguments(given)
            decision = await self._gate.check(call)
            if on_decided is not None:
                on_decided(decision)
            if decision.reason:
                visit.extra = {"rule": decision.rule, "reason": decision.reason, **decision.noted}
            if not decision.allowed:
                raise refusal(tool, decision)
            if self._registry.snapshot is not snapshot:  # tools changed while a person was asked
                self._registry.check_unchanged(tool)
            visit.began = time.perf_counter()
            result, visit.size = cap(await source.call(call, on_progress), self.settings.max_result_bytes)
            outcome: Outcome = "tool_error" if result.get("isError") else "ok"
        except asyncio.CancelledError:
            self._record(visit, "cancelled")
            raise
        except ToolcribError as error:
            self._record(visit, outcome_of(error), error)
            raise
        except Exception as error:
            # A source that breaks its promise must neither go unrecorded nor look like a fault of the door.
            logger.exception("%s failed unexpectedly", name)
            failure = CallFailed(f"{name} failed unexpectedly: {type(error).__name__}: {error}")
            self._record(visit, "failed", failure)
            raise failure from error
        self._record(visit, outcome)
        return result

    def refuse(self, name: str, arguments: Any, principal: Principal, error: ToolcribError) -> None:
        """Record a call that a surface turned away before it came here."""
        visit = _Visit(next(self._ids), name, arguments, principal)
        self._under_way[visit.id] = visit
        self._record(visit, outcome_of(error), error)

    def _record(self, visit: _Visit, outcome: Outcome, error: ToolcribError | None = None) -> None:
        tool = visit.tool
        del self._under_way[visit.id]
        ms = 0.0 if visit.began is None else (time.perf_counter() - visit.began) * 1000
        if visit.tally is not None:
            visit.tally.ended(outcome, ms)
        if visit.watch is not None:
            visit.watch.ended(outcome, ms, error)
        record = CallRecord(  # in the order of its fields: by their names it would take twice as long
            visit.time,
            visit.name[:200] if tool is None else tool.name,
            None if tool is None else tool.server,
            visit.principal.name,
            outcome,
            ms,
            visit.size,
            self._masker.arguments(visit.arguments) if visit.text is None else visit.text,
            None if error is None else self._masker.text(f"{error.kind}: {error.message}", _MAX_ERROR),
            visit.principal.session,
            visit.id,
            visit.extra,
        )
        self._recorder.record(record)
        if self._bus.hears(CallFinished):
            self._bus.publish(CallFinished(record))


class _Visit:
    """One call's way through the door, as far as it got; what it may never get to stands in the class."""

    tool: Tool | None = None
    tally: Tally | None = None
    watch: CallWatch | None = None
    text: str | None = None
    extra: Mapping[str, Any] = _NOTHING
    size = 0
    began: float | None = None
    """When its tool was started; waiting for an approval comes before and is not counted as its time."""

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
