"""FocusWindow: brings a window to the front, by program, window or process id."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from toolcrib.features.workflows.desktop_tools import DesktopSettings, DesktopTool
from toolcrib.features.workflows.tool_content import call_tool
from toolcrib.graph.node_settings import NodeResult, named
from toolcrib.graph.node_type import NodeCall, NodeContext, NodeType
from toolcrib.graph.references import has_reference

METHODS = ("app_name", "window_id", "pid")


class FocusWindowSettings(DesktopSettings):
    method: Literal["app_name", "window_id", "pid"] = named(
        {"app_name": "Name of the program", "window_id": "Id of the window", "pid": "Process id"},
        default="app_name",
        title="Find it by",
        description="What is known of the window.",
    )
    value: str | int = Field(title="Which one", description="The name or the number.")

    @model_validator(mode="after")
    def _number_for_pid(self) -> FocusWindowSettings:
        is_number = str(self.value).isdigit() or has_reference(self.value)
        if self.method == "pid" and not is_number:
            raise ValueError("the method pid needs a number as its value")
        return self


class FocusWindowResult(NodeResult):
    title: str = Field(default="", description="The title of the window.")
    window: int | str | None = Field(default=None, description="The id of the window.")


def use(settings: FocusWindowSettings) -> NodeCall:
    value = settings.value
    if settings.method != "app_name" and isinstance(value, str) and value.isdigit():
        value = int(value)
    return _tool(settings.method).call(settings, **{settings.method: value})


def read(use: NodeCall) -> FocusWindowSettings | None:
    method = next((candidate for candidate in METHODS if use.arguments.get(candidate) is not None), None)
    if method is None:
        return None
    return _tool(method).read(use, method=method)


def _tool(method: str) -> DesktopTool[FocusWindowSettings]:
    return DesktopTool("focus_window", FocusWindowSettings, {method: "value"})


async def run(settings: FocusWindowSettings, context: NodeContext) -> FocusWindowResult:
    content = await call_tool(context, use(settings))
    data = content.data if isinstance(content.data, dict) else {}
    title, window = data.get("title"), data.get("id")
    return FocusWindowResult(
        title=title if isinstance(title, str) else "",
        window=window if isinstance(window, int | str) else None,
    )


NODE = NodeType(
    name="FocusWindow",
    title="Focus window",
    group="desktop",
    about="Brings the window of a program to the front, so that it gets the keyboard.",
    settings=FocusWindowSettings,
    example={"method": "app_name", "value": "Firefox"},
    result=FocusWindowResult,
    run=run,
    use=use,
    read=read,
)
