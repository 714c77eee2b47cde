"""Services whose tools do nothing, so that only the engine is measured."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from toolcrib.errors import NotFound
from toolcrib.features.workflows.ports import RunInfo, VisitScope
from toolcrib.graph.node_type import ModelAnswer, ModelTask, NodeCall
from toolcrib.schema.tools import ToolResult
from toolcrib.schema.workflows import Workflow


class EmptyServices:
    """`safe` is repeatable; any other tool is not."""

    async def begin_run(self, run: RunInfo) -> None: ...

    async def end_run(self, run: RunInfo) -> None: ...

    def tools_called(self, run: RunInfo) -> Collection[str]:
        return ()

    async def tools_once_called(self, run: str) -> Collection[str]:
        return ()

    async def add_results(self, run: RunInfo, tools: Collection[str]) -> None: ...

    def repeatable(self, use: NodeCall, run: RunInfo) -> bool:
        return use.tool == "safe"

    async def call(self, use: NodeCall, visit: VisitScope) -> ToolResult:
        total = use.arguments["total"] + 1
        return {"content": [{"type": "text", "text": str(total)}], "structuredContent": {"total": total}}

    async def ask_model(self, task: ModelTask, visit: VisitScope) -> ModelAnswer:
        return ModelAnswer(text="")

    async def run_code(
        self, code: str, inputs: Mapping[str, Any], timeout: float | None, visit: VisitScope
    ) -> Any:
        return None

    async def find_workflow(self, name: str, run: RunInfo) -> Workflow:
        raise NotFound(name)

    def keep(self, data: bytes, media_type: str, visit: VisitScope) -> str:
        return ""


def row(length: int, tool: str) -> Workflow:
    """Calls in a row, each with the result of the one before."""
    nodes: dict[str, Any] = {}
    for number in range(length):
        total = f"{{{{n{number - 1}.data.total}}}}" if number else 0
        nodes[f"n{number}"] = {
            "type": "McpToolCall",
            "settings": {"tool": tool, "arguments": {"total": total}},
        }
    edges = [{"from": f"n{number}", "to": f"n{number + 1}"} for number in range(length - 1)]
    outputs = {"total": f"{{{{n{length - 1}.data.total}}}}"}
    return Workflow.model_validate({"name": "row", "nodes": nodes, "edges": edges, "outputs": outputs})
