"""`settings_show`: all settings as they hold now, and which of them the config file says something about."""

from __future__ import annotations

import asyncio

from toolcrib.config.document import parse_document
from toolcrib.config.settings_file import given_keys, known_keys, shown
from toolcrib.control.answers.settings import SettingsShown
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """They are in the file."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> SettingsShown:
    """`{settings, given, known, file}`."""
    file = host.config_store.path
    document = parse_document(await asyncio.to_thread(file.read_bytes), file.name)
    return {
        "settings": shown(host.settings),
        "given": given_keys(document.data),
        "known": known_keys(),
        "file": str(file),
    }
