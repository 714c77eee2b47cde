"""What a node costs besides its tool, beside plain DBOS; queued runs, and many workers.

python -m benchmarks.workflows.suite [--nodes N] [--runs N] [--workers N]

Each contender runs in a process of its own, on SQLite with a write-ahead log and `synchronous=NORMAL`. The
best of several rounds counts, because other programs only make it slower.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from typing import Any

ROUNDS = 3
DEADLINE = 3600.0


def measure(nodes: int = 300, runs: int = 10_000, workers: int = 100, rounds: int = ROUNDS) -> dict[str, Any]:
    plain = [_run("benchmarks.workflows.plain_dbos", nodes) for _ in range(rounds)]
    ours = [_run("benchmarks.workflows.our_engine", nodes, 1, 2) for _ in range(rounds - 1)]
    ours.append(_run("benchmarks.workflows.our_engine", nodes, runs, workers))
    return {
        "plain DBOS, a step": _best(plain),
        "a node": _best([each["safe"] for each in ours]),
        "a node that must not be repeated": _best([each["guarded"] for each in ours]),
        "queued": ours[-1]["queued"],
        "workers": ours[-1]["workers"],
    }


def table(found: dict[str, Any]) -> str:
    lines = [f"{'':36}{'CPU':>10}{'wall':>10}"]
    for name in ("plain DBOS, a step", "a node", "a node that must not be repeated"):
        lines.append(f"{name:36}{found[name]['cpu_ms']:7.2f} ms{found[name]['wall_ms']:7.2f} ms")
    queued, workers = found["queued"], found["workers"]
    lines.append(
        f"{queued['runs']} queued runs: enqueued in {queued['enqueue_s']:.0f} s, all done after"
        f" {queued['seconds']:.0f} s, {queued['cpu_ms_per_run']:.1f} ms of CPU each"
    )
    lines.append(
        f"{workers['workers']} workers: {workers['cpu_ms']:.2f} ms of CPU for a heartbeat and a look"
    )
    return "\n".join(lines)


def _run(module: str, *numbers: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", module, folder, *map(str, numbers)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _best(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {key: min(each[key] for each in rounds) for key in ("cpu_ms", "wall_ms")}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=300)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    print(table(measure(options.nodes, options.runs, options.workers, options.rounds)))


if __name__ == "__main__":
    main()
