"""Shows the trial of a server step by step, then what was remarked on its tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolcrib.cli.output import counted, label, mark, note, say, say_exactly
from toolcrib.cli.questions import can_ask, confirm
from toolcrib.cli.safe_text import one_line
from toolcrib.cli.surface import Surface
from toolcrib.cli.times import duration

if TYPE_CHECKING:
    from toolcrib.control.needs import Crib


async def try_server(surface: Surface, crib: Crib, name: str) -> dict[str, Any]:
    """Run the trial; unless JSON was asked for, each step is shown as it is done."""
    outcome: dict[str, Any] = await crib.run(
        "test", {"name": name}, on_event=None if surface.json else _show_step
    )
    if not surface.json:
        _show_rest(name, outcome)
    return outcome


async def try_and_repair(surface: Surface, crib: Crib, name: str) -> None:
    """Run the trial; where another installation would help, offer it, and try again after a yes."""
    outcome = await try_server(surface, crib, name)
    remedy = outcome.get("remedy")
    if remedy is None or surface.json or not can_ask():
        return
    if not confirm(f"Install {name} again with {', '.join(remedy['values'])}?", default=True):
        return
    from toolcrib.cli.install_view import end_line, progress_line

    await crib.run("install", {"name": name, remedy["option"]: remedy["values"]}, on_event=progress_line())
    end_line()
    await try_server(surface, crib, name)


def _show_step(step: dict[str, Any]) -> None:
    detail = one_line(step["detail"])
    say_exactly(f"{mark(step['ok'])} {step['name']:<9} {duration(step['ms']):>8}  {detail}".rstrip())


def _show_rest(name: str, outcome: dict[str, Any]) -> None:
    if "error" in outcome:
        remedy = outcome.get("remedy")
        hint = outcome["error"]["hint"]
        if remedy:
            hint = f"{remedy['reason']} Install it again with: {remedy['command']}"
        if hint:
            label("hint:", "cyan", hint)
        return
    for remark in outcome["review"]:
        say(f"  - {one_line(remark)}")
    remarks = len(outcome["review"])
    said = counted(remarks, "remark") if remarks else "nothing to remark"
    note(f"{name} works: {counted(outcome['tools'], 'tool')}, {said}.")
