"""Write MCP servers with little code and a fast start.

    server = ToolServer("clock", "1.0")

    @server.tool(read_only=True)
    def now() -> str: ...

`functions` turns typed Python functions into tools, `server` and `session` speak both eras of MCP, `stdio`
serves another process, `confined` limits file access to given folders, `network` fetches from public
addresses only. Nothing here imports the host or the MCP SDK. Public names are imported on first use.

Other packages may rely on the names of `__all__`, here and in `network`; `docs/serverkit.md` has the promise.
Every other module is internal: it may change in any release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.loading import lazy_names

if TYPE_CHECKING:
    from toolcrib.serverkit.confined import Roots
    from toolcrib.serverkit.context import ToolContext, ToolFailure
    from toolcrib.serverkit.descriptions import describe
    from toolcrib.serverkit.html_text import html_to_text
    from toolcrib.serverkit.readiness import Lack
    from toolcrib.serverkit.results import Audio, Image, text_result
    from toolcrib.serverkit.server import ToolServer
    from toolcrib.serverkit.stdio import serve
    from toolcrib.serverkit.threads import in_thread
    from toolcrib.serverkit.visible_text import one_line, visible

__version__ = "1.0"
"""The version of the public names: a minor one adds, a major one may change or remove."""

_MODULES = {
    "Audio": "results",
    "Image": "results",
    "Lack": "readiness",
    "Roots": "confined",
    "ToolContext": "context",
    "ToolFailure": "context",
    "ToolServer": "server",
    "describe": "descriptions",
    "html_to_text": "html_text",
    "in_thread": "threads",
    "one_line": "visible_text",
    "serve": "stdio",
    "text_result": "results",
    "visible": "visible_text",
}

__all__ = [
    "Audio",
    "Image",
    "Lack",
    "Roots",
    "ToolContext",
    "ToolFailure",
    "ToolServer",
    "__version__",
    "describe",
    "html_to_text",
    "in_thread",
    "one_line",
    "serve",
    "text_result",
    "visible",
]

__getattr__ = lazy_names(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
