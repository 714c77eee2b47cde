"""Clients that nobody here wrote, in both eras, over HTTP and stdio, with a server of each era behind.

A driver does the same with each of them and prints a line for each thing it saw: about what (`session`, or
the server behind), which thing, and its value. It runs once; a test looks at one thing.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.clients import install

# The first run installs the clients, which has a deadline of its own.
pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(900)]
DEADLINE = 100.0
DRIVERS = Path(__file__).parent / "drivers"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
BACKS = ("old", "new")
TOOLS = ("count", "echo", "enough", "fate", "greet", "grow", "wait")


@dataclass(frozen=True)
class Run:
    """A client, the version that it speaks, and how it reaches the gateway."""

    client: str
    version: str
    transport: str

    def __str__(self) -> str:
        return f"{self.client}-{self.version}-{self.transport}"

    def command(self) -> tuple[str, ...]:
        """The driver."""
        match self.client:
            case "official":
                return sys.executable, str(DRIVERS / "official.py")
            case "fastmcp":
                return install.fastmcp(), str(DRIVERS / "fast.py")
            case typescript:
                return install.typescript(f"{typescript}.mjs")


RUNS = [
    Run("official", LEGACY, "http"),
    Run("official", MODERN, "http"),
    Run("official", MODERN, "stdio"),
    Run("typescript_1", LEGACY, "http"),
    Run("typescript_1", LEGACY, "stdio"),
    Run("typescript_2", LEGACY, "http"),
    Run("typescript_2", MODERN, "http"),
    Run("typescript_2", MODERN, "stdio"),
    Run("fastmcp", LEGACY, "http"),
    Run("fastmcp", MODERN, "http"),
]
HEARING_CHANGES = [run for run in RUNS if (run.client, run.version) != ("fastmcp", MODERN)]


class Told:
    """What a driver printed."""

    def __init__(self, output: str, errors: str) -> None:
        lines = [json.loads(line) for line in output.splitlines()]
        self._values = {(about, what): value for about, what, value in lines}
        self._report = f"{output}\n{errors}"

    def __getitem__(self, thing: tuple[str, str]) -> Any:
        assert thing in self._values, self._report
        return self._values[thing]


@pytest.fixture(scope="module")
def drive(gateway) -> Callable[[Run], Told]:
    """Runs a driver, once."""

    @cache
    def once(run: Run) -> Told:
        target = [gateway.url] if run.transport == "http" else gateway.stdio
        mode = "legacy" if run.version == LEGACY else "auto"
        command = [*run.command(), mode, str(run).replace(".", "-"), *target]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(command, text=True, **pipes) as process:
            try:
                return Told(*process.communicate(timeout=DEADLINE))
            except subprocess.TimeoutExpired:
                process.kill()
                return Told(*process.communicate())

    return once


@pytest.fixture
def told(request: pytest.FixtureRequest, drive) -> Told:
    """What the driver of this run printed."""
    return drive(request.param)


RUN_IDS = [str(run) for run in RUNS]
every_run = pytest.mark.parametrize("told", RUNS, indirect=True, ids=RUN_IDS)
every_back = pytest.mark.parametrize("back", BACKS)


@pytest.mark.parametrize(("told", "run"), [(run, run) for run in RUNS], indirect=["told"], ids=RUN_IDS)
def test_it_meets_one_server_in_its_own_era(told, run):
    assert (told["session", "server"], told["session", "version"]) == ("toolcrib", run.version)


@every_run
@every_back
def test_it_lists_the_tools(told, back):
    assert {f"{back}__{tool}" for tool in TOOLS} <= set(told[back, "tools"])


@every_run
@every_back
def test_it_gets_the_result_of_a_call(told, back):
    assert told[back, "result"] == "héllo"


@every_run
@every_back
def test_it_sees_progress_while_the_call_goes_on(told, back):
    assert told[back, "progress"] == [1, 2, 3]


@every_run
@every_back
def test_a_call_that_it_gives_up_is_cancelled_in_the_server(told, back):
    assert told[back, "fate"] == "cancelled"


@every_run
@every_back
def test_it_is_asked_and_the_call_goes_on_with_its_answer(told, back):
    assert (told[back, "question"], told[back, "greeting"]) == ("Who are you?", "Hello Ada")


@every_run
@every_back
def test_it_reads_a_resource(told, back):
    assert told[back, "resource"] == f"the note of {back}"


@every_run
@every_back
def test_it_gets_a_prompt(told, back):
    assert told[back, "prompt"] == "Review Ulysses."


@pytest.mark.parametrize("told", HEARING_CHANGES, indirect=True, ids=str)
@every_back
def test_it_hears_of_a_new_tool(told, back):
    assert told[back, "change"] is True
