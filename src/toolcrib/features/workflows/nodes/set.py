"""Set: gives names to values, for later nodes."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from toolcrib.graph.node_settings import AnyResult, NodeSettings
from toolcrib.graph.node_type import NodeContext, NodeType, Refinement, Surroundings


class SetSettings(NodeSettings):
    values: dict[str, Any] = Field(
        default_factory=dict, title="Values", description="Later steps refer to them by name."
    )


async def run(settings: SetSettings, context: NodeContext) -> AnyResult:
    return AnyResult(**settings.values)


def refine(settings: SetSettings, surroundings: Surroundings) -> Refinement:
    return Refinement(result=surroundings.schema_of(settings.values))


NODE = NodeType(
    name="Set",
    title="Set values",
    group="data",
    about="Stores values under names for later steps.",
    settings=SetSettings,
    example={"values": {"greeting": "Hello {{input.name}}"}},
    result=AnyResult,
    run=run,
    refine=refine,
    timeout=10.0,
)
