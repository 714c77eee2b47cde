"""`toolcrib workflow schedule`, `triggers`, `trigger` and `webhook`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, say, show_table
from toolcrib.cli.safe_text import revealed
from toolcrib.cli.surface import Surface
from toolcrib.features.workflows.commands.source import input_option, read_inputs, workflow_argument

if TYPE_CHECKING:
    from toolcrib.features.workflows.results.triggers import TriggerShown, TriggerSwitched

_NO_HOST = "No host is running: start one with `toolcrib up`, or nothing will be started."
_NEW_ADDRESS = "Keep the address secret: it starts runs, and it is shown only once."


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
    say(f"{name}: {_state(found)}")
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
    say(f"{found['trigger']['workflow']}: {_state(found['trigger'])}")
    if found["url"]:
        say(found["url"])
        note(_NEW_ADDRESS)
    if found["trigger"]["state"] == "on" and not running:
        note(_NO_HOST)


def _state(found: TriggerShown) -> str:
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


COMMANDS = (schedule, triggers, trigger, webhook)
