"""`profile_remove`: take a view out of the config file; its clients are cut off, its token is void."""

from __future__ import annotations

import asyncio

from toolcrib.config.profiles import remove_profile
from toolcrib.control.answers.gateway import ProfileRemoved
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The view."""

    name: str


def needs(params: Params, configured: Configured) -> Needs:
    """A change of the file."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ProfileRemoved:
    """`{name, removed}`."""
    await asyncio.to_thread(remove_profile, host.config_store, params.name)
    await host.reload()
    return {"name": params.name, "removed": True}
