"""FindImage: looks for a picture on the screen: default similarity, number of matches."""

from __future__ import annotations

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
from toolcrib.graph.node_settings import rare
from toolcrib.graph.node_type import NodeContext, NodeType


class FindImageSettings(DesktopSettings):
    template_image: str = Field(
        min_length=1,
        max_length=4_000_000,
        title="Picture",
        description="What to look for on the screen, in base64.",
    )
    threshold: float = rare(
        default=0.88, ge=0.1, le=1, title="Similarity", description="From 0.1 to 1; 1 is the same picture."
    )
    max_results: int = rare(default=3, ge=1, le=100, title="At most", description="Matches.")
    scope: Scope = None
    required: Required = False


class FindImageResult(FoundOnScreen):
    confidence: float | None = Field(description="How similar the best match is, from 0 to 1.")


TOOL = DesktopTool(
    "find_image",
    FindImageSettings,
    {
        "template_image_base64": "template_image",
        "threshold": "threshold",
        "max_results": "max_results",
        "app_name": "scope",
    },
    frozenset({"threshold", "max_results"}),
)


async def run(settings: FindImageSettings, context: NodeContext) -> FindImageResult:
    matches = await find(context, TOOL.use(settings))
    best = chosen_match(matches, 0, settings.required, "The picture")
    return FindImageResult(**found(matches, best), confidence=best.confidence if best else None)


NODE = NodeType(
    name="FindImage",
    title="Find image",
    group="desktop",
    about="Looks for a picture on the screen and gives the place of each match.",
    settings=FindImageSettings,
    example={"template_image": "iVBORw0KGgo=", "threshold": 0.9},
    result=FindImageResult,
    run=run,
    use=TOOL.use,
    read=TOOL.read,
)
