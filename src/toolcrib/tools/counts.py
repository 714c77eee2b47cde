"""Counts calls and their durations for each tool and server, in a few hundred bytes a tool.

Always on, at less than a microsecond a call. Durations cover a tool's latest one to two thousand calls, in
steps of 20 %. The number of tools is bounded: beyond it, the oldest idle tool is merged into its server's
rest.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from toolcrib.schema.tools import Outcome, Tool

MAX_TOOLS = 2000
WINDOW = 1000
"""Calls after which the older half of a tool's durations is dropped."""
STEP = 1.2
BOUNDS = tuple(0.05 * STEP**number for number in range(90))
"""Upper bounds in milliseconds, from 0.05 to more than nine minutes."""
_NO_FAILURE = frozenset({"ok", "cancelled"})
_UNTIMED = frozenset({"invalid", "denied", "cancelled"})
"""Outcomes whose duration says nothing about the tool."""


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
