"""A host and `toolcrib worker --database` on one PostgreSQL: runs are shared and taken over."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import CommandLine, Process
from tests.databases.postgres import postgres, postgres_url, running_postgres
from tests.features.workflows.host.workflow_sample import add, chain
from toolcrib.config.database_key import VARIABLE
from toolcrib.config.store import new_document

__all__ = ["postgres", "postgres_url"]

DEADLINE = 280.0
TO_BE_KILLED = (0.5, 15.0, 0.5, 0.5)
"""Seconds: in the second pause the process is killed, also on a slow machine; no run is taken over sooner."""
GONE = 60.0
"""Seconds without a database."""


def home(folder: Path, **settings: Any) -> CommandLine:
    (folder / "files").mkdir(parents=True)
    document = {**new_document(folder / "files"), "toolcrib": settings}
    (folder / "mcp.json").write_text(json.dumps(document))
    return CommandLine(folder, {VARIABLE: os.environ[VARIABLE]})


@contextmanager
def started(toolcrib: CommandLine, *words: str) -> Iterator[tuple[Process, Any]]:
    """A process in the foreground of its own home, and the line that it prints once it is ready."""
    process = toolcrib.start(*words, "--json", real=True)
    timer = threading.Timer(DEADLINE, process.kill)
    timer.start()
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        timer.cancel()
        assert line, process.communicate()[1]
        assert "error" not in json.loads(line), line
        yield process, json.loads(line)
    finally:
        timer.cancel()
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=DEADLINE)


def until(toolcrib: CommandLine, run: str, holds: Callable[[Any], bool]) -> Any:
    deadline = time.monotonic() + DEADLINE
    while True:
        answer = toolcrib("workflow", "show", run, "--json")
        if answer.code == 0 and holds(answer.json):
            return answer.json
        assert time.monotonic() < deadline, answer


def slow(folder: Path, *pauses: float) -> str:
    """Pairs of a pause in seconds and an addition, each adding one to the sum so far."""
    nodes: dict[str, Any] = {"begin": {"type": "Set", "settings": {"values": {"n": 0}}}}
    before = "{{begin.n}}"
    for number, seconds in enumerate(pauses):
        nodes[f"wait{number}"] = {"type": "Wait", "settings": {"seconds": seconds}}
        nodes[f"add{number}"] = add(before, 1)
        before = f"{{{{add{number}.data.result}}}}"
    file = folder / "slow.json"
    file.write_text(json.dumps(chain("slow", nodes, {"sum": before})))
    return str(file)


def finished(shown: Any) -> bool:
    return bool(shown["state"] == "finished")


def checked(shown: Any, steps: int) -> None:
    assert shown["outputs"] == {"sum": steps}
    assert len(shown["steps"]) == 2 * steps + 1
    assert {step["state"] for step in shown["steps"]} == {"done"}


def begun(toolcrib: CommandLine, file: str, step: str) -> Any:
    """A run that has come to this step."""
    run = str(toolcrib("workflow", "run", file, "--detach", "--json").json["run"])
    return until(toolcrib, run, lambda shown: any(each["node"] == step for each in shown["steps"]))


@pytest.mark.acceptance
def test_a_run_of_a_killed_worker_goes_on_in_the_host_beside_it(tmp_path: Path, postgres_url: str) -> None:
    hosting, working = home(tmp_path / "host", database=postgres_url), home(tmp_path / "worker")
    file = slow(tmp_path, *TO_BE_KILLED)
    with started(hosting, "up", "--no-browser", "--port", "0") as (host, _):
        with started(working, "worker", "--database", postgres_url) as (worker, announced):
            shown = begun(working, file, "wait1")
            worker.kill()
            worker.communicate(timeout=DEADLINE)
            assert (shown["worker"], shown["state"]) == (announced["worker"], "running")
            ended = until(hosting, shown["run"], finished)

        checked(ended, 4)
        assert ended["worker"] != announced["worker"]
        assert host.poll() is None
        listed = hosting("workflow", "runs", "--json").json
        assert [each["run"] for each in listed] == [shown["run"]]


@pytest.mark.acceptance
def test_a_worker_takes_over_the_run_of_a_killed_host(tmp_path: Path, postgres_url: str) -> None:
    hosting, working = home(tmp_path / "host", database=postgres_url), home(tmp_path / "worker")
    file = slow(tmp_path, *TO_BE_KILLED)
    with (
        started(working, "worker", "--database", postgres_url) as (_, announced),
        started(hosting, "up", "--no-browser", "--port", "0") as (host, _),
    ):
        run = begun(hosting, file, "wait1")["run"]
        host.kill()
        host.communicate(timeout=DEADLINE)
        ended = until(hosting, run, finished)

    checked(ended, 4)
    assert ended["worker"] == announced["worker"]


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_runs_go_on_after_a_minute_without_postgresql(tmp_path: Path) -> None:
    with running_postgres(durable=True) as server:
        hosting, working = home(tmp_path / "host", database=server.url()), home(tmp_path / "worker")
        file = slow(tmp_path, *[1.0] * 12)
        with (
            started(hosting, "up", "--no-browser", "--port", "0") as (host, _),
            started(working, "worker", "--database", server.url()) as (worker, _),
        ):
            runs = [begun(toolcrib, file, "wait2")["run"] for toolcrib in (hosting, working)]
            server.stop()
            threading.Event().wait(GONE)
            assert (host.poll(), worker.poll()) == (None, None), "both wait for it"
            server.start()

            for run in runs:
                checked(until(hosting, run, finished), 12)
            after = hosting("workflow", "run", file, "--detach", "--json").json["run"]
            checked(until(working, after, finished), 12)
