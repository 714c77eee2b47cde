"""Every operation of the desktop server and of the other programs, in turns on one display.

    python -m benchmarks.desktop_latency.suite [--rounds N] [--json]

CPU time is that of the program that does the operation, without that of the display and its programs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from statistics import median
from typing import Any

from benchmarks.desktop_latency.cases import OURS, Case, Operation, cases
from benchmarks.desktop_latency.peers import Xa11y, is_installed
from benchmarks.desktop_latency.world import open_world


def measure(rounds: int) -> dict[str, Any]:
    """Milliseconds by case and program; one that is not installed or fails is named with the reason."""
    return asyncio.run(_measure(rounds))


async def _measure(rounds: int) -> dict[str, Any]:
    async with open_world() as world:
        xa11y = Xa11y(world.environment)
        try:
            return {case.name: await _measure_case(case, rounds) for case in cases(world, xa11y)}
        finally:
            await xa11y.close()


async def _measure_case(case: Case, rounds: int) -> dict[str, Any]:
    problems = {name: "not installed" for name in case.operations if name != OURS and not is_installed(name)}
    times: dict[str, list[tuple[float, float]]] = {
        name: [] for name in case.operations if name not in problems
    }
    for number in range(rounds + 1):
        for name in [each for each in times if each not in problems]:
            try:
                taken = await _once(case, case.operations[name])
            except (TimeoutError, ValueError) as error:
                problems[name] = f"failed: {type(error).__name__}"
                continue
            times[name] += [taken] if number else []  # the first loads what it needs
    results = {name: _summary(taken) for name, taken in times.items() if taken}
    return {"target_ms": case.target, "results": results, "problems": problems}


async def _once(case: Case, operation: Operation) -> tuple[float, float]:
    """Wall and CPU time in milliseconds."""
    if case.prepare is not None:
        await case.prepare()
    before = time.perf_counter()
    used = await operation()
    return 1000 * (time.perf_counter() - before), 1000 * used


def _summary(taken: list[tuple[float, float]]) -> dict[str, float]:
    wall, cpu = [each[0] for each in taken], [each[1] for each in taken]
    return {"min_ms": min(wall), "median_ms": median(wall), "cpu_ms": min(cpu)}


def table(result: dict[str, Any]) -> str:
    """For people; `of ours` compares the shortest times."""
    lines = [f"{'':28}{'':12}{'target':>9}{'shortest':>11}{'median':>11}{'CPU':>11}{'of ours':>10}"]
    for name, case in result.items():
        ours = case["results"][OURS]["min_ms"]
        for program, each in case["results"].items():
            target = f"{case['target_ms']:g} ms" if program == OURS else ""
            times = "".join(f"{each[key]:8.1f} ms" for key in ("min_ms", "median_ms", "cpu_ms"))
            ratio = each["min_ms"] / ours
            lines.append(f"{name if program == OURS else '':28}{program:12}{target:>9}{times}{ratio:9.2f}x")
        lines += [f"{'':28}{program:12}{reason}" for program, reason in case["problems"].items()]
    return "\n".join(lines)


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure(options.rounds)
    print(json.dumps(result) if options.json else table(result))


if __name__ == "__main__":
    main()
