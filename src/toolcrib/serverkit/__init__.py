"""Write MCP servers with little code and a fast start.

    server = ToolServer("clock", "1.0")

    @server.tool(read_only=True)
    def now() -> str: ...

`functions` turns typed Python functions into tools, `server` and `session` speak both eras of MCP, `stdio`
serves another process, `confined` limits file access to given folders, `network` fetches from public
addresses only. Nothing here imports the host or the MCP SDK. Public names are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.loading import lazy_names

if TYPE_CHECKING:
    from toolcrib.serverkit.confined import Roots
    from toolcrib.serverkit.context import ToolContext, ToolFailure
    from toolcrib.serverkit.descriptions import describe
    from toolcrib.serverkit.results import Audio, Image, text_result
    from toolcrib.serverkit.server import ToolServer
    from toolcrib.serverkit.stdio import serve

_MODULES = {
    "Audio": "results",
    "Image": "results",
    "Roots": "confined",
    "ToolContext": "context",
    "ToolFailure": "context",
    "ToolServer": "server",
    "describe": "descriptions",
    "serve": "stdio",
    "text_result": "results",
}

__all__ = [
    "Audio",
    "Image",
    "Roots",
    "ToolContext",
    "ToolFailure",
    "ToolServer",
    "describe",
    "serve",
    "text_result",
]

__getattr__ = lazy_names(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
