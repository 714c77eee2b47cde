"""PressKey: presses a key with modifiers (names of modifiers)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from toolcrib.features.workflows.desktop_tools import DesktopSettings, DesktopTool
from toolcrib.features.workflows.tool_content import call_tool
from toolcrib.graph.node_settings import NodeResult
from toolcrib.graph.node_type import NodeContext, NodeType

Modifier = Literal[
    "ctrl", "control", "shift", "alt", "option", "command", "cmd", "super", "meta", "win", "altgr"
]


class PressKeySettings(DesktopSettings):
    key: str = Field(
        min_length=1, max_length=100, title="Key", description="Such as enter, a, f5 or page_down."
    )
    modifiers: list[Modifier] = Field(
        default_factory=list,
        max_length=5,
        title="Keys to hold",
        description="One per line, such as ctrl and shift.",
    )


class PressKeyResult(NodeResult):
    keys: str = Field(description="What was pressed, such as ctrl+s.")


TOOL = DesktopTool("press_key", PressKeySettings, {"key": "key", "modifiers": "modifiers"})


async def run(settings: PressKeySettings, context: NodeContext) -> PressKeyResult:
    await call_tool(context, TOOL.use(settings))
    return PressKeyResult(keys="+".join([*settings.modifiers, settings.key]))


NODE = NodeType(
    name="PressKey",
    title="Press key",
    group="desktop",
    about="Presses a key or a combination of keys, such as ctrl and s.",
    settings=PressKeySettings,
    example={"key": "s", "modifiers": ["ctrl"]},
    result=PressKeyResult,
    run=run,
    use=TOOL.use,
    read=TOOL.read,
)
