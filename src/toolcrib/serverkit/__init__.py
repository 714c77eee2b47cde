"""What a bundled server may use; light enough that such a server starts in a tenth of a second.

`functions` turns typed Python functions into tools, `server` and `session` speak MCP of both eras for them,
`stdio` serves them to another process, `confined` keeps file access inside given folders. Nothing here knows
the host, and nothing here loads the MCP SDK. Public names are resolved on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolcrib.serverkit.command import serve
    from toolcrib.serverkit.confined import Roots
    from toolcrib.serverkit.context import ToolContext
    from toolcrib.serverkit.failure import ToolFailure
    from toolcrib.serverkit.results import text_result
    from toolcrib.serverkit.server import ToolServer

_HOMES = {
    "Roots": "confined",
    "ToolContext": "context",
    "ToolFailure": "failure",
    "ToolServer": "server",
    "serve": "command",
    "text_result": "results",
}

__all__ = ["Roots", "ToolContext", "ToolFailure", "ToolServer", "serve", "text_result"]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return __all__
