"""Thirty tasks in real programs of three toolkits and in Chromium, by a scripted agent; see `tasks/task.py`.

`make acceptance` runs each of them once, `make soak` ten times.
"""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.desktop.tasks.agent import Agent
from tests.bundled.desktop.tasks.task import Task, all_tasks, run
from tests.bundled.desktop.tasks.world import Browser, World
from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.backends.x11 import open_backend
from toolcrib.bundled.desktop.headless import HeadlessDisplay
from toolcrib.bundled.desktop.session import DesktopSession, SessionSettings
from toolcrib.bundled.desktop.tools import offer_profile
from toolcrib.serverkit.server import ToolServer

TASKS = all_tasks()
ROUNDS = int(os.environ.get("DESKTOP_TASK_ROUNDS", "10"))
WANTED = 0.99
"""The share of runs that must succeed."""


@pytest.fixture(scope="module")
def tasks_display() -> Iterator[HeadlessDisplay]:
    """Not the one of the other tests, which must be without windows: the browser stays open here."""
    opened = HeadlessDisplay.start((1280, 800))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def browser(tasks_display: HeadlessDisplay, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Starts with the first task that opens a page."""
    made = Browser(tasks_display.target, tmp_path_factory.mktemp("browser"))
    yield made
    made.close()


@pytest.fixture
async def agent(tasks_display: HeadlessDisplay, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Agent]:
    backend = await open_backend(tasks_display.target)
    session = DesktopSession(SessionSettings())

    async def opened(context: object = None) -> Backend:
        return backend

    monkeypatch.setattr(session, "backend", opened)
    server = ToolServer("desktop", "0")
    offer_profile(server, session, "full")

    async def call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return await server.tools[tool].call(arguments)

    yield Agent(call)
    backend.close()


@pytest.fixture
def world(tasks_display: HeadlessDisplay, browser: Browser, tmp_path: Path) -> Iterator[World]:
    made = World(tasks_display.target, tmp_path, browser)
    yield made
    made.end()


def test_there_are_thirty_tasks() -> None:
    assert len(TASKS) >= 30
    assert all(task.__doc__ for task in TASKS)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
async def test_a_task_is_done(task: type[Task], agent: Agent, world: World) -> None:
    await run(task, world, agent)


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_every_task_is_done_ten_times(
    tasks_display: HeadlessDisplay, browser: Browser, agent: Agent, tmp_path: Path
) -> None:
    """Prints a table of successes, seconds, calls and characters of replies."""
    failures: list[str] = []
    for task in TASKS:
        done, seconds, calls, characters = 0, 0.0, agent.calls, agent.characters
        for number in range(ROUNDS):
            folder = tmp_path / f"{task.__name__}-{number}"
            folder.mkdir()
            world = World(tasks_display.target, folder, browser)
            began = time.perf_counter()
            try:
                await run(task, world, agent)
                done += 1
            except Exception:  # noqa: BLE001 - counted, and shown at the end
                failures.append(f"{task.__name__} {number}\n{traceback.format_exc(limit=-3)}")
            finally:
                world.end()
            seconds += time.perf_counter() - began
        print(
            f"{task.__name__:28} {done:3}/{ROUNDS} {seconds / ROUNDS:6.2f} s"
            f" {(agent.calls - calls) / ROUNDS:6.1f} calls"
            f" {(agent.characters - characters) / ROUNDS / 4:7.0f} tokens",
            flush=True,
        )
    print({tool: round(characters / 4) for tool, characters in agent.longest.items()}, "tokens at most")
    attempts = len(TASKS) * ROUNDS
    share = 1 - len(failures) / attempts
    print(f"{attempts - len(failures)}/{attempts} = {share:.1%}")
    assert share >= WANTED, "\n".join(failures)
