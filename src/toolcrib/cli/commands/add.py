"""`toolcrib add`: a new server, after its exact command was shown and agreed to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli import install_view, paste
from toolcrib.cli.add_target import check_here, extra_keys, read_document, understood
from toolcrib.cli.commands.servers import describe as describe_server
from toolcrib.cli.declare import Command, Seconds, declare
from toolcrib.cli.output import label, note, say
from toolcrib.cli.proposal import Proposal, describe, find_secrets, read_pairs
from toolcrib.cli.questions import can_ask, confirm
from toolcrib.cli.safe_text import revealed
from toolcrib.cli.surface import Surface
from toolcrib.cli.transport_types import RemoteTransport, TransportType
from toolcrib.cli.trial import try_and_repair

if TYPE_CHECKING:
    from toolcrib.config.paste.pasted import Install
    from toolcrib.control.needs import Crib

_SECRET_REFERENCE = re.compile(r"\$\{secret:[^}]*\}")
START_PATIENCE = 10.0
"""Seconds to wait for the server to come up in a running host; a slow one is shown as starting."""


class AddCommand(Command):
    """Says where the two dashes are missing."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """A name may stand before whatever was pasted."""
        return ["[NAME]", "[OPTIONS]", "PACKAGE | URL | FILE | JSON | [--] COMMAND [ARGS]..."]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """A command line that was pasted is taken whole: none of its options is one of ours."""
        args = paste.find_dashes(self, args)
        paste.note_dashes(ctx, args)
        return super().parse_args(ctx, args)

    def advise(self, option: str, args: list[str]) -> str:
        """An unknown option is most likely one of the server's command."""
        words = [word for word in args if not word.startswith("-")]
        if len(words) < 2:
            return ""
        return f"Put -- before the server's command: toolcrib add {words[0]} -- {words[1]} …"


@declare("Servers", asks=True, cls=AddCommand)
@click.argument("name")
@click.argument("target", nargs=-1, type=click.UNPROCESSED)
@click.option("--env", "-e", "env", multiple=True, metavar="KEY=VALUE", help="A variable for it.")
@click.option(
    "--header", "-H", "headers", multiple=True, metavar="NAME:VALUE", help="Sent with each request."
)
@click.option("--cwd", metavar="FOLDER", help="Where the command runs.")
@click.option("--type", "kind", type=TransportType(), help="How it is started or reached.")
@click.option("--transport", type=RemoteTransport(), help="How to reach an address.")
@click.option("--env-allow", multiple=True, metavar="NAME", help="A variable of yours that it may see.")
@click.option("--include", multiple=True, metavar="PATTERN", help="Offer only tools of this name.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Do not offer tools of this name.")
@click.option("--isolation", type=click.Choice(["shared", "session"]), help="One instance, or one a session.")
@click.option("--start-timeout", type=Seconds(0.001, 86_400), help="Seconds a start may take.")
@click.option("--call-timeout", type=Seconds(0.001, 86_400), help="Seconds a call may take.")
@click.option("--lazy", is_flag=True, help="Start it only when one of its tools is called.")
@click.option("--disabled", is_flag=True, help="Add it switched off.")
@click.option("--replace", is_flag=True, help="Put it in the place of a server of the same name.")
@click.option("--as-is", is_flag=True, help="Add the command unchanged: install nothing.")
@click.option("--program", metavar="NAME", help="Which program of a package is the server.")
@click.option("--python", metavar="VERSION", help="Which Python a package gets.")
@click.option("--with", "also", multiple=True, metavar="REQUIREMENT", help="A Python package beside it.")
@click.option("--set", "answers", multiple=True, metavar="KEY=VALUE", help="An answer to what it asks.")
@install_view.options
@click.option("--test/--no-test", "test", default=None, help="Try it afterwards; the default on a terminal.")
async def command(surface: Surface, name: str, test: bool | None, replace: bool, **given: Any) -> None:
    """Add the server NAME: a command, an address, or a package to install.

    Adding a server means running its code: the exact command is shown first, and nothing is written or
    started without a yes.

    \b
    toolcrib add time pypi:mcp-server-time
    toolcrib add npx -y @modelcontextprotocol/server-memory
    toolcrib add build -- ./tools/server.py --fast
    toolcrib add docs https://example.com/mcp --header 'Authorization: Bearer …'
    """
    from toolcrib.config.aliases import ADDRESS_TYPE
    from toolcrib.config.paste.pasted import Document, Install

    name, found = understood(name, given)
    if isinstance(found, Document):
        name, found = await read_document(surface, name, found, given)
    if found is None:
        return
    if isinstance(found, Install):
        await _install(surface, name or found.name, found, test, replace, given)
        return
    entry = found
    check_here(entry, as_is=given["as_is"])
    probe = "url" in entry and "type" not in entry and not given["disabled"]
    entry = {"type": ADDRESS_TYPE, **entry} if "url" in entry else entry
    proposal = _consider_secrets(surface, name, entry)
    _show(proposal)
    where = "Connect to this address" if "url" in entry else "Run this command"
    surface.ask(f"{where} as you, whenever Toolcrib runs?", refused=f"{name} was not added.")
    async with surface.reach() as crib:
        outcome = await crib.run(
            "add",
            {
                "name": name,
                "entry": proposal.entry,
                "secrets": proposal.secrets,
                "replace": replace,
                "probe": probe,
                "wait": START_PATIENCE if crib.running and not given["disabled"] else 0.0,
            },
        )
        if surface.answer(outcome):
            return
        if probe:
            from toolcrib.servers.transport import traits_of

            kind = outcome["type"]
            silent = [one for one in outcome["remarks"] if one.startswith("Nobody answers")]
            note(silent[0] if silent else f"{name} is spoken to over {traits_of(kind).title or kind}.")
        await _tell(surface, crib, outcome, can_ask() if test is None else test)


