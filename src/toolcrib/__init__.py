"""Toolcrib: the tool room for AI agents.

    async with toolcrib.open_host() as host:
        result = await host.call("demo__add", {"a": 1, "b": 2})

Public names are resolved on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolcrib.errors import ToolcribError
    from toolcrib.host import Host, open_host
    from toolcrib.schema.servers import ServerState, ServerStatus
    from toolcrib.schema.tools import Principal, Tool
    from toolcrib.servers.sessions.handlers import Handlers

__version__ = "0.1.0"

_HOMES = {
    "Handlers": "servers.sessions.handlers",
    "Host": "host",
    "Principal": "schema.tools",
    "ServerState": "schema.servers",
    "ServerStatus": "schema.servers",
    "Tool": "schema.tools",
    "ToolcribError": "errors",
    "open_host": "host",
}

__all__ = [
    "Handlers",
    "Host",
    "Principal",
    "ServerState",
    "ServerStatus",
    "Tool",
    "ToolcribError",
    "__version__",
    "open_host",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return __all__
