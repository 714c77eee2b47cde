"""TypeText: types text with the keyboard (longest text)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from toolcrib.features.workflows.desktop_tools import DesktopSettings, DesktopTool
from toolcrib.features.workflows.tool_content import call_tool
from toolcrib.graph.node_settings import NodeResult
from toolcrib.graph.node_type import NodeContext, NodeType


class TypeTextSettings(DesktopSettings):
    text: str = Field(
        max_length=20_000, title="Text", description="It is typed into the field that has the focus."
    )


class TypeTextResult(NodeResult):
    characters: int = Field(description="How many characters were typed.")
    verified: bool | None = Field(
        default=None, description="Whether the field contains the text; null if it cannot be read."
    )


TOOL = DesktopTool("type_text", TypeTextSettings, {"text": "text"})


async def run(settings: TypeTextSettings, context: NodeContext) -> TypeTextResult:
    content = await call_tool(context, TOOL.use(settings))
    data: Mapping[str, Any] = content.data if isinstance(content.data, Mapping) else {}
    verified = data.get("verified")
    return TypeTextResult(
        characters=len(settings.text), verified=verified if isinstance(verified, bool) else None
    )


NODE = NodeType(
    name="TypeText",
    title="Type text",
    group="desktop",
    about="Types text into the field that has the focus.",
    settings=TypeTextSettings,
    example={"text": "Hello {{input.name}}"},
    result=TypeTextResult,
    run=run,
    use=TOOL.use,
    read=TOOL.read,
)
