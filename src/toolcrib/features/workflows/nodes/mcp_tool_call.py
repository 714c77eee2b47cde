"""McpToolCall: calls any registered tool; its result as text, data and pictures."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from toolcrib.features.workflows.tool_content import call_tool
from toolcrib.graph.node_settings import NodeResult, NodeSettings
from toolcrib.graph.node_type import (
    JsonSchema,
    NodeCall,
    NodeContext,
    NodeType,
    Refinement,
    Surroundings,
)


class McpToolCallSettings(NodeSettings):
    tool: str = Field(min_length=1, max_length=300, title="Tool", description="Of any server.")
    arguments: dict[str, Any] = Field(
        default_factory=dict, title="Arguments", description="What the tool is given."
    )


class McpToolCallResult(NodeResult):
    text: str = Field(description="The text of the result.")
    data: Any = Field(default=None, description="The structured result, if the tool returns one.")
    pictures: list[str] = Field(default_factory=list, description="The ids of pictures in the result.")


def use(settings: McpToolCallSettings) -> NodeCall:
    return NodeCall(tool=settings.tool, arguments=settings.arguments)


def read(use: NodeCall) -> McpToolCallSettings | None:
    return None if use.desktop else McpToolCallSettings(tool=use.tool, arguments=dict(use.arguments))


async def run(settings: McpToolCallSettings, context: NodeContext) -> McpToolCallResult:
    content = await call_tool(context, use(settings))
    return McpToolCallResult(text=content.text, data=content.data, pictures=list(content.pictures))


def refine(settings: McpToolCallSettings, surroundings: Surroundings) -> Refinement:
    tool = surroundings.tool(settings.tool)
    if tool is None:
        return Refinement()
    output = tool.definition.raw.get("outputSchema")
    result = with_data(McpToolCallResult, output) if isinstance(output, dict) else None
    return Refinement(result=result, settings={"arguments": tool.definition.input_schema})


def with_data(model: type[NodeResult], schema: JsonSchema) -> JsonSchema:
    """The JSON Schema of a result whose `data` is known; the `$id` makes it the root of its own `$ref`s."""
    whole = model.model_json_schema()
    return {**whole, "properties": {**whole["properties"], "data": {"$id": "urn:data", **schema}}}


NODE = NodeType(
    name="McpToolCall",
    title="Call a tool",
    group="tools",
    about="Calls a tool of any server. It asks for your approval where a chat would too.",
    settings=McpToolCallSettings,
    example={"tool": "demo__add", "arguments": {"a": 1, "b": "{{input.number}}"}},
    result=McpToolCallResult,
    run=run,
    use=use,
    read=read,
    refine=refine,
    timeout=300.0,
)
