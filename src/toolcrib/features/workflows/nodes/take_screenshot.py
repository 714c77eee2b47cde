"""TakeScreenshot: a picture of the screen, a window or a region, with its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from toolcrib.features.workflows.desktop_tools import DesktopSettings, DesktopTool
from toolcrib.features.workflows.tool_content import call_tool
from toolcrib.graph.node_settings import NodeResult, NodeSettings, named
from toolcrib.graph.node_type import NodeCall, NodeContext, NodeType


class ScreenRegion(NodeSettings):
    """A part of the screen, in pixels."""

    x: float = Field(description="The left edge.")
    y: float = Field(description="The upper edge.")
    width: float = Field(gt=0, description="Pixels.")
    height: float = Field(gt=0, description="Pixels.")


class TakeScreenshotSettings(DesktopSettings):
    mode: Literal["screen", "window", "region"] = named(
        {"screen": "The whole screen", "window": "A window", "region": "A part of the screen"},
        default="screen",
        title="Of",
        description="What is in the picture.",
    )
    target: str | None = Field(
        default=None, title="Program", description="The name of the program, for a window."
    )
    region: ScreenRegion | None = Field(
        default=None, title="Part", description="In pixels, for a part of the screen."
    )
    include_ocr: bool = Field(
        default=True, title="Read the text in it", description="Later steps find it as `text`."
    )

    @model_validator(mode="after")
    def _has_region(self) -> TakeScreenshotSettings:
        if self.mode == "region" and self.region is None:
            raise ValueError("the mode region needs a region")
        return self


class TakeScreenshotResult(NodeResult):
    picture: str | None = Field(description="The id of the picture, for AI steps and questions.")
    text: str = Field(default="", description="The text in the picture.")
    width: float | None = Field(default=None, description="Pixels of the picture.")
    height: float | None = Field(default=None, description="Pixels of the picture.")
    screenshot: str | None = Field(default=None, description="The desktop server's name for the picture.")


TOOL = DesktopTool(
    "take_screenshot",
    TakeScreenshotSettings,
    {"mode": "mode", "app_name": "target", "region": "region", "include_ocr": "include_ocr"},
    frozenset({"mode", "include_ocr"}),
)


def read(use: NodeCall) -> TakeScreenshotSettings | None:
    given = use.arguments
    mode = given.get("mode") or _implied(given)
    return TOOL.read(use, mode=mode, include_ocr=given.get("include_ocr", False))


def _implied(arguments: Mapping[str, Any]) -> str:
    """What the tool captures if no mode is given."""
    if "region" in arguments:
        return "region"
    return "window" if "app_name" in arguments or "window" in arguments else "screen"


async def run(settings: TakeScreenshotSettings, context: NodeContext) -> TakeScreenshotResult:
    content = await call_tool(context, TOOL.use(settings))
    data: Mapping[str, Any] = content.data if isinstance(content.data, Mapping) else {}
    ocr = data.get("ocr_text")
    return TakeScreenshotResult(
        picture=content.pictures[0] if content.pictures else None,
        text=ocr if isinstance(ocr, str) else content.text,
        width=_number(data.get("width")),
        height=_number(data.get("height")),
        screenshot=_name(data.get("screenshot", data.get("screenshot_id"))),
    )


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) else None


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) else None


NODE = NodeType(
    name="TakeScreenshot",
    title="Take screenshot",
    group="desktop",
    about="Takes a picture of the screen, a window or a region, and reads its text.",
    settings=TakeScreenshotSettings,
    example={"mode": "window", "target": "Firefox"},
    result=TakeScreenshotResult,
    run=run,
    use=TOOL.use,
    read=read,
)
