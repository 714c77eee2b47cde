"""Modules are loaded in a thread while the event loop goes on."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from toolcrib.loading import SWITCH_INTERVAL, preload

SLOW = "import sys, time\nturn = sys.getswitchinterval()\ntime.sleep(0.2)\n"


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names = ["toolcrib_test_slow", "toolcrib_test_slower"]
    for name in names:
        (tmp_path / f"{name}.py").write_text(SLOW)
        sys.modules.pop(name, None)
    (tmp_path / "toolcrib_test_broken.py").write_text("raise RuntimeError('broken')\n")
    monkeypatch.syspath_prepend(tmp_path)
    return names


async def test_the_event_loop_goes_on_while_modules_load(modules: list[str]) -> None:
    loading = asyncio.create_task(preload(*modules))
    turns = 0
    while not loading.done():
        await asyncio.sleep(0)
        turns += 1
    await loading

    assert turns > 100
    assert all(sys.modules[name].turn == SWITCH_INTERVAL for name in modules)


async def test_loads_side_by_side_leave_the_turns_as_they_were(modules: list[str]) -> None:
    before = sys.getswitchinterval()

    await asyncio.gather(preload(modules[0]), preload(modules[1]), preload(modules[0]), preload("json"))

    assert sys.getswitchinterval() == before


async def test_a_module_that_cannot_be_loaded_says_so_and_changes_nothing(modules: list[str]) -> None:
    before = sys.getswitchinterval()

    with pytest.raises(RuntimeError, match="broken"):
        await preload("toolcrib_test_broken")

    assert sys.getswitchinterval() == before
    assert "toolcrib_test_broken" not in sys.modules
