"""One engine for all tests of a file: DBOS is one for a process, and takes a moment to start."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.features.workflows.engine.sample_services import SampleServices
from toolcrib.features.workflows.engine.engine import Engine
from toolcrib.features.workflows.engine.opening import EngineOptions, open_engine
from toolcrib.features.workflows.records import RunRecord
from toolcrib.features.workflows.secret_inputs import RunKey
from toolcrib.schema.workflows import Workflow

OPTIONS = EngineOptions(polling=0.1, heartbeat=0.5, lease=60.0, grace=0.0)
DEADLINE = 60.0
KEY = RunKey(find=lambda: b"key", create=lambda: b"key")


@dataclass
class Bench:
    """An open engine and the services that its runs use."""

    engine: Engine
    services: SampleServices
    changed: asyncio.Event

    async def finished(
        self, workflow: Workflow, inputs: dict[str, Any] | None = None, **options: Any
    ) -> RunRecord:
        """Start a run and wait for its end."""
        run = await self.engine.start(workflow, inputs, **options)
        return await self.ended(run)

    async def ended(self, run: str) -> RunRecord:
        record = await self.engine.wait(run, DEADLINE)
        assert record.state in ("finished", "failed", "cancelled"), record
        return record

    async def until(self, run: str, state: str) -> RunRecord:
        """Wait until a run has this state."""
        return await self.when(run, lambda record: record.state == state)

    async def when(self, run: str, holds: Callable[[RunRecord], bool]) -> RunRecord:
        """Look at a run at each change until this holds."""
        async with asyncio.timeout(DEADLINE):
            while not holds(record := await self.engine.status(run)):
                self.changed.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.changed.wait(), 0.1)
        return record

    def calls(self, run: str) -> list[str]:
        """The steps of a run that called a tool, in their order."""
        parts = [line.split() for line in self.services.lines()]
        return [step for name, step, _ in parts if name == run]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def bench(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bench]:
    folder: Path = tmp_path_factory.mktemp("engine")
    services = SampleServices(folder / "calls")
    changed = asyncio.Event()
    async with open_engine(
        folder / "home", services, options=OPTIONS, on_change=lambda run, step: changed.set(), key=KEY
    ) as engine:
        yield Bench(engine, services, changed)
