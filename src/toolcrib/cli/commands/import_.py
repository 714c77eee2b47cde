"""`toolcrib import`: the servers of another host, shown first, then taken in; none is trusted or started."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.import_view import show_found, show_plan, tell
from toolcrib.cli.output import note
from toolcrib.cli.questions import ask, ask_unseen, can_ask, choose
from toolcrib.cli.surface import Surface
from toolcrib.errors import UsageError

if TYPE_CHECKING:
    from toolcrib.control.needs import Crib


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from toolcrib.config.client_files.client import client_names

    return [name for name in client_names() if name.startswith(incomplete)]


@declare("Servers", asks=True)
@click.argument("source", metavar="[HOST | FILE]", required=False, shell_complete=_complete)
@click.option("--only", multiple=True, metavar="NAME", help="Take in only this server; may be repeated.")
@click.option("--from", "host", metavar="HOST", help="Read FILE as a file of this host.")
@click.option(
    "--conflicts",
    type=click.Choice(["skip", "rename", "replace"]),
    help="What to do about names that are taken; the default is to ask, or to skip.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be done; change nothing.")
async def command(surface: Surface, source: str | None, **options: Any) -> None:
    """Take in the servers of another MCP host.

    Without words, lists the files of other hosts that are here. With a host or a file, shows its servers,
    asks, and writes them to the config file. Secrets go where secrets are kept. Nothing is started, and what
    was trusted there is not trusted here.
    """
    async with surface.reach() as crib:
        if source is None:
            show_found(surface, await crib.run("import_found", {"folder": str(Path.cwd())}))
            return
        outcomes = [
            await take_in(surface, crib, one, options)
            for one in _file(source, options["host"]) or await _sources(crib, source)
        ]
    if not surface.answer(outcomes) and not options["dry_run"]:
        tell(outcomes)


def _file(word: str, host: str | None) -> list[dict[str, Any]]:
    file = Path(word).expanduser()
    return [{"file": str(file.absolute()), "host": _host(host)}] if file.is_file() else []


async def _sources(crib: Crib, word: str) -> list[dict[str, Any]]:
    """The files of a host."""
    from toolcrib.config.importing.finding import known_host

    host = known_host(word)
    found = await crib.run("import_found", {"folder": str(Path.cwd())})
    keys = ("file", "host", "table", "workspace")
    sources = [{key: one[key] for key in keys} for one in found if one["host"] == host]
    if not sources:
        raise UsageError(f"{host} names no servers here.", hint="Name its file, or see: toolcrib import")
    return sources


def _host(word: str | None) -> str | None:
    if word is None:
        return None
    from toolcrib.config.importing.finding import known_host

    return known_host(word)


async def take_in(
    surface: Surface, crib: Crib, source: dict[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    """Show what a source holds, ask, and take it in; the outcome as `--json` has it."""
    asked = {**source, "only": list(options["only"]), "otherwise": options["conflicts"] or "skip"}
    plan: dict[str, Any] = await crib.run("import_plan", asked)
    if not surface.json:
        show_plan(plan)
    if options["dry_run"] or not plan["servers"]:
        return plan
    if can_ask() and not surface.yes:
        if options["conflicts"] is None:
            asked["choices"] = _choices(plan)
            plan = await crib.run("import_plan", asked)
        asked["answers"] = _answers(plan)
    wanted = [one for one in plan["servers"] if one["action"] != "skip"]
    if not wanted:
        return plan
    names = ", ".join(one["as"] for one in wanted)
    surface.ask(f"Take in {names}?", refused="Nothing was taken in.")
    outcome: dict[str, Any] = await crib.run("import_apply", {**asked, "digest": plan["digest"]})
    return outcome


def _choices(plan: dict[str, Any]) -> dict[str, Any]:
    conflicts = [one for one in plan["servers"] if one["standing"] == "differs"]
    return {
        one["name"]: {"action": choose(f"There is another {one['name']}", ("skip", "rename", "replace"))}
        for one in conflicts
    }


def _answers(plan: dict[str, Any]) -> dict[str, str]:
    """What the servers that are wanted need; each thing is asked once, and may be left open."""
    answers: dict[str, str] = {}
    questions = [q for one in plan["servers"] if one["action"] != "skip" for q in one["questions"]]
    if questions:
        note("Leave empty what you want to give later.")
    for question in questions:
        if question["id"] not in answers:
            text = question["text"]
            choices = f" ({', '.join(question['choices'])})" if question["choices"] else ""
            answers[question["id"]] = (
                ask_unseen(text, empty=True)
                if question["secret"]
                else ask(f"{text}{choices}", question["default"])
            )
    return {key: value for key, value in answers.items() if value}
