"""`toolcrib add`: add a server after its exact command was shown and approved. Its options, the offer to
store values as secrets, and hints about a missing `--`, trust and needed accounts."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

from toolcrib.cli import install_view
from toolcrib.cli.add_target import (
    AddOptions,
    check_here,
    insert_dashes,
    read_target,
    remember_dashes,
)
from toolcrib.cli.commands.servers import describe as describe_server
from toolcrib.cli.commands.test import try_and_repair
from toolcrib.cli.declare import CliCommand, Seconds, declare, repeatable
from toolcrib.cli.output import label, note, say
from toolcrib.cli.proposal import EntryProposal, describe, find_secrets, read_pairs
from toolcrib.cli.questions import can_ask, confirm
from toolcrib.cli.safe_text import revealed
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.catalog.listing import CatalogEntry
    from toolcrib.config.paste.pasted import Install
    from toolcrib.operations.client import Client, ServerAdded

_SECRET_REFERENCE = re.compile(r"\$\{secret:[^}]*\}")
START_TIMEOUT = 10.0
"""Seconds to wait for the server to start in a running host; after that it is shown as starting."""


class AddCommand(CliCommand):
    """Accepts a pasted command line, and explains where `--` is missing."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[NAME]", "[OPTIONS]", "PACKAGE | URL | FILE | JSON | [--] COMMAND [ARGS]..."]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        args = insert_dashes(self, args)
        remember_dashes(ctx, args)
        return super().parse_args(ctx, args)

    def advise(self, option: str, args: list[str]) -> str:
        """An unknown option is most likely one of the server's command."""
        words = [word for word in args if not word.startswith("-")]
        if len(words) < 2:
            return ""
        return f"Put -- before the server's command: toolcrib add {words[0]} -- {words[1]} …"


class TransportType(StringParamType):
    """The type of a server. The host refuses unknown ones: it may have other extensions than this process."""

    name = "type"

    def types(self) -> tuple[str, ...]:
        """The types that are suggested."""
        from toolcrib import plugins
        from toolcrib.servers.transport import TRANSPORTS

        return plugins.names(TRANSPORTS)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return f"[{'|'.join(self.types())}]"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(kind) for kind in self.types() if kind.startswith(incomplete)]


class RemoteTransport(TransportType):
    """The type of a server that has an address."""

    def types(self) -> tuple[str, ...]:
        from toolcrib.servers.transport import remote_types

        return remote_types()

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return click.Choice(self.types()).convert(value, param, ctx)


