"""Services for runs in tests: tools that write what they do into a file, on disk before they return."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from toolcrib.errors import ConnectionLost, NotFound
from toolcrib.features.workflows.ports import RunInfo, VisitScope
from toolcrib.graph.node_type import ModelAnswer, ModelTask, NodeCall
from toolcrib.schema.tools import ToolResult
from toolcrib.schema.workflows import Workflow

REPEATABLE = frozenset({"note", "add", "slow"})


class SampleServices:
    """Tools: `note` and `add` are repeatable, `append` is not; each call is a line `run step tool`."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.workflows: dict[str, Workflow] = {}
        self.running: list[str] = []
        self.release = asyncio.Event()
        self.called = asyncio.Event()

    def write(self, line: str) -> None:
        descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(descriptor, f"{line}\n".encode())
        os.fsync(descriptor)
        os.close(descriptor)

    def lines(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def counts(self) -> Counter[str]:
        return Counter(self.lines())

    async def begin_run(self, run: RunInfo) -> None:
        self.running.append(run.id)

    async def end_run(self, run: RunInfo) -> None:
        self.running.remove(run.id)

    def tools_called(self, run: RunInfo) -> Collection[str]:
        return ()

    async def tools_once_called(self, run: str) -> Collection[str]:
        return ()

    async def add_results(self, run: RunInfo, tools: Collection[str]) -> None:
        pass

    def repeatable(self, use: NodeCall, run: RunInfo) -> bool:
        return use.tool in REPEATABLE

    async def call(self, use: NodeCall, visit: VisitScope) -> ToolResult:
        arguments = dict(use.arguments)
        self.write(f"{visit.info.id} {visit.step} {use.tool}")
        self.called.set()
        if arguments.get("hold"):
            await self.release.wait()
        await asyncio.sleep(arguments.get("seconds", 0))
        if arguments.get("lost"):
            raise ConnectionLost("The connection was lost.")
        if self.counts()[f"{visit.info.id} {visit.step} {use.tool}"] <= arguments.get("failures", 0):
            return {"isError": True, "content": [{"type": "text", "text": "It failed."}]}
        total = arguments.get("a", 0) + arguments.get("b", 0)
        return {"content": [{"type": "text", "text": str(total)}], "structuredContent": {"total": total}}

    async def ask_model(self, task: ModelTask, visit: VisitScope) -> ModelAnswer:
        self.write(f"{visit.info.id} {visit.step} model")
        return ModelAnswer(text=task.prompt.upper())

    async def run_code(
        self, code: str, inputs: Mapping[str, Any], timeout: float | None, visit: VisitScope
    ) -> Any:
        raise NotFound("There is no sandbox here.")

    async def find_workflow(self, name: str, run: RunInfo) -> Workflow:
        if name not in self.workflows:
            raise NotFound(f"There is no workflow {name!r}.")
        return self.workflows[name]

    def keep(self, data: bytes, media_type: str, visit: VisitScope) -> str:
        return f"{visit.step}-{len(data)}"
