"""Map: runs its body for each item of a list: most items, how many at once, what a failed item does."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from toolcrib.graph.node_settings import NodeResult, NodeSettings
from toolcrib.graph.node_type import NodeType


class MapSettings(NodeSettings):
    items: list[Any] = Field(max_length=100_000, description="The list; the body sees `item` and `index`.")
    at_once: int = Field(default=1, ge=1, le=100, description="How many items may be worked on at once.")
    on_error: Literal["stop", "continue"] = Field(
        default="stop", description="Whether a failed item ends the map, or the others continue."
    )


class MapError(NodeResult):
    index: int = Field(description="The position of the item, from 0.")
    message: str = Field(description="Why it failed.")


class MapResult(NodeResult):
    results: list[Any] = Field(
        description="The value of the EndMap for each item, in their order; null for failed items."
    )
    count: int = Field(description="The number of items.")
    failed: int = Field(default=0, description="The number of failed items.")
    errors: list[MapError] = Field(default_factory=list, description="The failed items and their reasons.")


NODE = NodeType(
    name="Map",
    title="For each item",
    group="control",
    about="Runs its body, from the output `body` to its EndMap, for each item of a list; "
    "then continues at `done` with the list of their results.",
    settings=MapSettings,
    example={"items": "{{input.files}}", "at_once": 4, "on_error": "continue"},
    result=MapResult,
    outputs=lambda settings: ("body", "done"),
    passed=lambda settings: "done",
    flow="map",
)