@declare("Servers", asks=True, cls=AddCommand)
@click.argument("name")
@click.argument("target", nargs=-1, type=click.UNPROCESSED)
@repeatable("--env", "-e", "env", metavar="KEY=VALUE", help="Set an environment variable.")
@repeatable("--header", "-H", "headers", metavar="NAME:VALUE", help="Send this header with each request.")
@click.option("--cwd", metavar="FOLDER", help="The working directory of the command.")
@click.option("--type", "kind", type=TransportType(), help="How the server is started or reached.")
@click.option("--transport", type=RemoteTransport(), help="The protocol of an address.")
@repeatable("--env-allow", metavar="NAME", help="Pass this variable of your environment.")
@repeatable("--include", metavar="PATTERN", help="Offer only tools of this name.")
@repeatable("--exclude", metavar="PATTERN", help="Do not offer tools of this name.")
@click.option(
    "--isolation", type=click.Choice(["shared", "session"]), help="One instance for all, or one per session."
)
@click.option("--start-timeout", type=Seconds(0.001, 86_400), help="Timeout of a start in seconds.")
@click.option("--call-timeout", type=Seconds(0.001, 86_400), help="Timeout of a call in seconds.")
@click.option("--lazy", is_flag=True, help="Start it only when one of its tools is called.")
@click.option("--sandbox", is_flag=True, help="Run it in a sandbox; see docs/sandbox.md.")
@click.option("--disabled", is_flag=True, help="Add it switched off.")
@click.option("--replace", is_flag=True, help="Replace a server of the same name.")
@click.option("--as-is", is_flag=True, help="Add the command unchanged; install nothing.")
@click.option("--program", metavar="NAME", help="The program of the package that is the server.")
@click.option("--python", metavar="VERSION", help="The Python version for the package.")
@repeatable("--with", "also", metavar="REQUIREMENT", help="Another Python package to install.")
@repeatable("--set", "answers", metavar="KEY=VALUE", help="Answer a question of the package.")
@install_view.options
@click.option(
    "--test/--no-test", "test", default=None, help="Test it afterwards; on a terminal this is the default."
)
async def command(surface: Surface, name: str, test: bool | None, **given: Any) -> None:
    """Add the server NAME: one that comes with Toolcrib, a command, an address, or a package to install.

    Adding a server means running its code: the exact command is shown first, and nothing is written or
    started before you agree.

    \b
    toolcrib add websearch
    toolcrib add time pypi:mcp-server-time
    toolcrib add npx -y @modelcontextprotocol/server-memory
    toolcrib add build -- ./tools/server.py --fast
    toolcrib add docs https://example.com/mcp --header 'Authorization: Bearer …'
    """
    from toolcrib.catalog.listing import by_name
    from toolcrib.config.paste.pasted import Install, PastedDocument
    from toolcrib.feature import find_feature

    options = AddOptions(**given)
    listed = None if options.target or options.kind else by_name(name)
    if listed is not None and listed.setting:
        await _turn_on(surface, listed, dry_run=options.dry_run)
        return
    tested = can_ask() if test is None else test
    name, found = read_target(name, options)
    added: Install | dict[str, Any] | None
    if isinstance(found, PastedDocument):
        read_document = find_feature("clients").function("commands.import_:read_document")
        name, added = await read_document(surface, name, found, as_is=options.as_is, dry_run=options.dry_run)
        added = {**added, **options.entry_keys()} if isinstance(added, dict) else added
    else:
        added = found
    if isinstance(added, Install):
        await _install(surface, name or added.name, added, options, tested)
    elif added is not None:
        await _add(surface, name, added, options, tested)


async def _turn_on(surface: Surface, listed: CatalogEntry, *, dry_run: bool) -> None:
    """Turn on what is part of the host and has no entry."""
    if dry_run:
        note(f"{listed.name} would be turned on ({listed.setting} = true).")
        return
    async with surface.reach() as client:
        outcome = await client.settings_set(key=listed.setting, value=True)
    if not surface.answer(outcome):
        say(f"{listed.name} is on ({listed.setting} = true).")


async def _add(surface: Surface, name: str, entry: dict[str, Any], options: AddOptions, tested: bool) -> None:
    from toolcrib.config.aliases import ADDRESS_TYPE
    from toolcrib.config.review import is_bundled

    check_here(entry, as_is=options.as_is)
    probe = "url" in entry and "type" not in entry and not options.disabled
    entry = {"type": ADDRESS_TYPE, **entry} if "url" in entry else entry
    proposal = _propose_secrets(surface, name, entry)
    _show_proposal(proposal)
    if options.dry_run:
        surface.answer(_proposed(proposal, options))
        return
    if not is_bundled(entry):
        action = "Connect to this address" if "url" in entry else "Run this command"
        surface.ask(f"{action} as you, whenever Toolcrib runs?", refused=f"{name} was not added.")
    async with surface.reach() as client:
        outcome = await client.add(
            name=name,
            entry=dict(proposal.entry),
            secrets=dict(proposal.secrets),
            replace=options.replace,
            probe=probe,
            wait=_wait(client, options),
        )
        if surface.answer(outcome):
            return
        if probe:
            _show_transport(outcome)
        await _show_added(surface, client, outcome, tested)


def _wait(client: Client, options: AddOptions) -> float:
    return START_TIMEOUT if client.running and not options.disabled else 0.0


