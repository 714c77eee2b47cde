"""Connects triggers with the host's workflows and runs: implements the ports of `workflows.automation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.errors import NotFound, UsageError
from toolcrib.features.workflows.inputs import read_inputs
from toolcrib.features.workflows.trigger_host import TriggerHost
from toolcrib.schema.workflows import RunState, Workflow

LOOK = 0.5
"""Seconds between looks for a run that is not there yet."""


class HostWorkflows:
    def __init__(self, host: TriggerHost) -> None:
        self._host = host

    async def workflow(self, name: str) -> Workflow:
        """Raises `NotFound`, or `UsageError` with the first problem."""
        stored = await self._host.workflows.get(name)
        problems = [problem for problem in stored.problems if not problem.warning]
        if problems:
            where = f" (node {problems[0].node})" if problems[0].node else ""
            raise UsageError(f"The workflow is not valid: {problems[0].message}{where}")
        return stored.readable


class HostRuns:
    def __init__(self, host: TriggerHost) -> None:
        self._host = host

    async def check(self, workflow: Workflow, inputs: Mapping[str, Any]) -> None:
        read_inputs(workflow, inputs, {})
        await self._host.workflows.admit(workflow)

    async def start(
        self, workflow: Workflow, inputs: Mapping[str, Any], run: str, *, source: str = ""
    ) -> None:
        given = read_inputs(workflow, inputs, {})
        engine = await self._host.workflows.runs.open()
        origin = await self._host.workflows.admit(workflow)
        results_of = (source, *origin) if source else origin
        await engine.start(workflow, given, run_id=run, queued=True, results_of=results_of)

    async def state(self, run: str) -> RunState | None:
        engine = self._host.workflows.runs.engine
        if not engine.exists:
            return None
        try:
            return (await (await engine.view()).status(run)).state
        except NotFound:
            return None

    async def result(self, run: str, timeout: float) -> Mapping[str, Any]:
        engine, clock = await self._host.workflows.runs.open(), self._host.core.clock
        until = clock.monotonic() + timeout
        while await self.state(run) is None:
            # Another host is starting it, or began to and stopped.
            if clock.monotonic() >= until:
                return {"run": run, "state": "queued", "outputs": None, "error": None}
            await clock.sleep(LOOK)
        found = await engine.wait(run, max(0.0, until - clock.monotonic()))
        return {"run": run, "state": found.state, "outputs": found.outputs, "error": found.error}

    async def find(self, workflow: str, name: str, value: Any) -> Sequence[str]:
        runs = self._host.workflows.runs
        if not runs.engine.exists:
            return []
        return await (await runs.engine.view()).with_input(workflow, name, value)

    async def send_event(self, run: str, name: str, data: Any, *, source: str = "") -> None:
        await self._host.workflows.runs.send_event(run, name, data, source=source)
