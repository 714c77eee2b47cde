"""`toolcrib connect`: the entry by which an MCP client uses this crib, shown, written, or taken out again.

Works on this person's own files, in this process: a running host may belong to another session.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli import completion
from toolcrib.cli.client_list import show_clients
from toolcrib.cli.declare import declare
from toolcrib.cli.output import label, note, say
from toolcrib.cli.questions import ask_unseen
from toolcrib.cli.safe_text import revealed
from toolcrib.cli.surface import Surface
from toolcrib.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from toolcrib.config.client_files.client import Client
    from toolcrib.config.client_files.editing import Change
    from toolcrib.config.client_files.gateway import Address, Program

NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LONGEST_TOKEN = 4096


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is to be done, to which file."""

    name: str
    client: Client
    entry_name: str
    file: Path
    entry: dict[str, Any]
    snippet: str
    shown: dict[str, Any]

    def as_json(self, written: bool) -> dict[str, Any]:
        """The documented `--json`."""
        return {
            "client": self.name,
            "file": str(self.file),
            "entry": self.shown,
            "written": written,
            "snippet": self.snippet,
        }


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from toolcrib.config.client_files.client import client_names

    return [name for name in client_names() if name.startswith(incomplete)]


@declare("Host", asks=True)
@click.argument("client", required=False, shell_complete=_complete)
@click.option("--print", "only_print", is_flag=True, help="Print the entry; write nothing.")
@click.option("--remove", is_flag=True, help="Take the entry out again.")
@click.option("--name", default="toolcrib", show_default=True, help="What the client calls this crib.")
@click.option(
    "--profile",
    default="",
    metavar="PROFILE",
    shell_complete=completion.profiles,
    help="Only what this profile shows.",
)
@click.option("--http", "url", metavar="URL", help="By address, such as http://127.0.0.1:8765/mcp.")
@click.option("--token", "with_token", is_flag=True, help="Send a token, from a hidden prompt or stdin.")
@click.option("--token-env", "variable", default="", metavar="VAR", help="The client finds the token in VAR.")
@click.option("--show-token", is_flag=True, help="Show the token in what is printed.")
@click.option("--file", type=click.Path(path_type=Path), help="Another file than the client's usual one.")
def command(surface: Surface, client: str | None, name: str, **options: Any) -> None:
    """Connect an MCP client to this crib.

    Without CLIENT, lists the clients: which are here, and which are connected.
    With one, shows the entry and its file, asks, and writes it; everything else in the file stays.
    The client starts the gateway itself, unless --http gives the address of one that runs.
    """
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name.", hint="Use letters, digits, - and _.")
    if client is None:
        show_clients(surface)
        return
    asked = _ask_for(surface, client, name, options)
    if options["only_print"]:
        if not surface.answer(asked.as_json(written=False)):
            note(f"For {asked.client.title}, in {asked.file}:")
            say(asked.snippet)
        return
    (_remove if options["remove"] else _connect)(surface, asked)


def _ask_for(surface: Surface, name: str, entry_name: str, options: dict[str, Any]) -> Asked:
    from toolcrib.cli.profile_advice import advise
    from toolcrib.config.client_files.client import client_name, find_client
    from toolcrib.config.client_files.gateway import Address
    from toolcrib.config.client_files.places import find_places
    from toolcrib.config.client_files.tables import snippet

    client = find_client(name).here(find_places())
    gateway = _gateway(surface, options)
    if not options["remove"]:
        advise(surface.paths, options["profile"], gateway)
    hidden = gateway.hidden() if isinstance(gateway, Address) and not options["show_token"] else gateway
    shown = client.entry(entry_name, hidden)
    file = options["file"].absolute() if options["file"] else client.file(find_places())
    return Asked(
        name=client_name(name),
        client=client,
        entry_name=entry_name,
        file=file,
        entry=client.entry(entry_name, gateway),
        snippet=snippet(client, entry_name, shown),
        shown=shown,
    )