async def _install(
    surface: Surface, name: str, found: Install, test: bool | None, replace: bool, given: dict[str, Any]
) -> None:
    from toolcrib.config.paste.entry_forms import needed_folder

    env = {**found.env, **read_pairs(given["env"], "=", "--env")}
    proposal = find_secrets(name, {"env": env, "args": list(found.args)})
    options = {key: given[key] for key in ("program", "python", "also", *install_view.RULES)}
    options.update({key: options[key] or getattr(found, key) for key in ("program", "python")})
    folder = given["cwd"] or found.cwd or needed_folder(found.args)
    check_here({"cwd": folder}, as_is=True)
    params = {
        **options,
        "name": proposal.name,
        "reference": found.reference,
        "args": list(proposal.entry["args"]),
        "env": dict(proposal.entry["env"]),
        "secrets": dict(proposal.secrets),
        "extra": {**extra_keys(given), **({"cwd": folder} if folder else {})},
        "replace": replace,
    }
    async with surface.reach() as crib:
        params["wait"] = START_PATIENCE if crib.running and not given["disabled"] else 0.0
        answers = install_view.read_answers(given["answers"])
        outcome = await install_view.install(surface, crib, params, answers, dry_run=given["dry_run"])
        if outcome is not None and not surface.answer(outcome):
            await _tell(surface, crib, outcome, can_ask() if test is None else test)


def _consider_secrets(surface: Surface, name: str, entry: dict[str, Any]) -> Proposal:
    """What looks like a secret is stored as one, unless the user wants it in the file."""
    proposal = find_secrets(name, entry)
    if not proposal.secrets:
        return Proposal(name=name, entry=entry)
    note(f"{', '.join(proposal.secrets)}: looks like a secret. It is better stored outside the config file.")
    if surface.yes or not can_ask() or confirm("Store it as a secret?", default=True):
        return proposal
    from toolcrib.config.importing.references import map_texts

    return Proposal(name=name, entry=entry, shown=map_texts(proposal.entry, _unshown))


def _unshown(text: str) -> str:
    return _SECRET_REFERENCE.sub("(not shown)", text)


def _show(proposal: Proposal) -> None:
    from toolcrib.config.review import review_entry

    note(f"The server {proposal.name}:")
    for line in describe(proposal):
        note(line)
    for remark in review_entry(proposal.entry):
        label("careful:", "yellow", remark)


async def _tell(surface: Surface, crib: Crib, outcome: dict[str, Any], test: bool) -> None:
    name = outcome["name"]
    say(f"{name} is added.")
    for secret in outcome["secrets"]:
        note(f"The secret {secret} is stored. Your shell may still remember the command you typed.")
    for finding in outcome["findings"]:
        label("careful:", "yellow", revealed(finding))
    server = outcome["server"]
    if server is not None:
        say(describe_server(server))
    troubled = server is not None and server["state"] in ("backoff", "failed") and outcome.get("installed")
    if troubled or (server is None and test and outcome["enabled"]):
        await try_and_repair(surface, crib, name)
    elif server is None and outcome["enabled"]:
        note(f"Try it with: toolcrib test {name}")
