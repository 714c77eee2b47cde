"""`toolcrib test`: start a second instance of a server step by step, and review its tools. Offers a reinstall
with other options if that would help."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import counted, label, mark, note, say, say_exactly
from toolcrib.cli.questions import can_ask, confirm
from toolcrib.cli.safe_text import one_line
from toolcrib.cli.surface import Surface
from toolcrib.cli.times import duration

if TYPE_CHECKING:
    from toolcrib.operations.client import Client, StepResult, Trial

UNAVAILABLE = 5
"""The exit code if the server does not work."""


@declare("Servers")
@click.argument("name", shell_complete=completion.servers)
async def command(surface: Surface, name: str) -> int:
    """Test NAME step by step, and review its tools.

    Starts a second instance of it: resolve, spawn, handshake, list, each with its duration.
    """
    async with surface.reach() as client:
        outcome = await run_trial(surface, client, name)
        surface.answer(outcome)
    return 0 if outcome["ok"] else UNAVAILABLE


async def run_trial(surface: Surface, client: Client, name: str) -> Trial:
    """Test a server; without `--json`, each step is printed when it is done."""
    outcome = await client.test(name=name, on_event=None if surface.json else _show_step)
    if not surface.json:
        _show_outcome(name, outcome)
    return outcome


async def try_and_repair(surface: Surface, client: Client, name: str) -> None:
    """Test a server; if installing it with other options would help, offer that and test again."""
    outcome = await run_trial(surface, client, name)
    remedy = outcome.get("remedy")
    if remedy is None or surface.json or not can_ask():
        return
    if not confirm(f"Reinstall {name} with {', '.join(remedy['values'])}?", default=True):
        return
    from toolcrib.cli.install_view import end_line, progress_line

    if remedy["option"] == "also":
        await client.install(name=name, also=remedy["values"], on_event=progress_line())
    else:
        await client.install(name=name, allow_scripts=remedy["values"], on_event=progress_line())
    end_line()
    await run_trial(surface, client, name)


def _show_step(step: StepResult) -> None:
    detail = one_line(step["detail"])
    say_exactly(f"{mark(step['ok'])} {step['name']:<9} {duration(step['ms']):>8}  {detail}".rstrip())


def _show_outcome(name: str, outcome: Trial) -> None:
    if "error" in outcome:
        remedy = outcome.get("remedy")
        hint = outcome["error"]["hint"]
        if remedy:
            hint = f"{remedy['reason']} Reinstall it with: {remedy['command']}"
        if hint:
            label("hint:", "cyan", hint)
        return
    for remark in outcome["review"]:
        say(f"  - {one_line(remark)}")
    remarks = len(outcome["review"])
    review = counted(remarks, "remark") if remarks else "no remarks"
    note(f"{name} works: {counted(outcome['tools'], 'tool')}, {review}.")
    if outcome["held"]:
        note(
            f"Held for review: {', '.join(map(one_line, outcome['held']))}."
            f" Show and release with: toolcrib trust {name}"
        )
