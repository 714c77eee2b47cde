"""EndLoop: ends the body of a loop."""

from __future__ import annotations

from toolcrib.graph.node_settings import NodeSettings, NoResult, fixed
from toolcrib.graph.node_type import NodeType
from toolcrib.schema.workflows import NodeId


class EndLoopSettings(NodeSettings):
    loop: NodeId = fixed(description="The id of the Loop whose body ends here.")


NODE = NodeType(
    name="EndLoop",
    title="End of loop",
    group="control",
    about="Ends the body of a Loop: the Loop then decides whether the body runs again. It has no outputs.",
    settings=EndLoopSettings,
    example={"loop": "again"},
    result=NoResult,
    outputs=lambda settings: (),
    flow="end",
    closes=lambda settings: settings.loop,
)