async def _install(surface: Surface, name: str, package: Install, options: AddOptions, tested: bool) -> None:
    from toolcrib.config.paste.parser import needed_folder

    env = {**package.env, **read_pairs(options.env, "=", "--env")}
    proposal = find_secrets(name, {"env": env, "args": list(package.args)})
    folder = options.cwd or package.cwd or needed_folder(package.args)
    check_here({"cwd": folder}, as_is=True)
    async with surface.reach() as client:
        request = partial(
            client.install,
            name=name,
            reference=install_view.absolute_reference(package.reference),
            args=list(proposal.entry["args"]),
            env=dict(proposal.entry["env"]),
            secrets=dict(proposal.secrets),
            extra={**options.entry_keys(), **({"cwd": folder} if folder else {})},
            program=options.program or package.program,
            python=options.python or package.python,
            also=options.also,
            allow_scripts=options.allow_scripts,
            allow_build=options.allow_build,
            offline=options.offline,
            replace=options.replace,
            wait=_wait(client, options),
        )
        answers = install_view.read_answers(options.answers)
        outcome = await install_view.install(surface, request, name, answers, dry_run=options.dry_run)
        if outcome is not None and not surface.answer(outcome):
            install_view.show_installed(outcome["installed"])
            await _show_added(surface, client, outcome, tested, installed=outcome["installed"] is not None)


def _propose_secrets(surface: Surface, name: str, entry: dict[str, Any]) -> EntryProposal:
    """Values that look like secrets are stored as secrets, unless the user wants them in the file."""
    proposal = find_secrets(name, entry)
    if not proposal.secrets:
        return EntryProposal(name=name, entry=entry)
    note(
        f"{', '.join(proposal.secrets)}: looks like a secret, which is better stored outside the config file."
    )
    if surface.yes or not can_ask() or confirm("Store it as a secret?", default=True):
        return proposal
    from toolcrib.config.drafts import map_texts

    return EntryProposal(name=name, entry=entry, shown=map_texts(proposal.entry, _hide_secrets))


def _hide_secrets(text: str) -> str:
    return _SECRET_REFERENCE.sub("(not shown)", text)


def _proposed(proposal: EntryProposal, options: AddOptions) -> ServerAdded:
    """The server that would be added, as `add` prints it."""
    from toolcrib.config.entries import parse_entry
    from toolcrib.config.review import review_entry

    return {
        "name": proposal.name,
        "type": parse_entry(proposal.name, proposal.entry).type,
        "enabled": not options.disabled,
        "entry": dict(proposal.entry),
        "remarks": list(review_entry(proposal.entry)),
        "findings": [],
        "secrets": sorted(proposal.secrets),
        "server": None,
    }


def _show_proposal(proposal: EntryProposal) -> None:
    from toolcrib.config.review import review_entry

    note(f"Server {proposal.name}:")
    for line in describe(proposal):
        note(line)
    for remark in review_entry(proposal.entry):
        label("warning:", "yellow", remark)


def _show_transport(outcome: ServerAdded) -> None:
    from toolcrib.servers.transport import traits_of

    silent = [remark for remark in outcome["remarks"] if remark.startswith("Nothing responds")]
    kind = outcome["type"]
    note(silent[0] if silent else f"{outcome['name']} uses {traits_of(kind).title or kind}.")


async def _show_added(
    surface: Surface, client: Client, outcome: ServerAdded, tested: bool, *, installed: bool = False
) -> None:
    name, server = outcome["name"], outcome["server"]
    say(f"{name} is added.")
    for secret in outcome["secrets"]:
        note(f"The secret {secret} is stored. Your shell history may still contain the command you typed.")
    for finding in outcome["findings"]:
        label("warning:", "yellow", revealed(finding))
    if outcome["findings"]:
        note(f"Flagged tools are held until you review them: toolcrib trust {name}")
    if server is not None:
        say(describe_server(server))
    troubled = server is not None and server["state"] in ("backoff", "failed") and installed
    if troubled or (server is None and tested and outcome["enabled"]):
        await try_and_repair(surface, client, name)
    elif server is None and outcome["enabled"]:
        note(f"Test it with: toolcrib test {name}")
    _show_accounts(name)


def _show_accounts(name: str) -> None:
    """Say which account a bundled server needs."""
    from toolcrib.catalog.listing import by_name

    listed = by_name(name)
    if listed is not None and listed.accounts:
        ways = " or ".join(f"toolcrib account add {kind} NAME" for kind in listed.accounts)
        note(f"It uses your accounts; add one with: {ways}")
