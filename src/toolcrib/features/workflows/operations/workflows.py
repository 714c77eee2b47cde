"""Workflows as files: list, read, save, validate, import and export them, with templates and kinds of nodes;
how long validation waits for servers that start.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Annotated, Any, cast

from pydantic import Field

from toolcrib.errors import Conflict
from toolcrib.features.workflows.files import StoredWorkflow
from toolcrib.features.workflows.graph.node_types import node_types
from toolcrib.features.workflows.results.workflows import (
    NodeTypeShown,
    WorkflowChecked,
    WorkflowEdgeChecked,
    WorkflowExported,
    WorkflowImported,
    WorkflowRemoved,
    WorkflowReview,
    WorkflowShown,
    WorkflowSummary,
    WorkflowTemplate,
    WorkflowVersion,
)
from toolcrib.features.workflows.service import parse
from toolcrib.graph.files import read_workflow, write_workflow
from toolcrib.graph.node_type import AnyNodeType
from toolcrib.host import Host
from toolcrib.operations.lookup import settled
from toolcrib.operations.operation import LAZY, operation
from toolcrib.schema.json_values import moment
from toolcrib.schema.workflows import Edge, Workflow

SETTLE = 10.0
"""Seconds to wait for servers that are starting; the tools of slower ones are not checked."""
WorkflowJson = Annotated[dict[str, Any], Field(description="A workflow, as in its file.")]


@cache
def templates() -> list[Workflow]:
    """All templates, by name."""
    folder = files("toolcrib.features.workflows") / "templates"
    texts = [file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".json")]
    return sorted((Workflow.model_validate_json(text) for text in texts), key=lambda template: template.name)


@cache
def described_types() -> list[dict[str, Any]]:
    """Every kind of node, by group and name."""
    found = sorted(node_types().values(), key=lambda node: (node.group, node.name))
    return [_described(node) for node in found]


def _described(node: AnyNodeType) -> dict[str, Any]:
    return {
        "name": node.name,
        "title": node.title,
        "group": node.group,
        "about": node.about,
        "settings": node.settings.model_json_schema(),
        "result": node.result.model_json_schema(mode="serialization"),
        "flow": node.flow,
        "outputs": list(node.outputs(_default(node))),
        "timeout": node.timeout,
    }


def _default(node: AnyNodeType) -> Any:
    """Settings as they are before the user has filled in anything."""
    fields = node.settings.model_fields.items()
    return node.settings.model_construct(**{name: () for name, field in fields if field.is_required()})


@operation(page=True)
async def workflow_list(host: Host) -> list[WorkflowSummary]:
    """List all workflows by name; a file that cannot be read is listed with its problems."""
    return [_summary(host, stored) for stored in await host.workflows.list()]


@operation(page=True)
async def workflow_get(host: Host, name: str, *, version: str | None = None) -> WorkflowShown:
    """Show a workflow, or a kept version of it.

    Raises `NotFound`, or `InvalidWorkflow` if its file cannot be read.
    """
    return _shown(await host.workflows.get(name, version))


@operation(page=True)
async def workflow_save(
    host: Host, workflow: WorkflowJson, *, expected_version: str | None = None
) -> WorkflowShown:
    """Save a workflow; one with problems is saved too, but cannot run.

    Raises `Conflict` if the stored version is another one.
    `expected_version`: the version it was made from, empty for a new workflow; null to overwrite any.
    """
    return _shown(await host.workflows.save(workflow, expected_version=expected_version))


@operation(page=True)
async def workflow_remove(host: Host, name: str) -> WorkflowRemoved:
    """Remove a workflow; its versions and its runs are kept.

    Raises `NotFound`.
    """
    return {"name": name, "version": await host.workflows.remove(name)}


@operation(page=True)
async def workflow_versions(host: Host, name: str) -> list[WorkflowVersion]:
    """List the kept versions of a workflow, the latest first.

    Raises `NotFound`.
    """
    kept = await host.workflows.versions(name)
    current = next((stored.version for stored in await host.workflows.list() if stored.name == name), None)
    return [
        {"version": version.version, "saved": moment(version.saved), "current": version.version == current}
        for version in kept
    ]


@operation(page=True, needs=LAZY)
async def workflow_validate(
    host: Host, *, workflow: WorkflowJson | None = None, text: str | None = None
) -> WorkflowChecked:
    """Check a workflow, or the text of its file, without saving it.

    Each problem names its node and the reason.
    """
    await settled(host, SETTLE)
    problems = list(host.workflows.validate(text if text is not None else workflow or {}))
    return {"ok": all(problem.warning for problem in problems), "problems": problems}


@operation(page=True)
async def workflow_check_edge(
    host: Host, workflow: WorkflowJson, source: str, output: str, target: str
) -> WorkflowEdgeChecked:
    """Check whether an edge would bring a value of the wrong type to a step, before it is drawn.

    `source`: the node that the edge leaves, by its `output`; an edge that the output has is replaced.
    """
    edge = Edge.model_validate({"from": source, "to": target, "output": output})
    problem = host.workflows.check_edge(parse(workflow), edge)
    return {"problem": problem}


@operation(page=True)
async def workflow_node_types(host: Host) -> list[NodeTypeShown]:
    """List the kinds of nodes with the schemas of their settings and results."""

    return cast("list[NodeTypeShown]", described_types())


@operation(page=True)
async def workflow_templates(host: Host) -> list[WorkflowTemplate]:
    """List ready-made workflows to begin with."""

    return [
        {
            "name": found.name,
            "title": found.name.replace("-", " ").capitalize(),
            "description": found.description,
            "workflow": as_dict(found),
        }
        for found in templates()
    ]


@operation(page=True)
async def workflow_export(host: Host, name: str, *, version: str | None = None) -> WorkflowExported:
    """Return the file of a workflow.

    Raises `NotFound`.
    """
    stored = await host.workflows.get(name, version)
    return {"name": name, "file": f"{name}.json", "text": write_workflow(stored.readable)}


@operation(page=True)
async def workflow_import(
    host: Host, text: str, *, name: str | None = None, replace: bool = False
) -> WorkflowImported:
    """Save the workflow of an exported file, and list what it does; its first run needs a confirmation.

    Raises `Conflict` if the name is taken, unless `replace`.
    `name`: another name than in the file.
    """
    workflow = read_workflow(text)
    if name:
        workflow = parse({**as_json(workflow), "name": name})
    stored = await host.workflows.save(workflow, expected_version=None if replace else "", imported=True)
    await host.workflows.triggers.forget(stored.name)  # an imported workflow starts nothing by itself
    return {**_shown(stored), **await _review(host, stored)}


@operation(page=True, needs=LAZY)
async def workflow_review(host: Host, name: str) -> WorkflowReview:
    """List what a workflow reads, runs and sends, and whether it was imported and is confirmed.

    Raises `NotFound`.
    """
    await settled(host, SETTLE)
    return await _review(host, await host.workflows.get(name))


@operation(page=True)
async def workflow_confirm(host: Host, name: str, version: str) -> WorkflowReview:
    """Confirm that an imported workflow may run.

    Raises `NotFound`, or `Conflict` if it was changed since its review.
    `version`: the version that was reviewed.
    """
    stored = await host.workflows.get(name)
    if stored.version != version:
        raise Conflict(f"The workflow {name} was changed in the meantime.", hint="Review it again.")
    await host.workflows.confirm(stored.readable)
    return await _review(host, stored)


async def _review(host: Host, stored: StoredWorkflow) -> WorkflowReview:
    workflow = stored.readable
    confirmed = await host.workflows.is_confirmed(workflow)
    return {
        "name": stored.name,
        "version": stored.version,
        "imported": confirmed is not None,
        "confirmed": confirmed is not False,
        "does": list(host.workflows.what_it_does(workflow)),
    }


def as_json(workflow: Workflow) -> dict[str, Any]:
    """The workflow with all default values."""
    return workflow.model_dump(mode="json", by_alias=True)


def as_dict(workflow: Workflow) -> Workflow:
    """The same, typed as the result of an operation."""
    return cast("Workflow", as_json(workflow))


def _shown(stored: StoredWorkflow) -> WorkflowShown:
    return {
        "name": stored.name,
        "version": stored.version,
        "changed": moment(stored.changed),
        "workflow": as_dict(stored.readable),
        "problems": list(stored.problems),
    }


def _summary(host: Host, stored: StoredWorkflow) -> WorkflowSummary:
    workflow = stored.workflow
    return {
        "name": stored.name,
        "description": "" if workflow is None else workflow.description,
        "version": stored.version,
        "changed": moment(stored.changed),
        "nodes": 0 if workflow is None else len(workflow.nodes),
        "triggers": 0 if workflow is None else len(workflow.triggers),
        "tool": workflow is not None and workflow.options.tool,
        "problems": list(stored.problems),
    }
