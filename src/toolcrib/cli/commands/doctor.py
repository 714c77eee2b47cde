"""`toolcrib doctor`: looks at everything that servers depend on."""

from __future__ import annotations

from typing import Any

import click

from toolcrib.cli.declare import Seconds, declare
from toolcrib.cli.output import label, mark, say, say_exactly
from toolcrib.cli.safe_text import one_line
from toolcrib.cli.surface import Surface

WAIT = 20.0
"""Seconds for servers that must first be started."""
BRIEF = 2.0
_MARKS = {"ok": True, "warning": None, "broken": False}


@declare("Housekeeping")
@click.option("--wait", type=Seconds(0, 3600), help="Wait so many seconds for servers to start.")
async def command(surface: Surface, wait: float | None) -> int:
    """Look for trouble, and say what to do.

    Programs, keyring, permissions, database, config, network, leftovers, and each server.
    The exit code is 1 when something is broken; a warning does not count.
    """
    async with surface.reach() as crib:
        patience = wait if wait is not None else (BRIEF if crib.running else WAIT)
        report = await crib.run("doctor", {"wait": patience})
        if not surface.answer(report):
            _show(report)
    return 0 if report["ok"] else 1


def _show(report: dict[str, Any]) -> None:
    checks = report["checks"]
    longest = max(len(one_line(check["name"])) for check in checks)
    for check in checks:
        name = one_line(check["name"]).ljust(longest)
        say_exactly(f"{mark(_MARKS[check['verdict']])} {name}  {one_line(check['detail'])}")
        if check["hint"]:
            say(f"  {' ' * longest}  {one_line(check['hint'])}")
    trouble = [check for check in checks if check["verdict"] == "broken"]
    if trouble:
        label("error:", "red", f"{len(trouble)} of {len(checks)} things are broken.")
    else:
        say("Nothing is broken.")
