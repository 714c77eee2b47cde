"""The form of a task: what is set up, what the agent does, and how the outcome is checked without the UI."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path
from typing import Any, TypeGuard

from tests.bundled.desktop.tasks.agent import Agent
from tests.bundled.desktop.tasks.world import World

HERE = Path(__file__).parent
PACKAGE = "tests.bundled.desktop.tasks.cases"


class Task:
    """One run of a task; a new one is made for each run. The docstring of a subclass is the instruction."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def setup(self) -> None:
        raise NotImplementedError

    async def steps(self, agent: Agent) -> None:
        raise NotImplementedError

    async def check(self) -> None:
        """Raises an `AssertionError` if the outcome is wrong; looks at files, processes and X only."""
        raise NotImplementedError


def all_tasks() -> list[type[Task]]:
    """Every task of the modules in `cases`."""
    found: list[type[Task]] = []
    for module in sorted(pkgutil.iter_modules([str(HERE / "cases")]), key=lambda each: each.name):
        loaded = importlib.import_module(f"{PACKAGE}.{module.name}")
        classes = [each for _, each in inspect.getmembers(loaded, inspect.isclass)]
        found += [each for each in classes if _is_task(each) and each.__module__ == loaded.__name__]
    return found


def _is_task(found: type[Any]) -> TypeGuard[type[Task]]:
    """A class without steps only shares setup and check with others."""
    return issubclass(found, Task) and found.steps is not Task.steps


async def run(task: type[Task], world: World, agent: Agent) -> None:
    made = task(world)
    await made.setup()
    await made.steps(agent)
    await made.check()
    agent.check_sizes()
