"""`toolcrib doctor`: print the results of all checks with hints, and how many failed. The checks are in
`operations/checks`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.cli.declare import declare, wait_option
from toolcrib.cli.output import label, mark, say, say_exactly
from toolcrib.cli.safe_text import one_line
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.operations.client import Diagnosis

_MARKS = {"ok": True, "warning": None, "broken": False}


@declare("Housekeeping")
@wait_option
async def command(surface: Surface, wait: float | None) -> int:
    """Check for problems, and suggest fixes.

    Checks programs, keyring, permissions, database, config, network, leftover processes, and each server.
    The exit code is 1 if something is broken; warnings do not count.
    """
    async with surface.reach() as client:
        report = await client.doctor(wait=surface.start_wait(wait, client))
        if not surface.answer(report):
            _show(report)
    return 0 if report["ok"] else 1


def _show(report: Diagnosis) -> None:
    checks = report["checks"]
    longest = max(len(one_line(check["name"])) for check in checks)
    for check in checks:
        name = one_line(check["name"]).ljust(longest)
        say_exactly(f"{mark(_MARKS[check['verdict']])} {name}  {one_line(check['detail'])}")
        if check["hint"]:
            say(f"  {' ' * longest}  {one_line(check['hint'])}")
    broken = [check for check in checks if check["verdict"] == "broken"]
    if broken:
        label("error:", "red", f"{len(broken)} of {len(checks)} checks failed.")
    else:
        say("No problems found.")
