"""`toolcrib workflow`: check, run, inspect and repeat workflows, and what starts them by itself; options,
inputs as `KEY=VALUE`, and texts of its subcommands.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli import completion
from toolcrib.cli.call_arguments import read_words
from toolcrib.cli.declare import declare
from toolcrib.cli.group import command_of
from toolcrib.cli.output import note, say, show_table
from toolcrib.cli.safe_text import revealed
from toolcrib.cli.surface import Surface
from toolcrib.errors import UsageError
from toolcrib.features.workflows.commands.view import (
    follow,
    show_problems,
    show_result,
    show_review,
    show_run,
    show_runs,
)
from toolcrib.serverkit.bounded_read import read_bounded_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolcrib.features.workflows.results.runs import RunAction, RunState
    from toolcrib.features.workflows.results.triggers import TriggerShown, TriggerSwitched
    from toolcrib.operations.client import Client, WorkflowDrafted

LARGEST = 16_000_000
workflow_argument = click.argument("name", shell_complete=completion.workflows)
input_option = click.option(
    "--input", "-i", "words", multiple=True, metavar="KEY=VALUE", help="An input; KEY:=JSON, KEY=@FILE."
)

_save = click.option("--save", is_flag=True, help="Save it; a workflow of this name is not overwritten.")
_name = click.option("--name", metavar="NAME", help="The name of the workflow.")

_NO_HOST = "No host is running: start one with `toolcrib up`, or nothing will be started."
_NEW_ADDRESS = "Keep the address secret: it starts runs, and it is shown only once."
INVALID = 2
STATES = ("queued", "running", "paused", "waiting", "finished", "failed", "cancelled")
_detach = click.option("--detach", is_flag=True, help="Return at once; the running host continues it.")


def is_file(source: str) -> bool:
    """Whether it is a path: it ends in `.json`, has a separator, or is there."""
    return source.endswith(".json") or "/" in source or Path(source).is_file()


def read_source(source: str) -> str:
    """The text of a file; raises `UsageError`."""
    try:
        return read_bounded_text(Path(source).expanduser(), LARGEST, pipes=True)
    except OSError as error:
        hint = "Give the path of a workflow file, or the name of a stored workflow."
        raise UsageError(f"{source} cannot be read: {error.strerror}.", hint=hint) from None
    except UnicodeDecodeError:
        raise UsageError(f"{source} is not UTF-8 text.") from None


def run_target(source: str) -> dict[str, Any]:
    """The parameters of an operation for this file or name."""
    return {"text": read_source(source)} if is_file(source) else {"name": source}


def read_inputs(words: Sequence[str]) -> dict[str, Any]:
    """The parameters `inputs` (JSON values) and `texts` (which get their types later)."""
    inputs: dict[str, Any] = {}
    texts: dict[str, str] = {}
    for word in read_words(words):
        if "text" in word:
            texts[word["key"]] = word["text"]
        else:
            inputs[word["key"]] = word["value"]
    return {"inputs": inputs, "texts": texts}


def read_data(text: str | None) -> Any:
    """JSON, or plain text as it is."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text


