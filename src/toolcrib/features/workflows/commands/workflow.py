"""`toolcrib workflow`: check, run, inspect and repeat workflows."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.group import command_of
from toolcrib.cli.output import note, say, show_table
from toolcrib.cli.surface import Surface
from toolcrib.features.workflows.commands import triggers as workflow_triggers
from toolcrib.features.workflows.commands.planning import from_chat, plan
from toolcrib.features.workflows.commands.source import (
    is_file,
    read_data,
    read_inputs,
    read_source,
    run_target,
    write_file,
)
from toolcrib.features.workflows.commands.view import (
    show_problems,
    show_result,
    show_review,
    show_run,
    show_runs,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from toolcrib.features.workflows.results.runs import RunAction, RunState
    from toolcrib.operations.client import Client

INVALID = 2
STATES = ("queued", "running", "paused", "waiting", "finished", "failed", "cancelled")
_workflow = click.argument("name", shell_complete=completion.workflows)
_input = click.option(
    "--input", "-i", "words", multiple=True, metavar="KEY=VALUE", help="An input; KEY:=JSON, KEY=@FILE."
)
_detach = click.option("--detach", is_flag=True, help="Return at once; the running host continues it.")


@declare()
async def list_(surface: Surface) -> None:
    """List the stored workflows."""
    async with surface.reach() as client:
        found = await client.workflow_list()
    if surface.answer(found):
        return
    if not found:
        note("There are no workflows yet. Add one with: toolcrib workflow import FILE")
        return
    rows = [
        [
            workflow["name"],
            str(workflow["nodes"]),
            _problem_count(workflow["problems"]),
            workflow["description"].partition("\n")[0],
        ]
        for workflow in found
    ]
    show_table(["NAME", "NODES", "STATE", "DESCRIPTION"], rows, right=(1,))


@declare()
@click.argument("source", metavar="FILE|NAME")
async def validate(surface: Surface, source: str) -> int:
    """Check a workflow; each problem names its node and the reason."""
    async with surface.reach() as client:
        text = read_source(source) if is_file(source) else await _stored(client, source)
        checked = await client.workflow_validate(text=text)
    if surface.answer(checked):
        return 0 if checked["ok"] else INVALID
    show_problems(checked["problems"])
    say(f"{source} is {'valid' if checked['ok'] else 'not valid'}.")
    return 0 if checked["ok"] else INVALID


@declare(asks=True)
@click.argument("source", metavar="FILE|NAME", shell_complete=completion.workflows)
@_input
@_detach
@click.option("--breakpoint", "breakpoints", multiple=True, metavar="NODE", help="Pause before this node.")
@click.option("--replay", metavar="RUN", help="Use the recorded decisions of this run instead of a model.")
async def run(
    surface: Surface,
    source: str,
    words: tuple[str, ...],
    detach: bool,
    breakpoints: tuple[str, ...],
    replay: str | None,
) -> int:
    """Run a workflow and wait for its end; its outputs are printed.

    The first run of an imported workflow shows what it does and asks. Ctrl-C cancels the run. A run that
    was interrupted otherwise continues with the next `toolcrib up`, or with `toolcrib workflow resume`.
    """
    from toolcrib.features.workflows.commands.run import follow

    given = {**run_target(source), **read_inputs(words)}
    async with surface.reach() as client:
        if "name" in given:
            await _confirm(surface, client, given["name"])
        request = partial(client.workflow_run, **given, breakpoints=list(breakpoints), replay=replay)
        if not detach:
            return await follow(surface, client, lambda show: request(on_event=show))
        result = await request(detach=True)
    if not surface.answer(result):
        show_result(result)
    return 0


@declare()
@click.argument("name", default="", shell_complete=completion.workflows)
@click.option("--state", type=click.Choice(STATES), help="Only runs in this state.")
@click.option("--limit", "-n", type=click.IntRange(1, 1000), default=20, help="How many to list.")
@click.option("--before", metavar="RUN", help="Only runs that were started before this one.")
async def runs(surface: Surface, name: str, state: RunState | None, limit: int, before: str | None) -> None:
    """List the runs, of NAME or of all workflows, the latest first."""
    async with surface.reach() as client:
        found = await client.workflow_runs(name=name or None, state=state, limit=limit, before=before)
    if found["more"]:
        note(f"There are more. The next ones: --before {found['runs'][-1]['run']}")
    if found["failed_starts"]:
        note(f"Not started by their triggers: {found['failed_starts']}. See: toolcrib workflow triggers")
    if surface.answer(found["runs"]):
        return
    if not found["runs"]:
        note("No runs.")
        return
    show_runs(found["runs"])


@declare()
@click.argument("run")
@click.option("--step", metavar="STEP", help="Everything that is recorded about this step, as JSON.")
async def show(surface: Surface, run: str, step: str | None) -> None:
    """Show the run RUN (its id, the beginning of it, or `last`) with its steps."""
    async with surface.reach() as client:
        if step is not None:
            from toolcrib.cli.output import print_json

            print_json(await client.workflow_step(run=run, step=step))
            return
        found = await client.workflow_show(run=run)
    if not surface.answer(found):
        show_run(found)


@declare()
@click.argument("run")
async def cancel(surface: Surface, run: str) -> None:
    """Cancel the run RUN; the step that is running is stopped."""
    await _act(surface, lambda client: client.workflow_cancel(run=run))


@declare()
@click.argument("run")
async def pause(surface: Surface, run: str) -> None:
    """Pause the run RUN before its next step."""
    await _act(surface, lambda client: client.workflow_pause(run=run))


@declare()
@click.argument("run")
@_detach
async def resume(surface: Surface, run: str, detach: bool) -> int:
    """Continue the run RUN, which is paused or was interrupted, and wait for its end."""
    from toolcrib.features.workflows.commands.run import follow

    async with surface.reach() as client:
        if not detach:
            return await follow(
                surface, client, lambda show: client.workflow_resume(run=run, wait=True, on_event=show)
            )
        result = await client.workflow_resume(run=run)
    if not surface.answer(result):
        show_result(result)
    return 0


@declare()
@click.argument("run")
@click.option("--from", "from_node", metavar="NODE", help="Keep the recorded steps before this node.")
@_input
@_detach
async def rerun(
    surface: Surface, run: str, from_node: str | None, words: tuple[str, ...], detach: bool
) -> int:
    """Run the workflow of the run RUN again, as a new run."""
    from toolcrib.features.workflows.commands.run import follow

    given: dict[str, Any] = read_inputs(words)
    async with surface.reach() as client:
        request = partial(client.workflow_rerun, run=run, from_node=from_node, **given)
        if not detach:
            return await follow(surface, client, lambda show: request(on_event=show))
        result = await request(detach=True)
    if not surface.answer(result):
        show_result(result)
    return 0


@declare()
@click.argument("run")
@click.argument("step")
@click.argument("choice")
@click.option("--value", "words", multiple=True, metavar="KEY=VALUE", help="A value that is asked for.")
@click.option("--comment", default="", metavar="TEXT", help="Your note for the run.")
async def answer(
    surface: Surface, run: str, step: str, choice: str, words: tuple[str, ...], comment: str
) -> None:
    """Answer the question of STEP in the run RUN with CHOICE."""
    given = read_inputs(words)
    values = {**{key: read_data(text) for key, text in given["texts"].items()}, **given["inputs"]}
    await _act(
        surface,
        lambda client: client.workflow_answer(
            run=run, step=step, choice=choice, values=values, comment=comment
        ),
    )


@declare()
@click.argument("run")
@click.argument("event")
@click.argument("data", required=False)
async def send(surface: Surface, run: str, event: str, data: str | None) -> None:
    """Send EVENT to the run RUN, with DATA (JSON or text), for a step that waits for it."""
    await _act(surface, lambda client: client.workflow_event(run=run, name=event, data=read_data(data)))


@declare()
@_workflow
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
async def export(surface: Surface, name: str, file: Path | None) -> None:
    """Print the workflow NAME as a file, or write it to FILE."""
    async with surface.reach() as client:
        exported = await client.workflow_export(name=name)
    if file is not None:
        write_file(file, exported["text"])
    if surface.answer(exported):
        return
    say(exported["text"].rstrip("\n") if file is None else f"{name} is written to {file}.")


@declare()
@click.argument("file", metavar="FILE")
@click.option("--name", metavar="NAME", help="Another name than in the file.")
@click.option("--replace", is_flag=True, help="Replace the workflow of this name.")
async def import_(surface: Surface, file: str, name: str | None, replace: bool) -> None:
    """Store the workflow of FILE."""
    async with surface.reach() as client:
        stored = await client.workflow_import(text=read_source(file), name=name, replace=replace)
    if surface.answer(stored):
        return
    show_problems(stored["problems"])
    show_review(stored)
    say(f"{stored['name']} is stored. Run it with: toolcrib workflow run {stored['name']}")


@declare(asks=True)
@_workflow
async def remove(surface: Surface, name: str) -> None:
    """Remove the workflow NAME; its runs and its last versions are kept."""
    async with surface.reach() as client:
        await client.workflow_export(name=name)  # An unknown name fails without asking.
        surface.ask(f"Remove the workflow {name}?", refused=f"{name} was not removed.")
        removed = await client.workflow_remove(name=name)
    if not surface.answer(removed):
        say(f"{name} is removed.")


async def _confirm(surface: Surface, client: Client, name: str) -> None:
    """Ask before the first run of an imported workflow."""
    review = await client.workflow_review(name=name)
    if review["confirmed"]:
        return
    show_review(review, note)
    surface.ask(f"{name} was imported. Run it?", refused=f"{name} was not run: nobody has confirmed it.")
    await client.workflow_confirm(name=name, version=review["version"])


async def _stored(client: Client, name: str) -> str:
    return (await client.workflow_export(name=name))["text"]


async def _act(surface: Surface, work: Any) -> None:
    async with surface.reach() as client:
        pending: Awaitable[RunAction] = work(client)
        found = await pending
    if not surface.answer(found):
        say(f"The run {found['run']} is {found['state']}.")


def _problem_count(problems: list[Any]) -> str:
    errors = sum(not problem["warning"] for problem in problems)
    return "ok" if not errors else f"{errors} problem{'s' if errors > 1 else ''}"


command = command_of(
    "workflow",
    "Tools",
    "Check, run, inspect and repeat workflows.",
    list_,
    plan,
    from_chat,
    validate,
    run,
    runs,
    show,
    cancel,
    pause,
    resume,
    rerun,
    answer,
    send,
    export,
    import_,
    remove,
    *workflow_triggers.COMMANDS,
)
