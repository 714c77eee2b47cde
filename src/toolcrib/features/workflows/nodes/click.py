"""Click: clicks at a place, or on a text or picture that it finds first: button, double click, which match it
takes, covered targets.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from toolcrib.features.workflows.desktop_tools import (
    DesktopSettings,
    DesktopTool,
    NotOnScreen,
    Scope,
    ScreenMatch,
    find,
)
from toolcrib.features.workflows.tool_content import call_tool
from toolcrib.graph.node_settings import NodeResult, named
from toolcrib.graph.node_type import NodeCall, NodeContext, NodeType, NotAToolNode


class ClickSettings(DesktopSettings):
    target: str | None = Field(default=None, max_length=1000, title="Text", description="Where to click.")
    image: str | None = Field(
        default=None,
        max_length=4_000_000,
        title="Or picture",
        description="What to look for on the screen, in base64.",
    )
    x: float | None = Field(default=None, title="Or x", description="Pixels from the left of the screen.")
    y: float | None = Field(default=None, title="And y", description="Pixels from the top.")
    scope: Scope = None
    button: Literal["left", "right", "center"] = named(
        {"left": "Left", "right": "Right", "center": "Middle"},
        default="left",
        title="Mouse button",
        description="Which one is pressed.",
    )
    click_count: int = Field(
        default=1, ge=1, le=3, title="Number of clicks", description="2 for a double click."
    )

    @model_validator(mode="after")
    def _one_place(self) -> ClickSettings:
        ways = [self.target is not None, self.image is not None, self.x is not None or self.y is not None]
        if sum(ways) != 1 or (self.x is None) != (self.y is None):
            raise ValueError("give either target, or image, or both x and y")
        return self


class ClickResult(NodeResult):
    x: float = Field(description="Where it clicked, in screen pixels.")
    y: float = Field(description="The same, from the top.")
    text: str = Field(default="", description="The text that it clicked on.")
    matches: int = Field(default=0, description="How many places the target was found at.")


TOOL = DesktopTool(
    "click", ClickSettings, {"x": "x", "y": "y", "button": "button", "click_count": "click_count"}
)


def use(settings: ClickSettings) -> NodeCall:
    """Raises `NotAToolNode` if the place has to be found first: that is two calls."""
    if settings.x is None or settings.y is None:
        raise NotAToolNode(
            "A Click on a target finds it first and then clicks: that is two calls.", hint="Give x and y."
        )
    return TOOL.use(settings)


async def run(settings: ClickSettings, context: NodeContext) -> ClickResult:
    if settings.x is not None and settings.y is not None:
        await call_tool(context, use(settings))
        return ClickResult(x=settings.x, y=settings.y)
    matches = await find(context, _search(settings))
    place = _best(matches, settings)
    shown = settings.target if settings.target is not None else "the picture"
    context.note("target_resolved", target=shown, x=place.x, y=place.y, text=place.text, matches=len(matches))
    await call_tool(context, TOOL.use(settings.model_copy(update={"x": place.x, "y": place.y})))
    return ClickResult(x=place.x, y=place.y, text=place.text, matches=len(matches))


def _search(settings: ClickSettings) -> NodeCall:
    text = settings.target is not None
    wanted = {"text": settings.target} if text else {"template_image_base64": settings.image}
    scope = {} if settings.scope is None else {"app_name": settings.scope}
    return NodeCall(tool="find_text" if text else "find_image", arguments={**wanted, **scope}, desktop=True)


def _best(matches: list[ScreenMatch], settings: ClickSettings) -> ScreenMatch:
    """The first match that no window covers; an exact one before one inside longer text."""
    free = [match for match in matches if not match.covered]
    if not free:
        what = repr(settings.target) if settings.target is not None else "The picture"
        why = "is covered by another window" if matches else "is not on the screen"
        raise NotOnScreen(f"{what} {why}.", hint="Focus its window, or retry after a pause.")
    wanted = (settings.target or "").strip().casefold()
    return next((match for match in free if match.text.strip().casefold() == wanted), free[0])


NODE = NodeType(
    name="Click",
    title="Click",
    group="desktop",
    about="Clicks on a text or picture that it finds on the screen, or at given coordinates.",
    settings=ClickSettings,
    example={"target": "Save", "scope": "gedit"},
    result=ClickResult,
    run=run,
    use=use,
    read=TOOL.read,
)
