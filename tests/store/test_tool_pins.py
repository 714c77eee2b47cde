"""Approved definitions: a tool whose approval is not on the disk is not offered."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from toolcrib.clock import SystemClock
from toolcrib.schema.tools import ToolDefinition
from toolcrib.store import tool_pins
from toolcrib.store.database import open_database
from toolcrib.store.tool_pins import CHANGED, UNSTORED, ToolPins

PAY = ToolDefinition(name="pay", raw={"name": "pay", "description": "Pay."})


async def test_a_tool_is_held_while_a_locked_database_takes_no_approval_and_then_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_pins, "WRITE_SECONDS", 0.05)
    async with open_database(tmp_path / "toolcrib.db") as database:
        pins = await ToolPins.open(database, clock=SystemClock())
        news = asyncio.Event()
        pins.on_unstored = lambda server: news.set()
        locking = sqlite3.connect(tmp_path / "toolcrib.db")
        locking.execute("BEGIN IMMEDIATE")
        pins.held("bank", [(PAY, "h1")], approve_new=True)

        async with asyncio.timeout(60):
            await news.wait()
        assert pins.held("bank", [(PAY, "h1")], approve_new=True) == {"pay": UNSTORED}
        assert pins.held("bank", [(PAY, "h2")], approve_new=True) == {"pay": CHANGED}

        news.clear()
        locking.rollback()
        locking.close()
        async with asyncio.timeout(60):
            await news.wait()
        assert pins.held("bank", [(PAY, "h1")], approve_new=True) == {}
    async with open_database(tmp_path / "toolcrib.db") as database:
        again = await ToolPins.open(database, clock=SystemClock())
        assert again.held("bank", [(PAY, "h2")], approve_new=True) == {"pay": CHANGED}


async def test_reading_again_forgets_no_approval_that_could_not_be_stored(tmp_path: Path) -> None:
    async with open_database(tmp_path / "toolcrib.db") as database:
        pins = await ToolPins.open(database, clock=SystemClock())
        unstorable = ToolDefinition(name="pay", raw={"name": "pay", "default": {1, 2}})
        pins.approve("bank", [(unstorable, "h1")])
        await pins.refresh()
        assert pins.held("bank", [(PAY, "h2")], approve_new=True) == {"pay": CHANGED}
