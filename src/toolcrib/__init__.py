"""Toolcrib: the tool room for AI agents.

    async with toolcrib.open_host() as host:
        result = await host.call("demo__add", {"a": 1, "b": 2})

Public names are imported on first use, so that `import toolcrib` is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.loading import lazy_names
from toolcrib.version import __version__

if TYPE_CHECKING:
    from toolcrib.errors import ToolcribError
    from toolcrib.host import Host, open_host
    from toolcrib.schema.servers import ServerState, ServerStatus
    from toolcrib.schema.tools import Principal, Tool
    from toolcrib.servers.sessions.handlers import Handlers

_MODULES = {
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

__getattr__ = lazy_names(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
