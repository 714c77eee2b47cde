"""FindText: looks for text on the screen: whole or part of a text, which match it takes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from toolcrib.features.workflows.desktop_tools import (
    DesktopSettings,
    DesktopTool,
    FoundOnScreen,
    Required,
    Scope,
    chosen_match,
    find,
    found,
)
from toolcrib.graph.node_settings import named, rare
from toolcrib.graph.node_type import NodeContext, NodeType


class FindTextSettings(DesktopSettings):
    search_text: str = Field(min_length=1, max_length=1000, title="Text", description="What to look for.")
    match_mode: Literal["contains", "exact"] = named(
        {"contains": "Also inside a longer text", "exact": "Only the whole text"},
        default="contains",
        title="Where it may be",
        description="A part of a longer text counts, or not.",
    )
    scope: Scope = None
    select_result: int = rare(
        default=0, ge=0, title="Which match", description="It gives text, x and y; 0 is the best one."
    )
    required: Required = False


class FindTextResult(FoundOnScreen):
    text: str | None = Field(description="The text of the selected match.")


TOOL = DesktopTool(
    "find_text", FindTextSettings, {"text": "search_text", "app_name": "scope", "match_mode": "match_mode"}
)


async def run(settings: FindTextSettings, context: NodeContext) -> FindTextResult:
    matches = await find(context, TOOL.use(settings))
    if settings.match_mode == "exact":  # not every server knows this mode
        matches = [match for match in matches if _plain(match.text) == _plain(settings.search_text)]
    chosen = chosen_match(matches, settings.select_result, settings.required, repr(settings.search_text))
    return FindTextResult(**found(matches, chosen), text=chosen.text if chosen else None)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


NODE = NodeType(
    name="FindText",
    title="Find text",
    group="desktop",
    about="Looks for text on the screen and gives the place of each match.",
    settings=FindTextSettings,
    example={"search_text": "Save", "scope": "gedit"},
    result=FindTextResult,
    run=run,
    use=TOOL.use,
    read=TOOL.read,
)
