"""How servers of other hosts are shown: where they were found, what taking them in does, what it did."""

from __future__ import annotations

from typing import Any

from toolcrib.cli.output import label, note, say
from toolcrib.cli.proposal import Proposal, describe
from toolcrib.cli.safe_text import one_line
from toolcrib.cli.surface import Surface
from toolcrib.cli.tables import show_table

_STANDINGS = {"new": "new", "same": "there already", "differs": "the name is taken by another"}


def show_found(surface: Surface, found: list[dict[str, Any]]) -> None:
    """The files of other hosts."""
    if surface.answer(found):
        return
    if not found:
        note("No servers of other hosts were found. Name a file: toolcrib import FILE")
        return
    rows = [
        [one["host"], str(len(one["servers"])) or "-", str(len(one["new"])) or "-", one["file"]]
        for one in found
    ]
    show_table(["HOST", "SERVERS", "NEW", "FILE"], rows, right=(1, 2))
    for one in found:
        if one["problem"]:
            label("warning:", "yellow", f"{one['file']}: {one['problem']}")
    note("To look closer and take them in: toolcrib import HOST")


def show_plan(plan: dict[str, Any]) -> None:
    """Every server in full, with what a careful reader would say."""
    source = plan["source"]
    note(f"{source['title']}, {source['file']}:")
    for one in plan["servers"]:
        renamed = f" as {one['as']}" if one["as"] != one["name"] else ""
        note(f"{one_line(one['name'])}{renamed}: {_STANDINGS[one['standing']]}")
        for line in describe(Proposal(name=one["as"], entry=one["entry"])):
            note(line)
        for remark in one["remarks"]:
            label("careful:", "yellow", remark)
        for remark in one["notes"]:
            note(f"  - {one_line(remark)}")
        if one["install"]:
            again = f"toolcrib add {one['as']} {one['install']} --replace"
            note(f"  - It is fetched anew at every start. To install it once: {one_line(again)}")
    for name, reason in plan["refused"].items():
        note(f"{one_line(name)}: left out, {one_line(reason)}")
    if not plan["servers"]:
        note("There is nothing to take in.")


def tell(outcomes: list[dict[str, Any]]) -> None:
    """What was done, and what is left to do."""
    written = [one for outcome in outcomes if outcome["written"] for one in outcome["servers"]]
    taken = [one for one in written if one["action"] != "skip"]
    if not taken:
        say("Nothing was taken in.")
        return
    say(f"Taken in: {', '.join(one['as'] for one in taken)}.")
    for one in taken:
        if one["secrets"]:
            note(f"{one['as']}: {', '.join(one['secrets'])} is kept as a secret.")
        for name in one["waiting"]:
            secret = f"${{secret:{name}}}" in str(one["entry"])
            how = f"the secret {name}: toolcrib secret set {name}" if secret else f"the variable {name}."
            note(f"{one['as']} still needs {how}")
    names = " ".join(one["as"] for one in taken)
    note(f"Nothing of it runs before you say so. Look at each and agree with: toolcrib trust {names}")