def write_file(file: Path, text: str) -> None:
    """Raises `UsageError`."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.") from None


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
@input_option
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

    given = {**run_target(source), **read_inputs(words)}
    async with surface.reach() as client:
        if "name" in given:
            await _confirm(surface, client, given["name"])
        request = partial(client.workflow_run, **given, breakpoints=list(breakpoints), replay=replay)
        return await _follow_unless(detach, surface, client, request)


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
@input_option
@_detach
async def rerun(
    surface: Surface, run: str, from_node: str | None, words: tuple[str, ...], detach: bool
) -> int:
    """Run the workflow of the run RUN again, as a new run."""

    given: dict[str, Any] = read_inputs(words)
    async with surface.reach() as client:
        request = partial(client.workflow_rerun, run=run, from_node=from_node, **given)
        return await _follow_unless(detach, surface, client, request)


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
@workflow_argument
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
@workflow_argument
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


async def _follow_unless(detach: bool, surface: Surface, client: Client, request: Any) -> int:
    if not detach:
        return await follow(surface, client, lambda show: request(on_event=show))
    result = await request(detach=True)
    if not surface.answer(result):
        show_result(result)
    return 0


@declare()
@workflow_argument
@click.argument("cron", required=False)
@click.option("--timezone", metavar="ZONE", help="Such as Europe/Berlin; default: that of this machine.")
@input_option
@click.option(
    "--missed",
    type=click.Choice(("skip", "once", "all")),
    default="skip",
    help="What to do about times at which no host was running.",
)
@click.option(
    "--overlap",
    type=click.Choice(("skip", "queue", "allow")),
    default="skip",
    help="What to do if the run before is still active.",
)
@click.option("--off", is_flag=True, help="Turn the schedule off.")
async def schedule(
    surface: Surface, name: str, cron: str | None, words: tuple[str, ...], off: bool, **given: Any
) -> None:
    """Run the workflow NAME by a schedule: CRON is a cron expression or a phrase.

    Phrases: every 15 minutes, hourly, daily at 07:30, weekdays at 07:30, every monday at 9:00,
    monthly on day 1 at 06:00. Without CRON, the schedule of the workflow is turned on.
    """
    async with surface.reach() as client:
        found = await client.workflow_schedule(
            name=name, cron=cron, on=not off, **read_inputs(words), **given
        )
        running = client.running
    if surface.answer(found):
        return
    say(f"{name}: {_trigger_state(found)}")
    if found["state"] == "on" and not running:
        note(_NO_HOST)


@declare()
@click.argument("name", default="", shell_complete=completion.workflows)
async def triggers(surface: Surface, name: str) -> None:
    """List what starts workflows by itself, of NAME or of all workflows."""
    async with surface.reach() as client:
        found = await client.workflow_triggers(name=name or None)
    if surface.answer(found):
        return
    if not found:
        note("No workflow has a trigger. Add one with: toolcrib workflow schedule NAME CRON")
        return
    rows = [
        [
            trigger["workflow"],
            str(trigger["index"]),
            trigger["state"],
            revealed(_sentence(trigger)),
            trigger["next"] or "",
            _last(trigger),
        ]
        for trigger in found
    ]
    show_table(["WORKFLOW", "INDEX", "STATE", "STARTS", "NEXT", "LAST"], rows, right=(1,))
    _show_failed(found)


@declare()
@workflow_argument
@click.argument("index", type=click.IntRange(0, 1000))
@click.argument("state", type=click.Choice(("on", "off")))
async def trigger(surface: Surface, name: str, index: int, state: str) -> None:
    """Turn the trigger INDEX of the workflow NAME on or off."""
    await _switch(
        surface, lambda client: client.workflow_trigger_set(name=name, index=index, on=state == "on")
    )


@declare()
@workflow_argument
@input_option
async def webhook(surface: Surface, name: str, words: tuple[str, ...]) -> None:
    """Turn on a webhook of the workflow NAME with a new address; an earlier one is no longer valid.

    Inputs may refer to the request: --input order={{event.body.order}}
    """
    given = read_inputs(words)
    inputs = {**given["inputs"], **given["texts"]}
    await _switch(surface, lambda client: client.workflow_webhook(name=name, inputs=inputs, settings={}))


async def _switch(surface: Surface, work: Any) -> None:
    async with surface.reach() as client:
        found: TriggerSwitched = await work(client)
        running = client.running
    if surface.answer(found):
        return
    say(f"{found['trigger']['workflow']}: {_trigger_state(found['trigger'])}")
    if found["url"]:
        say(found["url"])
        note(_NEW_ADDRESS)
    if found["trigger"]["state"] == "on" and not running:
        note(_NO_HOST)


def _trigger_state(found: TriggerShown) -> str:
    upcoming = f"; next: {found['next']}" if found["next"] else ""
    return f"{revealed(_sentence(found))} ({found['state']}{upcoming})"


def _sentence(found: TriggerShown) -> str:
    reason = found["reason"] or next(iter(found["problems"]), "")
    return f"{found['sentence']}: {reason}" if reason else found["sentence"]


def _show_failed(found: list[TriggerShown]) -> None:
    rows = [
        [start["run"], start["due"], revealed(start["note"]), "yes" if start["startable"] else "no"]
        for trigger in found
        for start in trigger["failed"]
    ]
    if not rows:
        return
    say("")
    show_table(["FAILED START", "DUE", "REASON", "STORED"], rows)
    more = " There are more." if any(trigger["more_failed"] for trigger in found) else ""
    note(f"Start one again with: toolcrib workflow rerun RUN.{more}")


def _last(found: TriggerShown) -> str:
    last = found["last"]
    if last is None:
        return "never"
    reason = f": {revealed(last['note'])}" if last["note"] else ""
    return f"{last['due']} {last['state']}{reason}"


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
    schedule,
    triggers,
    trigger,
    webhook,
)