def _gateway(surface: Surface, options: dict[str, Any]) -> Program | Address:
    from toolcrib.config.client_files.gateway import find_program, make_address

    profile, url, variable = options["profile"], options["url"], options["variable"]
    if profile and not NAME.fullmatch(profile):
        raise UsageError(f"{profile!r} is no profile's name.", hint="Use letters, digits, - and _.")
    if url is None:
        if options["with_token"] or variable:
            raise UsageError("A token is for a gateway with an address.", hint="Add --http URL.")
        program = find_program(profile, surface.paths.home)
        if program.passing:
            label(
                "warning:", "yellow", f"{program.command} is in a cache, and may go away: install Toolcrib."
            )
        return program
    if variable and not VARIABLE.fullmatch(variable):
        raise UsageError("--token-env wants the name of a variable.", hint="Such as TOOLCRIB_TOKEN.")
    token = _read_token() if options["with_token"] and not options["remove"] else ""
    return make_address(url, profile, token=token, token_variable=variable)


def _read_token() -> str:
    """Never from the command line, which everyone on the machine can read."""
    token = (ask_unseen("Token") if sys.stdin.isatty() else sys.stdin.read(LONGEST_TOKEN + 1)).strip()
    if (
        not token
        or len(token) > LONGEST_TOKEN
        or not token.isascii()
        or not token.isprintable()
        or " " in token
    ):
        raise UsageError("That is no token.", hint="Give it on stdin, or at the prompt.")
    return token


def _connect(surface: Surface, asked: Asked) -> None:
    from toolcrib.config.client_files.editing import plan_connection, write_change
    from toolcrib.config.client_files.places import find_places

    title = asked.client.title
    try:
        change = plan_connection(asked.client, asked.file, asked.entry_name, asked.entry)
        if change.needed:
            _show(surface, asked, change)
            if not asked.client.is_here(find_places()):
                note(f"{title} does not seem to be installed here.")
            surface.ask("Write it?", refused=f"{title} was not connected.")
            write_change(change)
    except ConfigError as error:
        raise _refused(asked, error) from error
    if surface.answer(asked.as_json(change.needed)):
        return
    if not change.needed:
        say(f"{title} is connected already: {asked.file}")
        return
    say(f"{title} is connected. {asked.client.afterwards}")
    if change.before is not None:
        note(f"The file as it was is kept as {change.backup}.")


def _remove(surface: Surface, asked: Asked) -> None:
    from toolcrib.config.client_files.editing import plan_removal, write_change

    title = asked.client.title
    try:
        change = plan_removal(asked.client, asked.file, asked.entry_name)
        if change.needed:
            question = f"Take {asked.entry_name} out of {asked.file}?"
            surface.ask(question, refused=f"{title} was not changed.")
            write_change(change)
    except ConfigError as error:
        hint = f"Nothing was changed. Take {asked.entry_name} out of it by hand."
        raise ConfigError(_about(asked, error), hint=hint) from error
    if surface.answer({**asked.as_json(change.needed), "entry": None, "snippet": ""}):
        return
    if change.needed:
        say(f"{title} is no longer connected. {asked.client.afterwards}")
    else:
        say(f"{title} has no entry called {asked.entry_name}.")


def _show(surface: Surface, asked: Asked, change: Change) -> None:
    if surface.json:
        return
    verb = "Changes the entry in" if change.replaces else "Goes into"
    note(f"{verb} {asked.file}" + (f", which is {change.file}" if change.file != asked.file else ""))
    note("\n".join(f"  {revealed(line)}" for line in asked.snippet.splitlines()))


def _refused(asked: Asked, error: ConfigError) -> ConfigError:
    """Nothing is lost: the person can paste what we would have written."""
    if error.hint.startswith("Run the command again"):
        return error
    return ConfigError(
        _about(asked, error), hint=f"Nothing was changed. Put this into it by hand:\n{asked.snippet}"
    )


def _about(asked: Asked, error: ConfigError) -> str:
    return error.message if str(asked.file) in error.message else f"{asked.file}: {error.message}"
