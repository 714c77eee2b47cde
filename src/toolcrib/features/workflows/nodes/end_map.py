"""EndMap: ends the body of a map and gives the result of an item."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from toolcrib.graph.node_settings import NodeSettings, NoResult, fixed
from toolcrib.graph.node_type import NodeType
from toolcrib.schema.workflows import NodeId


class EndMapSettings(NodeSettings):
    map: NodeId = fixed(title="For each item", description="The id of the step that ends here.")
    value: Any = Field(
        default=None, title="Result", description="What this item adds to the list of results."
    )


NODE = NodeType(
    name="EndMap",
    title="End of each item",
    group="control",
    about="The end of the steps for each item, with the result for the item. It has no outputs.",
    settings=EndMapSettings,
    example={"map": "each", "value": "{{read.text}}"},
    result=NoResult,
    outputs=lambda settings: (),
    flow="end",
    closes=lambda settings: settings.map,
)
