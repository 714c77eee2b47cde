"""An engine for one command works on the runs that it starts, and leaves all others to hosts and workers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from tests.features.workflows.engine.conftest import DEADLINE, OPTIONS
from tests.features.workflows.engine.sample_workflows import call, chain, workflow
from tests.features.workflows.engine.test_faults import opened
from toolcrib.graph.node_type import UserAnswer
from toolcrib.schema.workflows import Workflow

OWN = replace(OPTIONS, own_runs_only=True)


def asking() -> Workflow:
    ask = {"type": "AskUser", "settings": {"message": "Well?", "deadline": 600}}
    return workflow({"ask": ask, "after": call()}, ["ask after"])


async def test_a_run_of_another_process_is_neither_taken_over_nor_interrupted(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        older = await bench.engine.start(asking())
        await bench.until(older, "waiting")
    async with opened(tmp_path, options=OWN) as bench:
        mine = await bench.finished(chain(3))
        await bench.engine.answer(older, "ask", UserAnswer(choice="Approve"))
        assert mine.outputs == {"total": 3}
        assert (await bench.engine.status(older)).state != "finished"
        assert bench.calls(older) == []
    async with opened(tmp_path) as bench:
        assert (await bench.ended(older)).state == "finished"
        assert len(bench.calls(older)) == 1


async def test_a_workflow_with_a_limit_runs_too_and_others_that_are_queued_wait(tmp_path: Path) -> None:
    limit = chain(2).options.model_copy(update={"concurrency": 1})
    async with opened(tmp_path) as bench:
        holding = await bench.engine.start(asking())
        await bench.until(holding, "waiting")
    async with opened(tmp_path, options=OWN) as bench:
        async with asyncio.timeout(DEADLINE):
            mine = await bench.finished(chain(2).model_copy(update={"options": limit}))

        assert mine.outputs == {"total": 2}
        assert (await bench.engine.status(holding)).state != "finished"
