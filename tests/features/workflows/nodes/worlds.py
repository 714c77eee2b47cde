"""The world of a node in tests: real tool functions, and answers that a test gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from toolcrib.features.workflows.graph.node_types import find_type
from toolcrib.graph.node_settings import resolved
from toolcrib.graph.node_type import ModelAnswer, ModelTask, NodeCall, NodeQuestion, UserAnswer
from toolcrib.schema.tools import ToolResult

NOW = datetime(2026, 11, 17, 8, 0, tzinfo=UTC)
CallTool = Callable[[NodeCall], Awaitable[ToolResult]]


class NodeWorld:
    """A `NodeContext` that remembers what a node did."""

    run = "run-1"
    step = "node"

    def __init__(self, call_tool: CallTool | None = None) -> None:
        self._call_tool = call_tool
        self.calls: list[NodeCall] = []
        self.kept: list[tuple[bytes, str]] = []
        self.notes: list[tuple[str, dict[str, Any]]] = []
        self.asked: list[Any] = []
        self.model = ModelAnswer(text="done")
        self.answer = UserAnswer(choice="Approve")
        self.event: Any = None

    async def call(self, use: NodeCall) -> ToolResult:
        self.calls.append(use)
        assert self._call_tool is not None
        return await self._call_tool(use)

    async def ask_model(self, task: ModelTask) -> ModelAnswer:
        self.asked.append(task)
        return self.model

    async def ask_user(self, question: NodeQuestion) -> UserAnswer:
        self.asked.append(question)
        return self.answer

    async def wait_until(self, moment: datetime) -> None:
        self.asked.append(moment)

    async def wait_for(self, seconds: float) -> None:
        self.asked.append(seconds)

    async def wait_for_event(self, name: str, deadline: float | None) -> Any:
        self.asked.append((name, deadline))
        return self.event

    async def run_workflow(self, name: str, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append((name, dict(inputs)))
        return {"sent": True}

    async def run_code(self, code: str, inputs: Mapping[str, Any], timeout: float | None) -> Any:
        self.asked.append((code, dict(inputs), timeout))
        return 42

    def keep(self, data: bytes, media_type: str) -> str:
        self.kept.append((data, media_type))
        return f"artifact-{len(self.kept)}"

    def note(self, kind: str, **facts: Any) -> None:
        self.notes.append((kind, facts))

    def now(self) -> datetime:
        return NOW


async def visit(world: NodeWorld, kind: str, settings: Mapping[str, Any] | None = None, **values: Any) -> Any:
    """Run a node of this type; its result as JSON, as the engine stores it."""
    node_type = find_type(kind)
    assert node_type.run is not None
    result = await node_type.run(resolved(node_type.settings, settings or {}, values), world)
    return result.model_dump(mode="json")
