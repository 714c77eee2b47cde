"""AppDebugKitOp: an operation (`app_…`) of a program that has AppDebugKit built in."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from toolcrib.features.workflows.nodes.mcp_tool_call import McpToolCallResult
from toolcrib.features.workflows.tool_content import call_tool
from toolcrib.graph.node_settings import NodeSettings
from toolcrib.graph.node_type import NodeCall, NodeContext, NodeType

PREFIX = "app_"


class AppDebugKitOpSettings(NodeSettings):
    operation_name: Annotated[str, StringConstraints(pattern=r"^app_[a-z0-9_]{1,60}$")] = Field(
        title="Operation", description="Such as app_click or app_query."
    )
    parameters: dict[str, Any] = Field(
        default_factory=dict, title="Parameters", description="What it is given."
    )


def use(settings: AppDebugKitOpSettings) -> NodeCall:
    return NodeCall(tool=settings.operation_name, arguments=settings.parameters, desktop=True)


def read(use: NodeCall) -> AppDebugKitOpSettings | None:
    if not use.desktop or not use.tool.startswith(PREFIX):
        return None
    return AppDebugKitOpSettings(operation_name=use.tool, parameters=dict(use.arguments))


async def run(settings: AppDebugKitOpSettings, context: NodeContext) -> McpToolCallResult:
    content = await call_tool(context, use(settings))
    return McpToolCallResult(text=content.text, data=content.data, pictures=list(content.pictures))


NODE = NodeType(
    name="AppDebugKitOp",
    title="App operation",
    group="desktop",
    about="Runs an operation inside a program that has AppDebugKit built in, over the desktop server.",
    settings=AppDebugKitOpSettings,
    example={"operation_name": "app_query", "parameters": {"selector": "#save"}},
    result=McpToolCallResult,
    run=run,
    use=use,
    read=read,
)
