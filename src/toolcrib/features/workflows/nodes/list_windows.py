"""ListWindows: the open windows, of all programs or of one."""

from __future__ import annotations

from pydantic import Field

from toolcrib.features.workflows.desktop_tools import (
    DesktopSettings,
    DesktopTool,
    DesktopWindow,
    Scope,
    read_windows,
)
from toolcrib.features.workflows.tool_content import call_tool
from toolcrib.graph.node_settings import NodeResult
from toolcrib.graph.node_type import NodeContext, NodeType


class ListWindowsSettings(DesktopSettings):
    app_name: Scope = None


class ListWindowsResult(NodeResult):
    found: bool = Field(description="Whether there is a window.")
    count: int = Field(description="The number of windows.")
    windows: list[DesktopWindow] = Field(description="The windows, the topmost first.")
    active: str = Field(default="", description="The title of the active window.")


TOOL = DesktopTool("list_windows", ListWindowsSettings, {"app_name": "app_name"})


async def run(settings: ListWindowsSettings, context: NodeContext) -> ListWindowsResult:
    windows = read_windows(await call_tool(context, TOOL.use(settings)))
    active = next((window.title for window in windows if window.active), "")
    return ListWindowsResult(found=bool(windows), count=len(windows), windows=windows, active=active)


NODE = NodeType(
    name="ListWindows",
    title="List windows",
    group="desktop",
    about="Lists the open windows, of all programs or of one.",
    settings=ListWindowsSettings,
    example={"app_name": "Firefox"},
    result=ListWindowsResult,
    run=run,
    use=TOOL.use,
    read=TOOL.read,
)
