"""The same tasks through every peer, in turns: success, calls, CPU time, size of replies, and time.

    python -m benchmarks.desktop.suite [--rounds N] [--minutes N] [--peer NAME]... [--task NAME]...

All use one display of their own, and the outcome is checked as in `tests/bundled/desktop/tasks`.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import itertools
import json
import math
import pkgutil
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any, cast

from benchmarks.desktop import peers
from benchmarks.desktop.contract import CHECK_LIMIT, LIMIT, Calls, Connection, Peer, PeerFailed
from benchmarks.desktop.installing import InstallFailed
from benchmarks.desktop.looking import SeeAWindow
from benchmarks.gateway.processes import usage
from tests.bundled.desktop.tasks.task import Task, all_tasks
from tests.bundled.desktop.tasks.world import Browser, World
from toolcrib.bundled.desktop.headless import HeadlessDisplay

OURS = "toolcrib"
TASKS = (
    "SeeAWindow", "FillInAForm", "SetASlider", "AgreeBeforeContinuing", "ChooseAFile", "AnswerWithAKey",
    "TypeAndSave", "ConvertWithASubmenu", "MultiplyWithButtons", "ClickInACoveredWindow",
    "RunACommandInATerminal", "OrderInAWebForm", "ActOnOneRowOfATable", "WaitForASlowElement",
)  # fmt: skip
MEASURES = ("calls", "tokens", "cpu_s", "wall_s")
LEAST = 0.01
"""CPU seconds are counted in these."""


@dataclass(frozen=True)
class Attempt:
    done: bool
    calls: int = 0
    tokens: float = 0.0
    cpu_s: float = 0.0
    wall_s: float = 0.0
    problem: str = ""


def find_peers(only: Iterable[str] = ()) -> dict[str, Peer]:
    """The files of the folder, ours first."""
    names = [module.name for module in pkgutil.iter_modules(peers.__path__)]
    if unknown := sorted(set(only) - {*names}):
        raise SystemExit(f"There is no peer {', '.join(unknown)}; known are {', '.join(names)}.")
    wanted = sorted(
        (name for name in names if not only or name in only), key=lambda name: (name != OURS, name)
    )
    return {name: cast(Peer, importlib.import_module(f"{peers.__name__}.{name}")) for name in wanted}


def measure(
    rounds: int,
    only: Iterable[str] = (),
    tasks: Iterable[str] = (),
    limit: float = LIMIT,
    minutes: float = math.inf,
) -> dict[str, Any]:
    """No further task begins after these minutes, for any peer; each attempt has `limit` seconds."""
    return asyncio.run(_measure(rounds, tuple(only), tuple(tasks) or TASKS, limit, minutes))


async def _measure(
    rounds: int, only: tuple[str, ...], names: tuple[str, ...], limit: float, minutes: float
) -> dict[str, Any]:
    found = find_peers(only)
    results: dict[str, Any] = {name: {"title": peer.TITLE, "tasks": {}} for name, peer in found.items()}
    for name, peer in list(found.items()):
        try:
            await asyncio.to_thread(peer.install)
        except InstallFailed as error:
            results[name]["unavailable"] = _reason(str(error))
            del found[name]
    known: list[type[Task]] = [SeeAWindow, *all_tasks()]
    tasks = {task.__name__: task for task in known}
    with tempfile.TemporaryDirectory() as folder:
        display = HeadlessDisplay.start((1280, 800))
        browser = Browser(display.target, Path(folder))
        try:
            end = time.monotonic() + 60 * minutes
            for task in itertools.takewhile(lambda _: time.monotonic() < end, names):
                for name, peer in found.items():
                    print(f"  {task} with {peer.TITLE} …", file=sys.stderr, flush=True)
                    attempts = [
                        asdict(await _try(peer, tasks[task], _world(display, browser, Path(folder)), limit))
                        for _ in range(rounds)
                    ]
                    results[name]["tasks"][task] = attempts
        finally:
            browser.close()
            display.close()
    return results


def _world(display: HeadlessDisplay, browser: Browser, folder: Path) -> World:
    return World(display.target, Path(tempfile.mkdtemp(dir=folder)), browser)


async def _try(peer: Peer, task: type[Task], world: World, limit: float) -> Attempt:
    """One run with a new process of the peer, whose start is not counted."""
    script = peer.SCRIPTS.get(task.__name__)
    if script is None:
        return Attempt(False, problem="cannot be expressed")
    try:
        async with peer.open(world.target.environment) as connection:
            return await _run(connection, peer, task(world), limit)
    except (PeerFailed, TimeoutError) as error:
        return Attempt(False, problem=f"does not start: {error}")
    finally:
        world.end()


async def _run(connection: Connection, peer: Peer, task: Task, limit: float) -> Attempt:
    calls, problem = Calls(connection), ""
    await task.setup()
    cpu, began = usage([connection.pid]).cpu, time.perf_counter()
    took = used = 0.0
    try:
        async with asyncio.timeout(limit):
            await peer.SCRIPTS[type(task).__name__](calls, task)
        took, used = time.perf_counter() - began, usage([connection.pid]).cpu - cpu
        async with asyncio.timeout(CHECK_LIMIT):
            await task.check()
    except Exception as error:  # noqa: BLE001 - a failure is a result
        problem = f"{type(error).__name__}: {error}"[:300]
    took = took or time.perf_counter() - began
    used = used or usage([connection.pid]).cpu - cpu
    return Attempt(not problem, calls.count, calls.tokens, used, took, problem)


def _reason(text: str) -> str:
    """What an installer said, without its command and its address."""
    lines = [line.strip() for line in text.splitlines()[1:] if line.strip() and "://" not in line]
    return (lines[0] if lines else text.splitlines()[0])[:200]


def table(results: dict[str, Any]) -> str:
    """One line a peer: sums over the tasks that it did, and per task what it could not do."""
    lines = [f"{'':24}{'done':>10}{'calls':>8}{'tokens':>9}{'CPU':>10}{'time':>10}   of each task done"]
    for each in results.values():
        if "unavailable" in each:
            lines.append(f"{each['title']:24}{each['unavailable']}")
            continue
        runs = [run for attempts in each["tasks"].values() for run in attempts]
        good = [run for run in runs if run["done"]]
        means = [sum(run[measure] for run in good) / max(1, len(good)) for measure in MEASURES]
        shown = f"{means[0]:8.1f}{means[1]:9.0f}{means[2]:8.2f} s{means[3]:8.2f} s"
        lines.append(f"{each['title']:24}{len(good):6}/{len(runs):<3}{shown}")
    return "\n".join([*lines, "", *_comparisons(results), "", *_failures(results)])


def _comparisons(results: dict[str, Any]) -> list[str]:
    """Each peer against ours, over the tasks that both did: above 1, theirs is more."""
    if OURS not in results:
        return []
    lines = [
        f"{'of ours':24}{'done':>10}{'calls':>8}{'tokens':>9}{'CPU':>10}{'time':>10}   in the tasks both did"
    ]
    for name, each in results.items():
        if name != OURS and "unavailable" not in each:
            compared = compare(results[OURS]["tasks"], each["tasks"])
            shown = "".join(
                f"{compared[measure]:{width}.2f}x"
                for measure, width in zip(MEASURES, (7, 8, 9, 9), strict=True)
            )
            lines.append(f"{each['title']:24}{compared['done']:9.2f}x{shown}   {compared['tasks']:.0f}")
    return lines


def compare(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, float]:
    """The ratio of successes, and of each measure the geometric mean of the ratios of its medians."""
    good = [
        {task: [run for run in runs if run["done"]] for task, runs in each.items()} for each in (ours, theirs)
    ]
    done = [sum(map(len, each.values())) for each in good]
    both = [task for task, runs in good[0].items() if runs and good[1].get(task)]
    found = {"done": done[1] / max(1, done[0]), "tasks": float(len(both))}
    for measure in MEASURES:
        pairs = [[median(run[measure] for run in each[task]) for each in good] for task in both]
        ratios = [max(their, LEAST) / max(our, LEAST) for our, their in pairs]
        found[measure] = geometric_mean(ratios) if ratios else math.nan
    return found


def _failures(results: dict[str, Any]) -> list[str]:
    lines = []
    for each in results.values():
        for task, attempts in each["tasks"].items():
            problems = [run["problem"] for run in attempts if not run["done"]]
            if problems:
                lines.append(f"{each['title']:24}{task:26}{len(problems)} failed: {problems[0][:110]}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for one task")
    parser.add_argument("--minutes", type=float, default=math.inf, help="no task begins after these")
    parser.add_argument("--peer", action="append", default=[])
    parser.add_argument("--task", action="append", default=[])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = measure(options.rounds, options.peer, options.task, options.limit, options.minutes)
    print(json.dumps(results, indent=2) if options.json else table(results))


if __name__ == "__main__":
    main()
