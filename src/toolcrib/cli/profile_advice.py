"""Looks at what a client's entry points at, and says what would not work: a word beforehand, never a refusal.

The gateway may belong to another home or another machine; only what this home's own file says is known.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from toolcrib.cli.output import label
from toolcrib.config.client_files.gateway import Address, Program
from toolcrib.config.paths import Paths
from toolcrib.config.profiles import unknown_profile
from toolcrib.config.settings import Settings
from toolcrib.config.tokens import fits
from toolcrib.errors import ToolcribError

_HERE = frozenset({"127.0.0.1", "localhost", "::1"})


def advise(paths: Paths, profile: str, gateway: Program | Address) -> None:
    """Warn of a profile that is not there, and of a token that is missing or does not fit."""
    settings = _settings(paths)
    if settings is None or (isinstance(gateway, Address) and urlsplit(gateway.url).hostname not in _HERE):
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
        return [f"This is not the token. Make a new one with: toolcrib profiles token {profile}".rstrip()]
    if not gateway.token and not gateway.token_variable:
        return ["A token is needed there: add --token or --token-env VAR."]
    return []


def _settings(paths: Paths) -> Settings | None:
    """Of this home; None where there is nothing to go by. Nothing is written."""
    from toolcrib.config.contents import interpret
    from toolcrib.config.document import parse_document

    try:
        return interpret(parse_document(paths.config_file.read_bytes()), "").settings
    except (OSError, ToolcribError):
        return None
