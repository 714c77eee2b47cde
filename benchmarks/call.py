"""The cost of one call, contender by contender, in interleaved blocks against the same small server.

python -m benchmarks.call [--suite stdio|http] [--rounds N] [--json]
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import pkgutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from benchmarks import contenders
from benchmarks.contract import Contender, Suite

ROOT = Path(__file__).parents[1]
SMALL = {"tool": "echo", "arguments": {"text": "hello"}, "count": 200, "deadline": 60.0}
MEGABYTE = {"tool": "blob", "arguments": {"bytes": 1_000_000}, "count": 10, "deadline": 60.0}
HUGE = {"tool": "blob", "arguments": {"bytes": 50_000_000}, "count": 1, "deadline": 30.0}
WARM_UP = 2


@dataclass
class Score:
    """What one contender took. Times in microseconds; None where it was not done in time."""

    name: str
    title: str
    role: str
    small: list[float] = field(default_factory=list, repr=False)
    small_cpu: list[float] = field(default_factory=list, repr=False)
    megabyte: list[float] = field(default_factory=list, repr=False)
    megabyte_cpu: list[float] = field(default_factory=list, repr=False)
    huge: float | None = None

    def summary(self) -> dict[str, Any]:
        """The numbers worth keeping."""
        return {
            "name": self.name,
            "title": self.title,
            "role": self.role,
            "p10_us": _percentile(self.small, 10),
            "p50_us": _percentile(self.small, 50),
            "p99_us": _percentile(self.small, 99),
            "cpu_us": statistics.median(self.small_cpu),
            "megabyte_p50_us": _percentile(self.megabyte, 50),
            "megabyte_cpu_us": statistics.median(self.megabyte_cpu),
            "fifty_megabytes_us": self.huge,
        }


class Worker:
    """A contender's process, seen from outside."""

    def __init__(self, name: str, url: str) -> None:
        command = [sys.executable, "-m", "benchmarks.worker", name, *([url] if url else [])]
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._hear()

    def run(self, order: dict[str, Any]) -> dict[str, Any]:
        """One block."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self._hear()

    def close(self) -> None:
        """Let it end by itself, or end it: one that could not finish a block in time may hang."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _hear(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            assert self._process.stderr is not None
            raise RuntimeError(f"{self._process.args!r} ended:\n{self._process.stderr.read()[-2000:]}")
        return cast(dict[str, Any], json.loads(line))


def find_contenders(suite: Suite) -> dict[str, Contender]:
    """The files of the folder that take part in this suite."""
    names = [module.name for module in pkgutil.iter_modules(contenders.__path__)]
    found = {
        name: cast(Contender, importlib.import_module(f"{contenders.__name__}.{name}")) for name in names
    }
    ranks = {"floor": 0, "": 1, "sdk": 2}
    taking_part = {name: module for name, module in found.items() if suite == module.SUITE}
    return dict(sorted(taking_part.items(), key=lambda item: (ranks[item[1].ROLE], item[0])))


@contextlib.contextmanager
def small_http_server() -> Iterator[str]:
    """The server of the HTTP suite, as long as the block lasts."""
    command = [sys.executable, "-m", "benchmarks.tiny_http_server"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


def measure(suite: Suite, rounds: int) -> list[Score]:
    """Everyone in turn, `rounds` times, each round beginning with another one."""
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(small_http_server()) if suite == "http" else ""
        workers, scores = {}, {}
        for name, contender in find_contenders(suite).items():
            workers[name] = Worker(name, url)
            stack.callback(workers[name].close)
            scores[name] = Score(name, contender.TITLE, contender.ROLE)
        names = list(workers)
        for number in range(-WARM_UP, rounds):
            for name in names[number % len(names) :] + names[: number % len(names)]:
                _one_round(workers[name], scores[name], number)
        for name in names:
            answer = workers[name].run(HUGE)
            scores[name].huge = answer["seconds"][0] * 1e6 if "seconds" in answer else None
        return list(scores.values())


def _one_round(worker: Worker, score: Score, number: int) -> None:
    small = _microseconds(worker.run(SMALL), SMALL["count"])
    large = _microseconds(worker.run(MEGABYTE), MEGABYTE["count"]) if number % 4 == 0 or number < 0 else None
    if number < 0:
        return
    score.small += small[0]
    score.small_cpu.append(small[1])
    if large:
        score.megabyte += large[0]
        score.megabyte_cpu.append(large[1])


def _microseconds(answer: dict[str, Any], count: Any) -> tuple[list[float], float]:
    if "late" in answer:
        raise RuntimeError(f"A block of {count} calls took longer than {answer['late']} s.")
    return [second * 1e6 for second in answer["seconds"]], answer["cpu"] * 1e6 / count


def _percentile(values: list[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def table(scores: list[Score]) -> str:
    """For people: the ratios are what carries over from one machine to another."""
    rows = [score.summary() for score in scores]
    floor = next(row for row in rows if row["role"] == "floor")
    sdk = next(row for row in rows if row["role"] == "sdk")
    lines = [
        f"{'':24}{'p10':>8}{'p50':>8}{'CPU':>8}{'p50':>8}{'CPU':>8}{'1 MB':>9}{'1 MB':>8}{'50 MB':>9}",
        f"{'':24}{'µs':>8}{'µs':>8}{'µs':>8}{'/floor':>8}{'/SDK':>8}{'ms':>9}{'/floor':>8}{'s':>9}",
    ]
    for row in sorted(rows, key=lambda row: float(row["p50_us"])):
        huge = row["fifty_megabytes_us"]
        lines.append(
            f"{row['title']:24}{row['p10_us']:8.0f}{row['p50_us']:8.0f}{row['cpu_us']:8.0f}"
            f"{row['p50_us'] / floor['p50_us']:8.2f}{row['cpu_us'] / sdk['cpu_us']:8.2f}"
            f"{row['megabyte_p50_us'] / 1e3:9.2f}{row['megabyte_p50_us'] / floor['megabyte_p50_us']:8.2f}"
            + (f"{huge / 1e6:9.2f}" if huge is not None else f"{'>' + str(HUGE['deadline']):>9}")
        )
    return "\n".join(lines)


def main() -> None:
    """Measure one suite and show it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", choices=["stdio", "http"], default="stdio")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true", help="every number, for programs")
    options = parser.parse_args()
    scores = measure(options.suite, options.rounds)
    print(json.dumps([asdict(score) for score in scores]) if options.json else table(scores))


if __name__ == "__main__":
    main()
