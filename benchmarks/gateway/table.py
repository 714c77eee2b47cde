"""The results for people: one table, then what we hold ourselves to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.gateway.suite import OURS

MODERN = "2026-07-28"


@dataclass(frozen=True)
class Goal:
    """One number of ours against the best of the others, or another one; `limit` is how many times that."""

    title: str
    ours: float
    other: float
    limit: float
    more_is_better: bool = False
    whose: str = "best other"

    @property
    def ratio(self) -> float:
        return self.ours / self.other

    @property
    def holds(self) -> bool:
        return self.ratio >= self.limit if self.more_is_better else self.ratio <= self.limit


def number(results: dict[str, Any], *path: str) -> float | None:
    """A number deep in the results of one gateway, if it is there."""
    value: Any = results
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return float(value) if isinstance(value, int | float) else None


def goals(results: dict[str, Any]) -> list[Goal]:
    """Those that can be told from these results. Of our two eras, the dearer one counts."""
    trouble = results.get(OURS, {})
    return [
        goal
        for goal in (
            _against_best(results, "CPU per call", "calls", "cpu_ms", 1 / 3),
            _against_best(results, "CPU per call, 32 in flight", "calls", "busy_cpu_ms", 1 / 3),
            _against_best(results, "calls a second, 32 in flight", "calls", "per_second", 3.0, more=True),
            _against_best(results, "CPU per list of 1,000", "listing", "cpu_ms", 1 / 5),
            _against_best(results, "start with ten servers", "start", "listed_s", 1.0),
            _against_best(results, "memory with ten servers", "start", "memory_mb", 1.0),
            _within(trouble.get("killed", {}).get("worst_s"), 1.0, 1.0, "answer after kill -9", "one second"),
            _within(
                trouble.get("hanging", {}).get("with_s"),
                trouble.get("hanging", {}).get("without_s"),
                1.2,
                "nine beside one that hangs",
                "without it",
            ),
        )
        if goal is not None
    ]


def _against_best(
    results: dict[str, Any], title: str, case: str, key: str, limit: float, *, more: bool = False
) -> Goal | None:
    best_of, worst_of = (max, min) if more else (min, max)
    ours = _numbers(results.get(OURS, {}).get(case, {}), key)
    theirs = [
        value for name, one in results.items() if name != OURS for value in _numbers(one.get(case, {}), key)
    ]
    return Goal(title, worst_of(ours), best_of(theirs), limit, more) if ours and theirs else None


def _within(ours: float | None, other: float | None, limit: float, title: str, whose: str) -> Goal | None:
    return None if ours is None or other is None else Goal(title, ours, other, limit, whose=whose)


def _numbers(case: dict[str, Any], key: str) -> list[float]:
    """The number itself, or one for each way."""
    if key in case:
        return [float(case[key])]
    return [float(way[key]) for way in case.values() if isinstance(way, dict) and key in way]


COLUMNS: tuple[tuple[str, str, int, tuple[str, ...]], ...] = (
    ("CPU/call", "ms", 2, ("calls", "*", "cpu_ms")),
    ("p50", "ms", 2, ("calls", "*", "p50_ms")),
    ("32 at once", "/s", 0, ("calls", "*", "per_second")),
    ("CPU then", "ms", 2, ("calls", "*", "busy_cpu_ms")),
    ("1,000 list", "CPU ms", 2, ("listing", "*", "cpu_ms")),
    ("ten listed", "s", 2, ("start", "listed_s")),
    ("memory", "MB", 0, ("start", "memory_mb")),
    ("kill -9", "s", 2, ("killed", "answer_s")),
    ("nine", "s", 2, ("hanging", "without_s")),
    ("+ hanging", "s", 2, ("hanging", "with_s")),
)


def table(results: dict[str, Any]) -> str:
    """A line for each gateway and era, the troubles below, then the goals."""
    lines = [
        f"{'':28}" + "".join(f"{title:>12}" for title, *_ in COLUMNS),
        f"{'':28}" + "".join(f"{unit:>12}" for _, unit, *_ in COLUMNS),
    ]
    for one in results.values():
        for place, way in enumerate(_ways(one)):
            lines.append(f"{one['title'] + ' ' + way:28}" + "".join(_cells(one, way, first=place == 0)))
    lines += ["", *_troubles(results), "", *(_told(goal) for goal in goals(results))]
    return "\n".join(lines)


def _ways(one: dict[str, Any]) -> list[str]:
    measured = {**one.get("calls", {}), **one.get("listing", {})}
    return [way for way in measured if way != "problem"] or [""]


def _cells(one: dict[str, Any], way: str, *, first: bool) -> list[str]:
    """What does not depend on the way stands in the first line alone."""
    cells = []
    for _, _, digits, path in COLUMNS:
        value = number(one, *(way if key == "*" else key for key in path))
        shown = value is not None and (first or "*" in path)
        cells.append(f"{value:12.{digits}f}" if shown else f"{'' if not first else '–':>12}")
    return cells


def _troubles(results: dict[str, Any]) -> list[str]:
    lines = []
    for one in results.values():
        if "unavailable" in one:
            lines.append(f"{one['title']}: cannot be installed here: {one['unavailable']}")
        for case, outcome in one.items():
            if isinstance(outcome, dict) and "problem" in outcome:
                lines.append(f"{one['title']}, {case}: {outcome['problem']}")
    return lines


def _told(goal: Goal) -> str:
    sign = "≥" if goal.more_is_better else "≤"
    verdict = "holds" if goal.holds else "MISSED"
    return (
        f"{goal.title:32}{goal.ours:10.2f}  {goal.whose:>10}{goal.other:10.2f}"
        f"  ratio{goal.ratio:6.2f}  wanted {sign} {goal.limit:.2f}  {verdict}"
    )
