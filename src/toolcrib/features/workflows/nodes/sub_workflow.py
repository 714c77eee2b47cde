"""SubWorkflow: runs another workflow as one step."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from toolcrib.features.workflows.graph.reference_types import inputs_schema
from toolcrib.graph.node_settings import NodeResult, NodeSettings
from toolcrib.graph.node_type import NodeContext, NodeType, Refinement, Surroundings
from toolcrib.schema.workflows import WorkflowName


class SubWorkflowSettings(NodeSettings):
    workflow: WorkflowName = Field(title="Workflow", description="Its name.")
    inputs: dict[str, Any] = Field(
        default_factory=dict, title="Inputs", description="The values that it is given."
    )


class SubWorkflowResult(NodeResult):
    outputs: dict[str, Any] = Field(description="The outputs of the workflow.")


async def run(settings: SubWorkflowSettings, context: NodeContext) -> SubWorkflowResult:
    outputs = await context.run_workflow(settings.workflow, settings.inputs)
    return SubWorkflowResult(outputs=dict(outputs))


def refine(settings: SubWorkflowSettings, surroundings: Surroundings) -> Refinement:
    found = surroundings.workflow(settings.workflow)
    if found is None:
        return Refinement()
    names: dict[str, Any] = {name: {} for name in found.outputs}
    outputs = {"type": "object", "properties": names, "additionalProperties": False}
    result = {"type": "object", "properties": {"outputs": outputs}, "additionalProperties": False}
    return Refinement(result=result, settings={"inputs": inputs_schema(found.inputs)})


NODE = NodeType(
    name="SubWorkflow",
    title="Run a workflow",
    group="control",
    about="Runs another workflow as one step, and waits for its results.",
    settings=SubWorkflowSettings,
    example={"workflow": "send-report", "inputs": {"to": "{{input.mail}}"}},
    result=SubWorkflowResult,
    run=run,
    refine=refine,
    timeout=None,
)
