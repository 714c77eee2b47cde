"""Shows an installation on the command line: its plan (how many packages are named), the questions it asks,
the progress line; and the options that all installing commands share."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from toolcrib.cli.declare import repeatable
from toolcrib.cli.output import counted, label, note
from toolcrib.cli.proposal import read_pairs, sandbox_shown
from toolcrib.cli.questions import ask, ask_unseen, can_ask
from toolcrib.cli.safe_text import cut, one_line, revealed
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from functools import partial

    from toolcrib.operations.client import (
        InstallPlan,
        InstallProgress,
        InstallQuestion,
        ServerInstalled,
        ServerUpdated,
    )
    from toolcrib.operations.results.installs import NewlyInstalled

ARCHIVES = (".tgz", ".tar.gz", ".whl", ".mcpb", ".dxt")
SHOWN = 12
"""Packages that are listed by name; a plan may have hundreds."""
_STAGES = {
    "runtime": "Downloading",
    "ask": "Asking",
    "resolve": "Resolving",
    "fetch": "Downloading",
    "copy": "Copying",
    "scripts": "Running the install scripts of",
    "build": "Building",
    "activate": "Activating",
}
Planned = TypeVar("Planned", "ServerInstalled", "ServerUpdated")


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that all installing commands share."""
    for decorate in (
        click.option("--dry-run", is_flag=True, help="Show the plan; change nothing."),
        click.option("--offline", is_flag=True, help="Use only what is already on this machine."),
        repeatable(
            "--allow-build",
            metavar="PACKAGE",
            help="Allow this package to be built from source, which runs its code.",
        ),
        repeatable(
            "--allow-scripts", metavar="PACKAGE", help="Allow this package to run its install scripts."
        ),
    ):
        command = decorate(command)
    return command


def is_reference(word: str) -> bool:
    """True for `npm:NAME`, `pypi:NAME` and the path of an archive."""
    if word.startswith(("npm:", "pypi:")):
        return True
    return word.endswith(ARCHIVES) and Path(word).expanduser().is_file()


def read_answers(given: Iterable[str]) -> dict[str, Any]:
    """The values of `--set KEY=VALUE`; a repeated key makes a list."""
    answers: dict[str, Any] = {}
    for pair in given:
        for key, value in read_pairs([pair], "=", "--set").items():
            before = answers.get(key)
            answers[key] = (
                value if before is None else [*(before if isinstance(before, list) else [before]), value]
            )
    return answers


async def install(
    surface: Surface,
    request: partial[Coroutine[Any, Any, ServerInstalled]],
    name: str,
    answers: dict[str, Any],
    *,
    dry_run: bool,
) -> ServerInstalled | None:
    """Show the plan, ask, install; None after a dry run. `request` is `client.install` with its arguments."""
    planned = await make_plan(surface, request, name, dry_run=dry_run)
    if dry_run and surface.answer(planned):
        return None
    show_plan(name, planned["plan"], {**request.keywords.get("extra", {}), **(planned["entry"] or {})})
    if dry_run:
        return None
    given = ask_questions(surface, planned["plan"], answers)
    for remark in planned["remarks"]:
        label("warning:", "yellow", remark)
    surface.ask(
        "Install it, and run this command as you whenever Toolcrib runs?",
        refused=f"{name} was not installed.",
    )
    outcome = await request(answers=given, agreed=planned["plan"]["digest"], on_event=progress_line())
    end_line()
    return outcome


async def make_plan(
    surface: Surface, request: partial[Coroutine[Any, Any, Planned]], name: str, *, dry_run: bool
) -> Planned:
    """Make a plan; `request` is `client.install` or `client.update` with its arguments.

    If it needs a runtime that is missing, the user is asked before it is downloaded.
    """
    show = progress_line()
    planned = await request(dry_run=True, fetch_runtime=False, on_event=show)
    end_line()
    found = planned["plan"]
    if dry_run or found is None or not found["incomplete"]:
        return planned
    runtime = ", ".join(found["runtimes"])
    note(f"Resolving {found['reference'] or name} needs {runtime}, which is not installed.")
    surface.ask(f"Download {runtime}?", refused=f"{name} was not installed.")
    planned = await request(dry_run=True, fetch_runtime=True, on_event=show)
    end_line()
    return planned


