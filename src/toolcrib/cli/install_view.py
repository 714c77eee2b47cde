"""Installing on the command line: the plan shown and agreed to, what it asks answered, the progress told."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli.output import counted, label, note
from toolcrib.cli.proposal import read_pairs
from toolcrib.cli.questions import ask, ask_unseen, can_ask
from toolcrib.cli.safe_text import cut, one_line, revealed
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.control.needs import Crib

ARCHIVES = (".tgz", ".tar.gz", ".whl", ".mcpb", ".dxt")
RULES = ("allow_scripts", "allow_build", "offline")
"""The options of `options` that an operation is told."""
SHOWN = 12
"""Packages that are named one by one; there may be hundreds."""
_STAGES = {
    "runtime": "Fetching",
    "resolve": "Looking up",
    "fetch": "Fetching",
    "copy": "Copying",
    "scripts": "Running the install scripts of",
    "build": "Building",
    "activate": "Activating",
}


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that every command has which installs."""
    for decorate in (
        click.option("--dry-run", is_flag=True, help="Show the plan; change nothing."),
        click.option("--offline", is_flag=True, help="Use only what is on this machine."),
        click.option(
            "--allow-build",
            multiple=True,
            metavar="PACKAGE",
            help="May be built from source, running its code.",
        ),
        click.option(
            "--allow-scripts", multiple=True, metavar="PACKAGE", help="Its install scripts may run."
        ),
    ):
        command = decorate(command)
    return command


def is_reference(word: str) -> bool:
    """True for a word that can only mean something to install."""
    if word.startswith(("npm:", "pypi:")):
        return True
    return word.endswith(ARCHIVES) and Path(word).expanduser().is_file()


def read_answers(given: Iterable[str]) -> dict[str, Any]:
    """`KEY=VALUE`, several of one key as a list."""
    answers: dict[str, Any] = {}
    for one in given:
        for key, value in read_pairs([one], "=", "--set").items():
            before = answers.get(key)
            answers[key] = (
                value if before is None else [*(before if isinstance(before, list) else [before]), value]
            )
    return answers


async def install(
    surface: Surface, crib: Crib, params: dict[str, Any], answers: dict[str, Any], *, dry_run: bool
) -> dict[str, Any] | None:
    """Plan, show, ask, apply; None when only the plan was wanted, which is shown by then."""
    tell = progress_line()
    params = {**params, "reference": whole(params["reference"])}
    planned = await make_plan(surface, crib, "install", params, dry_run=dry_run)
    if dry_run and surface.answer(planned):
        return None
    show_plan(params["name"], planned["plan"], planned["entry"])
    if dry_run:
        return None
    given = ask_questions(surface, planned["plan"], answers)
    for remark in planned["remarks"]:
        label("careful:", "yellow", remark)
    surface.ask(
        "Install it, and run this command as you whenever Toolcrib runs?",
        refused=f"{params['name']} was not installed.",
    )
    agreed = {**params, "answers": given, "agreed": planned["plan"]["digest"]}
    outcome: dict[str, Any] = await crib.run("install", agreed, on_event=tell)
    end_line()
    return outcome


async def make_plan(
    surface: Surface, crib: Crib, operation: str, params: dict[str, Any], *, dry_run: bool
) -> dict[str, Any]:
    """The plan of an operation; a runtime that it takes to make it is fetched on a yes, not by a dry run."""
    tell = progress_line()
    planned: dict[str, Any] = await crib.run(operation, {**params, "dry_run": True}, on_event=tell)
    end_line()
    found = planned["plan"]
    if dry_run or found is None or not found["incomplete"]:
        return planned
    runtime = ", ".join(found["runtimes"])
    note(f"To look up {params.get('reference') or params['name']}, {runtime} is needed, and is not here.")
    surface.ask(f"Fetch {runtime}?", refused=f"{params['name']} was not installed.")
    whole_plan = {**params, "dry_run": True, "fetch_runtime": True}
    planned = await crib.run(operation, whole_plan, on_event=tell)
    end_line()
    return planned


