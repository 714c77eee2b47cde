"""What FindText and FindImage have in common: where they look, and what they give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from toolcrib.features.workflows.desktop_results import NotOnScreen, ScreenMatch, read_matches
from toolcrib.features.workflows.tool_content import call_tool
from toolcrib.graph.node_settings import NodeResult
from toolcrib.graph.node_type import NodeContext, ToolUse

Scope = Annotated[str | None, Field(description="Look only in the windows of this program.")]
Required = Annotated[
    bool, Field(description="Fail if it is not found, so that retries and the error output apply.")
]


class FoundOnScreen(NodeResult):
    found: bool = Field(description="Whether there is a match.")
    count: int = Field(description="The number of matches.")
    x: float | None = Field(description="The middle of the selected match, in screen pixels.")
    y: float | None = Field(description="The same, from the top.")
    matches: list[ScreenMatch] = Field(description="All matches, the best first.")


async def find(context: NodeContext, use: ToolUse) -> list[ScreenMatch]:
    return read_matches(await call_tool(context, use))


def chosen_match(matches: Sequence[ScreenMatch], index: int, required: bool, what: str) -> ScreenMatch | None:
    """The match of this number, if there is one; raises `NotOnScreen` without any, if one is required."""
    if not matches and required:
        raise NotOnScreen(f"{what} is not on the screen.", hint="Take a screenshot to see why.")
    return matches[index] if index < len(matches) else None


def found(matches: Sequence[ScreenMatch], chosen: ScreenMatch | None) -> dict[str, Any]:
    """The fields of `FoundOnScreen`."""
    place = {"x": chosen.x if chosen else None, "y": chosen.y if chosen else None}
    return {"found": bool(matches), "count": len(matches), "matches": list(matches), **place}
