"""`profile_add`: write a view of the crib into the config file; a gateway that runs serves it at once."""

from __future__ import annotations

import asyncio

from pydantic import Field

from toolcrib.config.profiles import put_profile
from toolcrib.control.answers.gateway import ProfileShown
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.shapes import profile_json
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The view."""

    name: str
    servers: list[str] = Field(default_factory=list)
    tools: list[str] = Field(default_factory=list)
    read_only: bool = False
    search: bool = False
    plain_names: bool = False
    k: int | None = Field(default=None, ge=1, le=50)
    always_on: list[str] | None = None
    replace: bool = False


def needs(params: Params, configured: Configured) -> Needs:
    """A change of the file."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ProfileShown:
    """The view as `profile_list` shows it."""
    for server in params.servers:
        check_server(host, server)
    view = {_KEYS[key]: value for key, value in params if key in _KEYS and value not in (None, False, [])}
    await asyncio.to_thread(put_profile, host.config_store, params.name, view, replace=params.replace)
    await host.reload()
    return profile_json(host.settings, params.name)


_KEYS = {
    "servers": "servers",
    "tools": "tools",
    "read_only": "readOnly",
    "search": "search",
    "plain_names": "plainNames",
    "k": "k",
    "always_on": "alwaysOn",
}
"""As they stand in the file."""