def absolute_reference(reference: str) -> str:
    """The reference with an absolute path: a running host has another working directory."""
    if reference.startswith(("npm:", "pypi:", "http://", "https://")):
        return reference
    return str(Path(reference).expanduser().absolute())


def show_plan(name: str, plan: InstallPlan, entry: dict[str, Any] | None = None) -> None:
    """Print the whole plan to stderr, where questions are asked."""
    entry = entry or {}
    note(f"Server {name}:")
    published = f", published {plan['published'][:10]}" if plan["published"] else ""
    _line("package", f"{plan['package']} {plan['version']}{published}".rstrip())
    for runtime in plan["runtimes"]:
        _line("needs", f"{runtime}, downloaded once you agree")
    if plan["incomplete"]:
        _line("fetches", "packages that can only be listed once the runtime is installed")
        return
    _line("command", shlex.join([*plan["command"], *map(_placeholders, entry.get("args", ()))]))
    for key, value in entry.get("env", {}).items():
        _line("env", f"{key} = {_placeholders(value)}")
    _line("folder", plan["place"])
    if entry.get("sandbox"):
        _line("sandbox", sandbox_shown(entry["sandbox"]))
    if plan["copies"]:
        _line("copies", plan["copies"])
    if plan["fetches"]:
        shown, rest = ", ".join(plan["fetches"][:SHOWN]), len(plan["fetches"]) - SHOWN
        more = f" and {rest} more" if rest > 0 else ""
        _line("fetches", f"{counted(len(plan['fetches']), 'package')}: {shown}{more}")
    for packages, effect in (
        (plan["scripts_refused"], "will not run install scripts (allow with --allow-scripts PACKAGE)"),
        (plan["scripts_allowed"], "will run install scripts now, as you"),
        (plan["builds"], "will be built from source now, which runs code as you"),
    ):
        if packages:
            label("warning:", "yellow", f"{revealed(', '.join(packages))} {effect}.")
    for remark in plan["remarks"]:
        label("warning:", "yellow", revealed(remark))


def show_installed(installed: NewlyInstalled | None) -> None:
    """Print warnings about the installed files, which the plan could not know."""
    for remark in installed["remarks"] if installed else ():
        label("warning:", "yellow", revealed(remark))


def ask_questions(surface: Surface, plan: InstallPlan, answers: dict[str, Any]) -> dict[str, Any]:
    """The answers; missing ones are asked for on a terminal."""
    if not can_ask():
        return answers
    complete = dict(answers)
    for question in plan["questions"]:
        if question["key"] in complete or (surface.yes and not question["required"]):
            continue
        if question["description"]:
            note(f"  {one_line(question['description'])}")
        title = one_line(question["title"])
        given = ask_unseen(title) if question["secret"] else ask(title, default=_default(question))
        if given:
            complete[question["key"]] = (
                [part.strip() for part in given.split(",")] if question["multiple"] else given
            )
    return complete


def progress_line() -> Callable[[InstallProgress], None]:
    """Shows each step: on a terminal in one line that is overwritten, else in one line per stage."""
    shown_stages: set[str] = set()

    def show(step: InstallProgress) -> None:
        text = f"{_STAGES.get(step['stage'], step['stage'])} {one_line(step['detail'])}"
        if sys.stderr.isatty():
            count = f" {step['done']}/{step['total']}" if step["total"] else ""
            sys.stderr.write(f"\r\x1b[K{cut(text, 70)}{count}")
            sys.stderr.write("\n" if step["stage"] == "activate" else "")
            sys.stderr.flush()
        elif step["stage"] not in shown_stages:
            shown_stages.add(step["stage"])
            note(text)

    return show


def end_line() -> None:
    """Clear the progress line."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _line(key: str, text: str) -> None:
    note(f"  {key:<8} {revealed(text)}")


def _placeholders(text: str) -> str:
    """Shows `${answer:KEY}` as `<KEY>`."""
    return re.sub(r"\$\{answer:([^}]+)\}", r"<\1>", text)


def _default(question: InstallQuestion) -> str:
    value = question["default"]
    if value is None:
        return ""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
