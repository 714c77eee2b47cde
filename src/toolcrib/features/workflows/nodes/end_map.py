"""EndMap: ends the body of a map and gives the result of an item."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from toolcrib.graph.node_settings import NodeSettings, NoResult, fixed
from toolcrib.graph.node_type import NodeType
from toolcrib.schema.workflows import NodeId


class EndMapSettings(NodeSettings):
    map: NodeId = fixed(description="The id of the Map whose body ends here.")
    value: Any = Field(default=None, description="The result for this item; may be a reference.")


NODE = NodeType(
    name="EndMap",
    title="End of each item",
    group="control",
    about="Ends the body of a Map and gives the result for the item. It has no outputs.",
    settings=EndMapSettings,
    example={"map": "each", "value": "{{read.text}}"},
    result=NoResult,
    outputs=lambda settings: (),
    flow="end",
    closes=lambda settings: settings.map,
)
