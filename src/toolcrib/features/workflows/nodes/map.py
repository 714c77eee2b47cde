"""Map: runs its body for each item of a list: most items, how many at once, what a failed item does."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from toolcrib.graph.node_settings import NodeResult, NodeSettings, named
from toolcrib.graph.node_type import NodeType


class MapSettings(NodeSettings):
    items: list[Any] = Field(
        max_length=100_000, title="List", description="The steps inside can use `item` and `index`."
    )
    at_once: int = Field(default=1, ge=1, le=100, title="At the same time", description="Items.")
    on_error: Literal["stop", "continue"] = named(
        {"stop": "Stop", "continue": "Continue with the others"},
        default="stop",
        title="If an item fails",
        description="The result of a failed item is null.",
    )


class MapError(NodeResult):
    index: int = Field(description="The position of the item, from 0.")
    message: str = Field(description="Why it failed.")


class MapResult(NodeResult):
    results: list[Any] = Field(description="The result of each item, in their order; null for failed items.")
    count: int = Field(description="The number of items.")
    failed: int = Field(default=0, description="The number of failed items.")
    errors: list[MapError] = Field(default_factory=list, description="The failed items and their reasons.")


NODE = NodeType(
    name="Map",
    title="For each item",
    group="control",
    about="Repeats the steps inside it for each item of a list, and collects their results.",
    settings=MapSettings,
    example={"items": "{{input.files}}", "at_once": 4, "on_error": "continue"},
    result=MapResult,
    outputs=lambda settings: ("body", "done"),
    passed=lambda settings: "done",
    flow="map",
)
