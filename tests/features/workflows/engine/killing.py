"""Runs workflows in worker processes that are killed at random moments, and checks what happened.

python -m tests.features.workflows.engine.killing FOLDER --kills 20
    [--url postgresql://…] [--workers 3] [--frozen 0.2]

Workers are forked from this process, so that each one starts fast. A user who knows the truth answers the
questions about interrupted calls: from the log that the tools write. Prints a summary as JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import time
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.features.workflows.engine.sample_services import SampleServices
from tests.features.workflows.engine.sample_workflows import INNER, chain, expected, mixed
from toolcrib.errors import ToolcribError
from toolcrib.features.workflows.engine.engine import Engine
from toolcrib.features.workflows.engine.opening import EngineOptions, open_engine
from toolcrib.features.workflows.ports import VisitScope
from toolcrib.features.workflows.records import FINAL, RunQuestion
from toolcrib.graph.node_type import NodeCall, UserAnswer
from toolcrib.schema.tools import ToolResult

OPTIONS = EngineOptions(polling=0.05, heartbeat=0.2, lease=10.0, grace=0)
PATIENCE = 600.0


class TimedServices(SampleServices):
    """Each call is a line with its time and its result, on disk before the call returns."""

    async def call(self, use: NodeCall, visit: VisitScope) -> ToolResult:
        total = use.arguments.get("a", 0) + use.arguments.get("b", 0)
        line = {
            "time": time.time(),
            "run": visit.info.id,
            "step": visit.step,
            "tool": use.tool,
            "total": total,
        }
        self.write(json.dumps(line))
        await asyncio.sleep(random.random() * use.arguments.get("seconds", 0))
        return {"content": [{"type": "text", "text": str(total)}], "structuredContent": {"total": total}}


@dataclass
class Plan:
    folder: Path
    url: str | None
    runs: int
    nodes: int
    patience: float
    """Seconds for a worker."""

    @property
    def log(self) -> Path:
        return self.folder / "calls.log"

    @property
    def names(self) -> list[str]:
        return [f"run-{number}" for number in range(self.runs)]

    def calls(self) -> list[dict[str, Any]]:
        text = self.log.read_text() if self.log.exists() else ""
        return [json.loads(line) for line in text.splitlines()]


async def work(plan: Plan, number: int, slot: str) -> None:
    """One worker: start the runs if no one has, answer questions, end when all runs are over."""
    services = TimedServices(plan.log)
    services.workflows["inner"] = chain(INNER, "append", seconds=0.01)
    async with open_engine(plan.folder / slot, services, url=plan.url, options=OPTIONS) as engine:
        if number == 0:
            for position, name in enumerate(plan.names):
                await engine.start(
                    mixed(plan.nodes), run_id=name, queued=plan.url is not None or position % 2 > 0
                )
            (plan.folder / "started").touch()
        while not await all_over(engine, plan):
            await answer_questions(engine, plan)
            await asyncio.sleep(0.05)


async def all_over(engine: Engine, plan: Plan) -> bool:
    if not (plan.folder / "started").exists():
        return False
    return all(record.state in FINAL for record in await engine.runs(limit=500))


async def answer_questions(engine: Engine, plan: Plan) -> None:
    for record in await engine.runs(state="waiting", limit=500):
        for question in record.questions:
            try:
                await engine.answer(record.run, question.step, true_answer(plan, question))
            except ToolcribError:
                continue  # another worker was faster
    for record in await engine.runs(state="running", limit=500):
        try:
            await engine.send_event(record.run, "go", 1) if (await waits(engine, record.run)) else None
        except ToolcribError:
            continue


async def waits(engine: Engine, run: str) -> bool:
    steps = await engine.steps(run)
    return bool(steps) and steps[-1].node == "signal" and steps[-1].state != "done"


def true_answer(plan: Plan, question: RunQuestion) -> UserAnswer:
    """What a user would say who looked at the outside world."""
    if not question.uncertain:
        return UserAnswer(choice=question.choices[0], values={"number": 1})
    step = f"{question.run}/{question.step}".removeprefix(f"{question.asked_by}/")
    made = [call for call in plan.calls() if (call["run"], call["step"]) == (question.asked_by, step)]
    if not made:
        return UserAnswer(choice="Do it again")
    total = made[-1]["total"]
    return UserAnswer(
        choice="It was done", values={"text": str(total), "data": {"total": total}, "pictures": []}
    )


def fork(plan: Plan, number: int) -> int:
    process = os.fork()
    if process:
        return process
    try:
        asyncio.run(
            asyncio.wait_for(work(plan, number, f"worker-{number}" if plan.url else "home"), plan.patience)
        )
    except BaseException as error:  # noqa: BLE001 - the end of a forked process
        print(f"worker {number}: {type(error).__name__}: {error}", flush=True)
        os._exit(1)
    os._exit(0)


def kill_at_random(plan: Plan, workers: int, kills: int, longest: float, frozen: float) -> int:
    """Kill workers until the number is reached or all work is done; how many were killed.

    The share `frozen` is stopped instead until the others take it for dead, and then goes on.
    """
    living = {number: fork(plan, number) for number in range(workers)}
    killed = 0
    while living and killed < kills:
        time.sleep(random.random() * longest)
        number = random.choice(list(living))
        if os.waitpid(living[number], os.WNOHANG)[0]:
            del living[number]
            continue
        if random.random() < frozen:
            os.kill(living[number], signal.SIGSTOP)
            time.sleep(OPTIONS.lease * (1 + random.random() / 2))
            os.kill(living[number], signal.SIGCONT)
            continue
        os.kill(living[number], signal.SIGKILL)
        os.waitpid(living[number], 0)
        killed += 1
        living[number] = fork(plan, number)
    for process in living.values():
        os.waitpid(process, 0)
    return killed


@dataclass
class Findings:
    problems: list[str] = field(default_factory=list)
    steps: int = 0
    calls: int = 0
    repeated: int = 0
    asked: int = 0


async def examine(plan: Plan) -> Findings:
    """Compare what the tools did with what was recorded."""
    findings = Findings()
    calls: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for call in plan.calls():
        calls[call["run"], call["step"]].append(call)
    async with open_engine(
        plan.folder / "examiner", SampleServices(plan.log), url=plan.url or sqlite(plan)
    ) as engine:
        records = [await engine.status(name) for name in plan.names]
        for record in records:
            if record.state != "finished" or record.outputs != expected(plan.nodes):
                findings.problems.append(f"{record.run}: {record.state} {record.outputs} {record.error}")
        runs = {key[0] for key in calls}
        for run in runs:
            await examine_run(engine, run, calls, findings)
    findings.calls = sum(map(len, calls.values()))
    return findings


async def examine_run(
    engine: Engine, run: str, calls: dict[tuple[str, str], list[dict[str, Any]]], findings: Findings
) -> None:
    for step in await engine.steps(run):
        made = calls.pop((run, step.step), [])
        calls[run, step.step] = made
        findings.steps += 1
        findings.asked += any(note["kind"] == "uncertain" for note in step.trace.get("notes", []))
        if step.type != "McpToolCall":
            continue
        ended = step.ended or datetime.max
        if not made and step.ended is not None:
            findings.problems.append(f"{run} {step.step}: recorded, and never called")
        if any(call["time"] > ended.timestamp() for call in made):
            findings.problems.append(f"{run} {step.step}: called again after it was recorded")
        if made and made[0]["tool"] == "append" and len(made) > 1:
            findings.problems.append(f"{run} {step.step}: not repeatable, and called {len(made)} times")
        findings.repeated += len(made) - 1


def sqlite(plan: Plan) -> str:
    return f"sqlite:///{plan.folder / 'home' / 'runs.sqlite'}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--url")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--longest", type=float, default=2.0, help="seconds between two kills, at most")
    parser.add_argument("--frozen", type=float, default=0.0, help="share that is frozen and not killed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds for a worker, at most")
    options = parser.parse_args()
    random.seed(options.seed)
    plan = Plan(options.folder, options.url, options.runs, options.nodes, options.patience)
    begun = time.monotonic()
    killed = kill_at_random(plan, options.workers, options.kills, options.longest, options.frozen)
    findings = asyncio.run(examine(plan))
    summary = {**vars(findings), "killed": killed, "seconds": round(time.monotonic() - begun, 1)}
    print(json.dumps(summary), flush=True)


if __name__ == "__main__":
    main()
