"""Our server, over stdio; its scripts are the steps of the tasks themselves."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from benchmarks.desktop.connections import stdio
from benchmarks.desktop.contract import Calls, Connection, Script
from benchmarks.desktop.looking import SeeAWindow
from tests.bundled.desktop.tasks.agent import Agent
from tests.bundled.desktop.tasks.task import Task, all_tasks

TITLE = "toolcrib"


def install() -> None:
    """It is here already."""


@asynccontextmanager
async def open(environment: Mapping[str, str]) -> AsyncIterator[Connection]:  # noqa: A001
    command = [sys.executable, "-m", "toolcrib.bundled.desktop", "--profile", "full"]
    async with stdio(command, environment) as connection:
        await connection.call("list_windows", {})  # opens the desktop, as the others do when they start
        yield connection


async def run_steps(calls: Calls, task: Task) -> None:
    await task.steps(Agent(calls))


async def see(calls: Calls, task: SeeAWindow) -> None:
    task.seen = await calls.text("find_elements", parent=task.app)


SCRIPTS: Mapping[str, Script] = {
    **{task.__name__: run_steps for task in all_tasks()},
    "SeeAWindow": see,
}
