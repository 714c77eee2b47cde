"""`toolcrib database`: show where the data is, move it to a database that several hosts share, show or
replace the key of that, and sign decisions in it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.group import command_of
from toolcrib.cli.output import note, say, show_table
from toolcrib.cli.questions import given_key, key_file, with_key
from toolcrib.cli.safe_text import revealed
from toolcrib.cli.surface import Surface
from toolcrib.errors import UsageError

if TYPE_CHECKING:
    from toolcrib.host.database_move import MovePlan, MoveResult
    from toolcrib.operations.database import RefusedDecision


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
@key_file
async def move(surface: Surface, target: str, merge: bool, database_key_file: Path | None) -> None:
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
        given = given_key(database_key_file)
        result = await with_key(given, lambda key: moving.run(merge=merge, key=key))
    if surface.answer(_as_json(plan, result)):
        return
    added = sum(copied.added for copied in result.copied)
    say(f"{added} rows and {result.profiles} profiles or tokens are now in {plan.target}.")
    if result.backup is not None:
        note(f"The earlier file is now {result.backup}")
    note("Secrets, logs and installed servers stay on this machine.")
    if target != "sqlite":
        note("Other machines need the key of the database; show it with: toolcrib database key")


@declare(asks=True)
@click.option("--rotate", is_flag=True, help="Replace the key; stop the host first.")
async def key(surface: Surface, rotate: bool) -> None:
    """Show the key of the shared database, which every machine that uses it needs.

    Who has the key and can write to the database can approve calls at every host. A new key (--rotate) is
    needed on every other machine, and unfinished workflow runs end with an error.
    """
    from toolcrib.host.database_key import home_key, rotate_home_key

    if rotate:
        surface.ask("Replace the key of the database?", refused="The key was not replaced.")
        count = await rotate_home_key(surface.paths)
        if not surface.json:
            say(f"The key is replaced, and {count} decisions are signed with the new one.")
    signer = home_key(surface.paths)
    if surface.answer({"key": signer.text, "fingerprint": signer.fingerprint, "rotated": rotate}):
        return
    if not sys.stdout.isatty():
        raise UsageError("The key is only shown on a terminal.", hint="Add --json to get it in a program.")
    say(signer.text)
    note("Keep it secret. On another machine: toolcrib settings set database URL (it asks for the key)")


@declare(asks=True)
@click.option("--remove", is_flag=True, help="Remove them instead.")
async def sign(surface: Surface, remove: bool) -> None:
    """Show the decisions in the shared database that no host signed, and sign or remove them.

    They are ignored until then. An earlier version did not sign; other than that, someone who can write to
    the database made them. Sign only what you recognise.
    """
    async with surface.reach() as client:
        found = await client.database_refused()
        if not found["rows"] or (surface.json and not surface.yes):
            if not surface.answer({**found, "changed": 0}):
                note("All decisions in the database are signed.")
            return
        if not surface.json:
            _show_refused(found["rows"])
        question = f"{'Remove' if remove else 'Sign'} these {len(found['rows'])} decisions?"
        surface.ask(question, refused="Nothing was changed.")
        outcome = await client.database_sign(digest=found["digest"], remove=remove)
    if not surface.answer({**found, "changed": outcome["changed"]}):
        say(f"{outcome['changed']} decisions were {'removed' if remove else 'signed'}.")


def _show_refused(rows: list[RefusedDecision]) -> None:
    for row in rows:
        say(f"{row['kind']} {revealed(row['id'])}")
        for column, text in row["content"].items():
            say(f"  {column}  {revealed(text)}")


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
    "database",
    "Housekeeping",
    "Show and move the database of chats, approvals and call records.",
    show,
    move,
    key,
    sign,
)
