"""`toolcrib import`: show the servers of another MCP host, then import them; none is trusted or started. Has
the options, the printed plan and outcome, and the questions about values and names in conflict.

The servers of a pasted document, which may have the form of any program's config file, are added alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from toolcrib.cli.declare import declare, repeatable
from toolcrib.cli.output import label, note, say, show_table
from toolcrib.cli.proposal import EntryProposal, describe
from toolcrib.cli.questions import ask, ask_unseen, can_ask, choose
from toolcrib.cli.safe_text import one_line
from toolcrib.cli.surface import Surface
from toolcrib.errors import UsageError
from toolcrib.features.clients.commands import client_completion

if TYPE_CHECKING:
    from toolcrib.config.paste.pasted import Install, PastedDocument
    from toolcrib.features.clients.results import FoundSource
    from toolcrib.operations.client import Client, ImportPlan, ImportPlanned

Conflicts = Literal["skip", "rename", "replace"]
_STANDINGS = {"new": "new", "same": "already configured", "differs": "name already used"}


@dataclass(frozen=True, kw_only=True)
class ImportFile:
    """The file that servers are imported from; the fields are parameters of `import_plan`."""

    file: str
    host: str | None = None
    table: list[str] | None = None
    workspace: str | None = None
    text: str | None = None
    """The content, if it is not in the file."""


@declare("Servers", asks=True)
@click.argument("source", metavar="[HOST | FILE]", required=False, shell_complete=client_completion)
@repeatable("--only", metavar="NAME", help="Import only this server; repeatable.")
@click.option("--from", "host", metavar="HOST", help="Read FILE as a file of this host.")
@click.option(
    "--conflicts",
    type=click.Choice(["skip", "rename", "replace"]),
    help="How to handle names that are already used; by default you are asked, without a terminal they are "
    "skipped.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be imported; change nothing.")
async def command(
    surface: Surface,
    source: str | None,
    only: tuple[str, ...],
    host: str | None,
    conflicts: Conflicts | None,
    dry_run: bool,
) -> None:
    """Import the servers of another MCP host.

    Without arguments, lists the files of other hosts on this machine. With a host or a file, shows its
    servers, asks, and adds them to the config file. Secrets go to the secret store. Nothing is started, and
    what was trusted there is not trusted here.
    """
    async with surface.reach() as client:
        if source is None:
            _show_found(surface, await client.import_found(folder=str(Path.cwd())))
            return
        sources = _file(source, host) or await _files_of_host(client, source)
        outcomes = [
            await import_source(surface, client, found, only=only, conflicts=conflicts, dry_run=dry_run)
            for found in sources
        ]
    if not surface.answer(outcomes) and not dry_run:
        show_outcomes(outcomes)


def _file(argument: str, host: str | None) -> list[ImportFile]:
    from toolcrib.features.clients.transfer.sources import known_host

    file = Path(argument).expanduser()
    if not file.is_file():
        return []
    return [ImportFile(file=str(file.absolute()), host=None if host is None else known_host(host))]


async def _files_of_host(client: Client, argument: str) -> list[ImportFile]:
    from toolcrib.features.clients.transfer.sources import known_host

    host = known_host(argument)
    found = [
        ImportFile(file=found["file"], host=host, table=found["table"], workspace=found["workspace"])
        for found in await client.import_found(folder=str(Path.cwd()))
        if found["host"] == host
    ]
    if not found:
        raise UsageError(
            f"{host} has no servers on this machine.", hint="Name its file, or see: toolcrib import"
        )
    return found


async def import_source(
    surface: Surface,
    client: Client,
    source: ImportFile,
    *,
    only: tuple[str, ...] = (),
    conflicts: Conflicts | None = None,
    dry_run: bool,
) -> ImportPlan:
    """Show the servers of a source, ask, and import them; returns the plan or the outcome."""
    common: dict[str, Any] = {**asdict(source), "only": list(only), "otherwise": conflicts or "skip"}
    plan = await client.import_plan(**common)
    if not surface.json:
        _show_plan(plan)
    if dry_run or not plan["servers"]:
        return plan
    if can_ask() and not surface.yes:
        if conflicts is None:
            common["choices"] = _choices(plan)
            plan = await client.import_plan(**common)
        common["answers"] = _answers(plan)
    wanted = [server for server in plan["servers"] if server["action"] != "skip"]
    if not wanted:
        return plan
    names = ", ".join(server["as"] for server in wanted)
    surface.ask(f"Import {names}?", refused="Nothing was imported.")
    return await client.import_apply(**common, digest=plan["digest"])


def _choices(plan: ImportPlan) -> dict[str, Any]:
    return {
        server["name"]: {"action": choose(f"{server['name']} is already used", ("skip", "rename", "replace"))}
        for server in plan["servers"]
        if server["standing"] == "differs"
    }


def _answers(plan: ImportPlan) -> dict[str, str]:
    """Ask for the values that the imported servers need, each once; an answer may be empty."""
    answers: dict[str, str] = {}
    wanted = [server for server in plan["servers"] if server["action"] != "skip"]
    questions = [question for server in wanted for question in server["questions"]]
    if questions:
        note("Leave a value empty to set it later.")
    for question in questions:
        if question["id"] not in answers:
            text = question["text"]
            choices = f" ({', '.join(question['choices'])})" if question["choices"] else ""
            answers[question["id"]] = (
                ask_unseen(text, empty=True)
                if question["secret"]
                else ask(f"{text}{choices}", question["default"] or "")
            )
    return {key: value for key, value in answers.items() if value}


def _show_found(surface: Surface, found: list[FoundSource]) -> None:
    if surface.answer(found):
        return
    if not found:
        note("No servers of other hosts were found. To import a file: toolcrib import FILE")
        return
    rows = [
        [source["host"], str(len(source["servers"])), str(len(source["new"])), source["file"]]
        for source in found
    ]
    show_table(["HOST", "SERVERS", "NEW", "FILE"], rows, right=(1, 2))
    for source in found:
        if source["problem"]:
            label("warning:", "yellow", f"{source['file']}: {source['problem']}")
    note("To see the details and import them: toolcrib import HOST")


def _show_plan(plan: ImportPlan) -> None:
    source = plan["source"]
    note(f"{source['title']}, {source['file']}:")
    for server in plan["servers"]:
        _show_server(server)
    for name, reason in plan["refused"].items():
        note(f"{one_line(name)}: skipped, {one_line(reason)}")
    if not plan["servers"]:
        note("There is nothing to import.")


def _show_server(server: ImportPlanned) -> None:
    renamed = f" as {server['as']}" if server["as"] != server["name"] else ""
    note(f"{one_line(server['name'])}{renamed}: {_STANDINGS[server['standing']]}")
    for line in describe(EntryProposal(name=server["as"], entry=server["entry"])):
        note(line)
    for remark in server["remarks"]:
        label("warning:", "yellow", remark)
    for remark in server["notes"]:
        note(f"  - {one_line(remark)}")
    if server["install"]:
        add = f"toolcrib add {server['as']} {server['install']} --replace"
        note(f"  - It is downloaded at every start. To install it once: {one_line(add)}")


def show_outcomes(outcomes: list[ImportPlan]) -> None:
    """Print what was imported and what is left to do."""
    written = [server for outcome in outcomes if outcome["written"] for server in outcome["servers"]]
    imported = [server for server in written if server["action"] != "skip"]
    if not imported:
        say("Nothing was imported.")
        return
    say(f"Imported: {', '.join(server['as'] for server in imported)}.")
    for server in imported:
        if server["secrets"]:
            note(f"{server['as']}: stored as a secret: {', '.join(server['secrets'])}.")
        for name in server["waiting"]:
            secret = f"${{secret:{name}}}" in str(server["entry"])
            how = f"the secret {name}: toolcrib secret set {name}" if secret else f"the variable {name}."
            note(f"{server['as']} still needs {how}")
    names = " ".join(server["as"] for server in imported)
    note(f"Nothing runs before you approve it. Review and approve with: toolcrib trust {names}")


async def read_document(
    surface: Surface, name: str, found: PastedDocument, *, as_is: bool, dry_run: bool
) -> tuple[str, Install | Mapping[str, Any] | None]:
    """The only server of a pasted document; None after several, or one that asks, were imported."""
    from toolcrib.config.paste.parser import named

    found = replace(found, text=named(found.text, name))
    source = ImportFile(file=str(found.file), host=found.host, text=found.text)
    async with surface.reach() as client:
        plan = await client.import_plan(file=source.file, host=source.host, text=source.text)
        if not plan["servers"]:
            reasons = [f"{server}: {reason}" for server, reason in plan["refused"].items()]
            raise UsageError("It contains no server.", hint=". ".join(reasons) or "See: toolcrib add --help")
        if len(plan["servers"]) != 1 or plan["servers"][0]["questions"]:
            outcome = await import_source(surface, client, source, dry_run=dry_run)
            if not surface.answer([outcome]):
                show_outcomes([outcome])
            return name, None
    return _only_server(name, found, as_is=as_is)


def _only_server(name: str, found: PastedDocument, *, as_is: bool) -> tuple[str, Install | Mapping[str, Any]]:
    from toolcrib.config.paste.parser import as_install
    from toolcrib.features.clients.transfer.sources import read_words

    (draft,) = read_words(found.text, found.file, found.host).drafts
    for remark in draft.notes:
        note(remark)
    package = None if as_is else as_install(draft.entry)
    return name or draft.name or (package.name if package else "server"), package or draft.entry
