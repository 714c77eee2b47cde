"""Finds out how an address is spoken to, by trying the transports that say so, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.config.entries import parse_entry
from toolcrib.errors import AuthRequired
from toolcrib.host import Host
from toolcrib.servers.transport import probed_types
from toolcrib.servers.trial import try_server

PATIENCE = 10.0
"""Seconds for each step of a try."""


async def find_kind(host: Host, name: str, entry: Mapping[str, Any]) -> str | None:
    """The type under which the address answers; None when it answers under none."""
    for kind in probed_types():
        wanted = {**entry, "type": kind, "timeouts": {"start": PATIENCE}, "sseFallback": False}
        trial = await try_server(host.connector, parse_entry(name, wanted))
        # Whoever asks for a sign-in has understood the question.
        if trial.ok or isinstance(trial.error, AuthRequired):
            return kind
    return None
