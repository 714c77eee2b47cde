"""For tests of sessions with real child processes: puppets, both event loops, and no loose ends."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.loop_clock import TurnableUvloop
from tests.servers.puppets import Puppet, Reaction, open_puppet
from tests.servers.stage import PromptWire, Stage, Wire
from toolcrib.servers.processes import termination as processes

OpenPuppet = Callable[[Mapping[str, Reaction]], AbstractAsyncContextManager[Puppet]]


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Modules that say `BOTH_LOOPS = True` run on asyncio's own loop and on uvloop."""
    loops: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"asyncio": asyncio.new_event_loop}
    if getattr(getattr(item, "module", None), "BOTH_LOOPS", False):
        loops["uvloop"] = TurnableUvloop
    return loops


@pytest.fixture
async def tidy() -> AsyncIterator[None]:
    """Fails a test that leaves a task behind, or lets an exception go unheard."""
    loop = asyncio.get_running_loop()
    unheard: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, details: unheard.append(details))
    before = asyncio.all_tasks()
    gc.freeze()  # only what the test makes is looked through afterwards
    yield
    left = asyncio.all_tasks() - before - {asyncio.current_task()}
    if left:  # what was cancelled last may need a turn to notice
        await asyncio.wait(left, timeout=60)
    gc.collect()
    gc.unfreeze()
    await asyncio.sleep(0)
    assert not [task for task in left if not task.done()]
    assert not unheard


@pytest.fixture
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorter patience with children that do not want to end."""
    monkeypatch.setattr(processes, "GRACE_AFTER_EOF", 0.3)
    monkeypatch.setattr(processes, "GRACE_AFTER_TERM", 0.3)


@pytest.fixture(params=[Wire, PromptWire])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    """A peer whose link is in the hands of the test."""
    stage = Stage(request.param())
    yield stage
    await stage.peer.close()


@pytest.fixture
def puppet(tmp_path: Path) -> OpenPuppet:
    """Opens a puppet with a script."""
    return partial(open_puppet, folder=tmp_path)
