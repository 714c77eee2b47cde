"""Scroll: turns the mouse wheel: how far, and where."""

from __future__ import annotations

from pydantic import Field, model_validator

from toolcrib.features.workflows.desktop_tools import DesktopSettings, DesktopTool
from toolcrib.features.workflows.tool_content import call_tool
from toolcrib.graph.node_settings import NodeResult
from toolcrib.graph.node_type import NodeContext, NodeType


class ScrollSettings(DesktopSettings):
    delta_y: float = Field(
        ge=-10_000, le=10_000, title="How far", description="Positive numbers scroll down."
    )
    x: float | None = Field(default=None, title="At x", description="Pixels from the left of the screen.")
    y: float | None = Field(default=None, title="At y", description="Pixels from the top.")

    @model_validator(mode="after")
    def _both_or_neither(self) -> ScrollSettings:
        if (self.x is None) != (self.y is None):
            raise ValueError("give both x and y, or neither")
        return self


class ScrollResult(NodeResult):
    changed: bool | None = Field(default=None, description="Whether the screen changed; null if not known.")


TOOL = DesktopTool("scroll", ScrollSettings, {"delta_y": "delta_y", "x": "x", "y": "y"})


async def run(settings: ScrollSettings, context: NodeContext) -> ScrollResult:
    content = await call_tool(context, TOOL.use(settings))
    changes = content.data.get("changes") if isinstance(content.data, dict) else None
    return ScrollResult(changed=bool(changes) if isinstance(changes, list) else None)


NODE = NodeType(
    name="Scroll",
    title="Scroll",
    group="desktop",
    about="Scrolls at a place on the screen, or in the active window.",
    settings=ScrollSettings,
    example={"delta_y": 5},
    result=ScrollResult,
    run=run,
    use=TOOL.use,
    read=TOOL.read,
)
