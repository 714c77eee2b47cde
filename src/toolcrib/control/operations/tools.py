"""`tools`: every tool there is, or those of one server."""

from __future__ import annotations

import asyncio

from pydantic import Field

from toolcrib.control.answers.tools import ToolInfo
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import UP, check_server, not_up
from toolcrib.control.needs import EVERYTHING, Configured, Emit, Needs
from toolcrib.control.shapes import tool_json
from toolcrib.host import Host
from toolcrib.schema.servers import ServerState

FOR_PAGES = True


class Params(OperationParams):
    """Which server's, and whether those that are switched off too."""

    server: str | None = None
    disabled: bool = False
    wait: float = Field(default=20.0, ge=0, le=3600)


def needs(params: Params, configured: Configured) -> Needs:
    """The server that was named, or all of them."""
    return EVERYTHING if params.server is None else Needs(servers=(params.server,))


async def run(host: Host, params: Params, emit: Emit) -> list[ToolInfo]:
    """An array of tools, in order of name; raises `ServerNotReady` when the server that was named is away."""
    if params.server is not None and not host.tools(params.server, disabled=True):
        check_server(host, params.server)
    await _settle(host, params)
    tools = host.tools(params.server, disabled=params.disabled)
    if params.server is not None and not host.tools(params.server, disabled=True):
        _check_up(host, params.server)
    return [tool_json(tool) for tool in sorted(tools, key=lambda tool: tool.name)]


async def _settle(host: Host, params: Params) -> None:
    try:
        async with asyncio.timeout(params.wait):
            if params.server is None:
                await host.servers.settle()
            elif params.server in host.config.servers:
                await host.servers[params.server].settled()
    except TimeoutError:
        pass


def _check_up(host: Host, name: str) -> None:
    status = host.servers.status(name)
    if status.state not in (*UP, ServerState.DISABLED):
        raise not_up(status)
