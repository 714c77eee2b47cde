"""`profile_token`: keep a view for whoever has a token, of which a hash and the last characters come here."""

from __future__ import annotations

import asyncio

from pydantic import Field

from toolcrib.config.profiles import set_token_hash
from toolcrib.control.answers.gateway import ProfileShown
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.shapes import profile_json
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The view, by name or without one, and the hash of its token; empty takes the token away.

    `tail` is shown to tell the token from others.
    """

    name: str = ""
    token_hash: str = Field(default="", max_length=200, pattern=r"^(sha256:[0-9a-f]+:[0-9a-f]{64})?$")
    tail: str = Field(default="", pattern=r"^[A-Za-z0-9_-]{0,4}$")


def needs(params: Params, configured: Configured) -> Needs:
    """A change of the file."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ProfileShown:
    """The view as `profile_list` shows it."""
    store = host.config_store
    await asyncio.to_thread(set_token_hash, store, params.name, params.token_hash, tail=params.tail)
    await host.reload()
    return profile_json(host.settings, params.name)
