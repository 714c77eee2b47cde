"""`toolcrib database`: show where the data is, and move it to a database that several hosts share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.group import command_of
from toolcrib.cli.output import note, say, show_table
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.host.database_move import MovePlan, MoveResult


@declare()
async def show(surface: Surface) -> None:
    """Show where the data is, and how much there is."""
    async with surface.reach() as client:
        found = await client.database_show()
    if surface.answer(found):
        return
    show_table(["TABLE", "ROWS"], [[name, str(rows)] for name, rows in found["tables"].items()])
    note(f"In {found['database']}")
    note(found["local"])


@declare(asks=True)
@click.argument("target")
@click.option("--merge", is_flag=True, help="Add to a database that already holds the data of another crib.")
async def move(surface: Surface, target: str, merge: bool) -> None:
    """Move everything to TARGET: a postgresql:// URL, or sqlite for the file of this home.

    Stop the host first. The old database is left unchanged, and the setting `database` then names TARGET.
    A password in the URL is stored as a secret. An interrupted move changes nothing and can be repeated.
    """
    from toolcrib.host.database_move import open_move

    async with open_move(surface.paths, target) as moving:
        plan = moving.plan
        moving.check(merge=merge)
        if surface.json and not surface.yes:
            surface.answer(_as_json(plan, None))  # A program only looks, unless it says --yes.
            return
        if not surface.json:
            _show(plan)
        surface.ask(f"Move this to {plan.target}?", refused="Nothing was moved.")
        result = await moving.run(merge=merge)
    if surface.answer(_as_json(plan, result)):
        return
    added = sum(copied.added for copied in result.copied)
    say(f"{added} rows and {result.profiles} profiles or tokens are now in {plan.target}.")
    if result.backup is not None:
        note(f"The earlier file is now {result.backup}")
    note("Secrets, logs and installed servers stay on this machine.")


def _show(plan: MovePlan) -> None:
    rows = [[name, str(count), str(plan.present.get(name, 0))] for name, count in plan.rows.items()]
    show_table(["TABLE", "ROWS", "ALREADY THERE"], rows)
    note(f"From {plan.source}")
    if plan.repeated:
        note("It was moved there before: only what was added since then is moved.")


def _as_json(plan: MovePlan, result: MoveResult | None) -> dict[str, Any]:
    added = {copied.table: copied.added for copied in result.copied} if result else {}
    return {
        "from": plan.source,
        "to": plan.target,
        "moved": result is not None,
        "repeated": plan.repeated,
        "tables": [
            {"table": name, "rows": count, "present": plan.present.get(name, 0), "added": added.get(name, 0)}
            for name, count in plan.rows.items()
        ],
        "profiles": result.profiles if result else 0,
        "backup": str(result.backup) if result and result.backup else None,
    }


command = command_of(
    "database", "Housekeeping", "Show and move the database of chats, approvals and call records.", show, move
)
