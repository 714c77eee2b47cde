"""`toolcrib workflow plan` and `from-chat`: make workflows, show them, and save them if asked to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, say
from toolcrib.cli.surface import Surface
from toolcrib.features.workflows.commands.source import is_file, read_source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolcrib.operations.client import Client, WorkflowDrafted

_save = click.option("--save", is_flag=True, help="Save it; a workflow of this name is not overwritten.")
_name = click.option("--name", metavar="NAME", help="The name of the workflow.")


@declare()
@click.argument("request", nargs=-1, required=True)
@click.option(
    "--model", "-m", metavar="VENDOR:MODEL", shell_complete=completion.models, help="The model that plans."
)
@click.option(
    "--change", "source", metavar="FILE|NAME", help="Change this workflow instead of making a new one."
)
@_save
async def plan(
    surface: Surface, request: tuple[str, ...], model: str | None, source: str | None, save: bool
) -> None:
    """Plan a workflow for REQUEST with a model; no tool is called.

    Prints the workflow; what was corrected or assumed goes to stderr.
    """
    async with surface.reach() as client:
        current, version = await _current(client, source)
        found = await client.workflow_plan(request=" ".join(request), model=model, current=current)
        await _finish(surface, client, found, save=save, version=version)


@declare()
@click.argument("chats", nargs=-1, required=True, metavar="CHAT...")
@_name
@_save
async def from_chat(surface: Surface, chats: tuple[str, ...], name: str | None, save: bool) -> None:
    """Make a workflow from the tool calls of CHAT (an id, its beginning, or `last`).

    With several chats that did the same, the values that differ become inputs.
    """
    *others, last = chats
    async with surface.reach() as client:
        found = await client.workflow_from_chat(chat=last, others=others, name=name)
        await _finish(surface, client, found, save=save, version="")


async def _current(client: Client, source: str | None) -> tuple[dict[str, Any] | None, str]:
    """The workflow to change, and its version; a file has none."""
    if source is None:
        return None, ""
    if is_file(source):
        from toolcrib.graph.files import read_workflow

        return read_workflow(read_source(source)).model_dump(mode="json", by_alias=True), ""
    stored: Mapping[str, Any] = await client.workflow_get(name=source)
    return dict(stored["workflow"]), stored["version"]


async def _finish(
    surface: Surface, client: Client, found: WorkflowDrafted, *, save: bool, version: str
) -> None:
    workflow: dict[str, Any] = dict(found["workflow"])
    if save:
        await client.workflow_save(workflow=workflow, expected_version=version)
    if surface.answer(found):
        return
    _show(found)
    if save:
        name = workflow["name"]
        note(f"{name} is saved. Run it with: toolcrib workflow run {name}")


def _show(found: WorkflowDrafted) -> None:
    from toolcrib.graph.files import write_workflow
    from toolcrib.schema.workflows import Workflow

    say(write_workflow(Workflow.model_validate(found["workflow"])).rstrip("\n"))
    changes = found["changes"]
    for word, names in (("Added", changes["added"]), ("Removed", changes["removed"])):
        if names:
            note(f"{word}: {', '.join(names)}")
    for changed in changes["changed"]:
        note(f"Changed: {changed['node']} ({', '.join(changed['fields'])})")
    for doubt in found["doubts"]:
        where = f"{doubt['node']}: " if doubt["node"] else ""
        note(f"Check: {where}{doubt['message']}")
