"""Lists the MCP clients on this machine, and warns about entries that would not work."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from toolcrib.cli.output import label, show_table
from toolcrib.cli.surface import Surface
from toolcrib.config.paths import Paths
from toolcrib.config.settings import Settings
from toolcrib.config.settings_file import unknown_profile
from toolcrib.config.tokens import fits
from toolcrib.errors import ToolcribError
from toolcrib.features.clients.files.file_changes import client_states
from toolcrib.features.clients.files.gateway import Address, Program
from toolcrib.schema.json_values import to_json

if TYPE_CHECKING:
    from toolcrib.features.clients.files.file_changes import KnownClient

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def show_clients(surface: Surface) -> None:
    """List the clients: which are installed, and which are connected."""
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


def warn_about_profile(paths: Paths, profile: str, gateway: Program | Address) -> None:
    """Warn about an unknown profile, and a token that is missing or wrong.

    Only gateways of this home are checked; others may have other settings.
    """
    settings = _settings(paths)
    remote = isinstance(gateway, Address) and urlsplit(gateway.url).hostname not in _LOOPBACK
    if settings is None or remote:
        return
    for text in _warnings(settings, profile, gateway):
        label("warning:", "yellow", text)


def _warnings(settings: Settings, profile: str, gateway: Program | Address) -> list[str]:
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
