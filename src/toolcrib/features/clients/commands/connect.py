"""`toolcrib connect`: show, write or remove the entry by which an MCP client uses Toolcrib; its options,
questions, list of clients, and warnings about profiles and tokens.

It edits the user's files in this process: a running host may have another environment.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import label, note, say, show_table
from toolcrib.cli.questions import ask_unseen
from toolcrib.cli.safe_text import revealed
from toolcrib.cli.surface import Surface
from toolcrib.errors import ConfigError, ToolcribError, UsageError
from toolcrib.features.clients.commands import client_completion
from toolcrib.schema.json_values import to_json

if TYPE_CHECKING:
    from toolcrib.config.paths import Paths
    from toolcrib.config.settings import Settings
    from toolcrib.features.clients.files.client import McpClient
    from toolcrib.features.clients.files.file_changes import FileChange, KnownClient
    from toolcrib.features.clients.files.gateway import Address, Program

NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LONGEST_TOKEN = 4096
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, kw_only=True)
class WantedEntry:
    """The entry that a client is to have, and its file."""

    name: str
    client: McpClient
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


@declare("Host", asks=True)
@click.argument("client", required=False, shell_complete=client_completion)
@click.option("--print", "only_print", is_flag=True, help="Print the entry; write nothing.")
@click.option("--remove", is_flag=True, help="Remove the entry.")
@click.option("--name", default="toolcrib", show_default=True, help="The name of the entry in the client.")
@click.option(
    "--profile",
    default="",
    metavar="PROFILE",
    shell_complete=completion.profiles,
    help="Offer only this profile.",
)
@click.option(
    "--http", "url", metavar="URL", help="Connect to a running gateway, such as http://127.0.0.1:8765/mcp."
)
@click.option(
    "--token", "with_token", is_flag=True, help="Send a token; it is read from a hidden prompt or stdin."
)
@click.option(
    "--token-env", "variable", default="", metavar="VAR", help="The client reads the token from VAR."
)
@click.option("--show-token", is_flag=True, help="Print the token instead of hiding it.")
@click.option(
    "--file", type=click.Path(path_type=Path), help="Use this file instead of the client's default."
)
def command(surface: Surface, client: str | None, name: str, **options: Any) -> None:
    """Connect an MCP client to Toolcrib.

    Without CLIENT, lists the clients: which are installed, and which are connected.
    With CLIENT, shows the entry and its file, asks, and writes it; the rest of the file stays unchanged.
    The client starts the gateway itself, unless --http gives the address of a running one.
    """
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not a valid name.", hint="Use letters, digits, - and _.")
    if client is None:
        _show_clients(surface)
        return
    wanted = _prepare(surface, client, name, options)
    if options["only_print"]:
        if not surface.answer(wanted.as_json(written=False)):
            note(f"For {wanted.client.title}, in {wanted.file}:")
            say(wanted.snippet)
        return
    (_remove if options["remove"] else _connect)(surface, wanted)


def _prepare(surface: Surface, name: str, entry_name: str, options: dict[str, Any]) -> WantedEntry:
    from toolcrib.features.clients.files.client import client_name, find_client, snippet
    from toolcrib.features.clients.files.gateway import Address, find_user_folders

    client = find_client(name).here(find_user_folders())
    gateway = _gateway(surface, options)
    if not options["remove"]:
        _warn_about_profile(surface.paths, options["profile"], gateway)
    hidden = gateway.hidden() if isinstance(gateway, Address) and not options["show_token"] else gateway
    shown = client.entry(entry_name, hidden)
    file = options["file"].absolute() if options["file"] else client.file(find_user_folders())
    return WantedEntry(
        name=client_name(name),
        client=client,
        entry_name=entry_name,
        file=file,
        entry=client.entry(entry_name, gateway),
        snippet=snippet(client, entry_name, shown),
        shown=shown,
    )


def _gateway(surface: Surface, options: dict[str, Any]) -> Program | Address:
    from toolcrib.features.clients.files.gateway import find_program, make_address

    profile, url, variable = options["profile"], options["url"], options["variable"]
    if profile and not NAME.fullmatch(profile):
        raise UsageError(f"{profile!r} is not a valid profile name.", hint="Use letters, digits, - and _.")
    if url is None:
        if options["with_token"] or variable:
            raise UsageError("A token needs the address of a gateway.", hint="Add --http URL.")
        program = find_program(profile, surface.paths.home)
        if program.passing:
            label(
                "warning:",
                "yellow",
                f"{program.command} is in a cache that may be cleared: install Toolcrib permanently.",
            )
        return program
    if variable and not VARIABLE.fullmatch(variable):
        raise UsageError("--token-env takes the name of a variable.", hint="For example TOOLCRIB_TOKEN.")
    token = _read_token() if options["with_token"] and not options["remove"] else ""
    return make_address(url, profile, token=token, token_variable=variable)


def _read_token() -> str:
    """Read it from a prompt or stdin; other users can read command lines."""
    token = (ask_unseen("Token") if sys.stdin.isatty() else sys.stdin.read(LONGEST_TOKEN + 1)).strip()
    if (
        not token
        or len(token) > LONGEST_TOKEN
        or not token.isascii()
        or not token.isprintable()
        or " " in token
    ):
        raise UsageError("That is not a valid token.", hint="Enter it at the prompt, or pass it on stdin.")
    return token


def _connect(surface: Surface, wanted: WantedEntry) -> None:
    from toolcrib.features.clients.files.file_changes import plan_connection, write_change
    from toolcrib.features.clients.files.gateway import find_user_folders

    title = wanted.client.title
    try:
        change = plan_connection(wanted.client, wanted.file, wanted.entry_name, wanted.entry)
        if change.needed:
            _show(surface, wanted, change)
            if not wanted.client.is_here(find_user_folders()):
                note(f"{title} does not seem to be installed here.")
            surface.ask("Write it?", refused=f"{title} was not connected.")
            write_change(change)
    except ConfigError as error:
        raise _refused(wanted, error) from error
    if surface.answer(wanted.as_json(change.needed)):
        return
    if not change.needed:
        say(f"{title} is already connected: {wanted.file}")
        return
    say(f"{title} is connected. {wanted.client.afterwards}")
    if change.before is not None:
        note(f"The previous file is kept as {change.backup}.")


def _remove(surface: Surface, wanted: WantedEntry) -> None:
    from toolcrib.features.clients.files.file_changes import plan_removal, write_change

    title = wanted.client.title
    try:
        change = plan_removal(wanted.client, wanted.file, wanted.entry_name)
        if change.needed:
            question = f"Remove {wanted.entry_name} from {wanted.file}?"
            surface.ask(question, refused=f"{title} was not changed.")
            write_change(change)
    except ConfigError as error:
        hint = f"Nothing was changed. Remove {wanted.entry_name} from it by hand."
        raise ConfigError(_about(wanted, error), hint=hint) from error
    if surface.answer({**wanted.as_json(change.needed), "entry": None, "snippet": ""}):
        return
    if change.needed:
        say(f"{title} is no longer connected. {wanted.client.afterwards}")
    else:
        say(f"{title} has no entry called {wanted.entry_name}.")


def _show(surface: Surface, wanted: WantedEntry, change: FileChange) -> None:
    if surface.json:
        return
    verb = "Changes the entry in" if change.replaces else "Adds to"
    note(f"{verb} {wanted.file}" + (f", which is {change.file}" if change.file != wanted.file else ""))
    note("\n".join(f"  {revealed(line)}" for line in wanted.snippet.splitlines()))


def _refused(wanted: WantedEntry, error: ConfigError) -> ConfigError:
    """The error with the entry, which the user can paste."""
    if error.hint.startswith("Run the command again"):
        return error
    return ConfigError(
        _about(wanted, error), hint=f"Nothing was changed. Add this by hand:\n{wanted.snippet}"
    )


def _about(wanted: WantedEntry, error: ConfigError) -> str:
    return error.message if str(wanted.file) in error.message else f"{wanted.file}: {error.message}"


def _show_clients(surface: Surface) -> None:
    """List the clients: which are installed, and which are connected."""
    from toolcrib.features.clients.files.file_changes import client_states

    states = client_states()
    if surface.answer(to_json(states)):
        return
    rows = [[state.client, _yes(state.found), _connected(state), state.file] for state in states]
    show_table(["CLIENT", "INSTALLED", "CONNECTED", "FILE"], rows, colour=_colour)
    for state in states:
        if state.problem:
            label("warning:", "yellow", state.problem)


def _connected(state: KnownClient) -> str:
    if state.connected is None:
        return "unreadable"
    names = [name for name in state.names if name != "toolcrib"]
    return f"yes ({', '.join(names)})" if names else _yes(state.connected)


def _yes(value: bool) -> str:
    return "yes" if value else "-"


def _colour(column: int, text: str) -> str:
    if column == 2 and text == "unreadable":
        return "red"
    return "green" if column == 2 and text != "-" else ""


def _warn_about_profile(paths: Paths, profile: str, gateway: Program | Address) -> None:
    """Warn about an unknown profile, and a token that is missing or wrong.

    Only gateways of this home are checked; others may have other settings.
    """
    from toolcrib.features.clients.files.gateway import Address

    settings = _settings(paths)
    remote = isinstance(gateway, Address) and urlsplit(gateway.url).hostname not in _LOOPBACK
    if settings is None or remote:
        return
    for text in _warnings(settings, profile, gateway):
        label("warning:", "yellow", text)


def _warnings(settings: Settings, profile: str, gateway: Program | Address) -> list[str]:
    from toolcrib.config.settings_file import unknown_profile
    from toolcrib.config.tokens import fits
    from toolcrib.features.clients.files.gateway import Program

    if profile and profile not in settings.profiles:
        error = unknown_profile(profile, settings.profiles)
        return [f"{error.message} {error.hint}"]
    needed = settings.profiles[profile].token_hash if profile else settings.gateway.token_hash
    if isinstance(gateway, Program) or not needed:
        return []
    if gateway.token and not fits(gateway.token, needed):
        return [f"The token is wrong. Make a new one with: toolcrib profiles token {profile}".rstrip()]
    if not gateway.token and not gateway.token_variable:
        return ["This gateway requires a token: add --token or --token-env VAR."]
    return []


def _settings(paths: Paths) -> Settings | None:
    """The settings of this home; None if they cannot be read. Nothing is written."""
    from toolcrib.config.contents import interpret
    from toolcrib.config.document import parse_document

    try:
        return interpret(parse_document(paths.config_file.read_bytes()), "").settings
    except (OSError, ToolcribError):
        return None