def whole(reference: str) -> str:
    """A path as it is meant from here: a running host stands in another folder."""
    if reference.startswith(("npm:", "pypi:", "http://", "https://")):
        return reference
    return str(Path(reference).expanduser().absolute())


def show_plan(name: str, plan: dict[str, Any], entry: dict[str, Any] | None = None) -> None:
    """What would happen, whole; on stderr, where questions are asked."""
    entry = entry or {}
    note(f"The server {name}:")
    _line("package", f"{plan['package']} {plan['version']}{_since(plan['published'])}".rstrip())
    for runtime in plan["runtimes"]:
        _line("needs", f"{runtime}, fetched after you agree")
    if plan["incomplete"]:
        _line("fetches", "its packages, which are looked up and shown once that is here")
        return
    _line("command", shlex.join([*plan["command"], *map(_asked, entry.get("args", ()))]))
    for key, value in entry.get("env", {}).items():
        _line("env", f"{key} = {_asked(value)}")
    _line("place", plan["place"])
    if plan["copies"]:
        _line("copies", plan["copies"])
    if plan["fetches"]:
        shown, rest = ", ".join(plan["fetches"][:SHOWN]), len(plan["fetches"]) - SHOWN
        more = f" and {rest} more" if rest > 0 else ""
        _line("fetches", f"{counted(len(plan['fetches']), 'package')}: {shown}{more}")
    for key, said in (
        ("scripts_refused", "will not run their install scripts (--allow-scripts PACKAGE lets one)"),
        ("scripts_allowed", "run their install scripts now, as you"),
        ("builds", "are built from source now, which runs their code as you"),
    ):
        if plan[key]:
            label("careful:", "yellow", f"{revealed(', '.join(plan[key]))} {said}.")
    for remark in plan["remarks"]:
        label("careful:", "yellow", revealed(remark))


def ask_questions(surface: Surface, plan: dict[str, Any], answers: dict[str, Any]) -> dict[str, Any]:
    """The answers, with those that are still missing asked for on a terminal."""
    if not can_ask():
        return answers
    asked = dict(answers)
    for question in plan["questions"]:
        if question["key"] in asked or (surface.yes and not question["required"]):
            continue
        if question["description"]:
            note(f"  {one_line(question['description'])}")
        words = one_line(question["title"])
        given = ask_unseen(words) if question["secret"] else ask(words, default=_default(question))
        if given:
            asked[question["key"]] = (
                [part.strip() for part in given.split(",")] if question["multiple"] else given
            )
    return asked


def progress_line() -> Callable[[dict[str, Any]], None]:
    """Tells of each step: one line that changes on a terminal, else a line for each stage."""
    told: set[str] = set()

    def tell(step: dict[str, Any]) -> None:
        words = f"{_STAGES.get(step['stage'], step['stage'])} {one_line(step['detail'])}"
        if sys.stderr.isatty():
            count = f" {step['done']}/{step['total']}" if step["total"] else ""
            sys.stderr.write(f"\r\x1b[K{cut(words, 70)}{count}")
            sys.stderr.write("\n" if step["stage"] == "activate" else "")
            sys.stderr.flush()
        elif step["stage"] not in told:
            told.add(step["stage"])
            note(words)

    return tell


def end_line() -> None:
    """Leave the line that changes."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _line(word: str, text: str) -> None:
    note(f"  {word:<8} {revealed(text)}")


def _asked(text: str) -> str:
    """A word of the entry, with the answers that it waits for by their names."""
    return re.sub(r"\$\{answer:([^}]+)\}", r"<\1>", text)


def _since(published: str | None) -> str:
    return f", of {published[:10]}" if published else ""


def _default(question: dict[str, Any]) -> str:
    value = question["default"]
    if value is None:
        return ""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
