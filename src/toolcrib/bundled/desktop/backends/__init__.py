"""The desktops that can be controlled: one folder for each, or a module of another package. Decides which one
is used for this system and session, with the error if there is none.

Another package offers its backend under the entry-point group `toolcrib.bundled.desktop.backends`. A backend
has what `BackendModule` says, and keeps the contract in `desktop/backend.py`. If a platform has several kinds
of sessions, `suits_session()` says whether a backend is the one for the user's. `FALLBACK_FOR` names
platforms on which a backend is used if there is no other.
"""

from __future__ import annotations

import sys
from typing import Any, Protocol, cast

from toolcrib import plugins
from toolcrib.bundled.desktop.backend import Backend, SetupProblem
from toolcrib.serverkit.context import ToolFailure


class BackendModule(Protocol):
    PLATFORM: str
    """The start of `sys.platform`; empty for all."""

    def user_target(self) -> Any:
        """The desktop of the user's session."""

    def probe(self, target: Any) -> list[SetupProblem]:
        """What is missing to control it, and what to do."""

    async def open_backend(self, target: Any) -> Backend: ...


def backend_module(platform: str = sys.platform) -> BackendModule:
    """The backend for this system and the user's session; raises `ToolFailure` if there is none."""
    modules = [cast("Any", plugins.find(__name__, name)) for name in plugins.names(__name__)]
    fitting = [module for module in modules if platform.startswith(module.PLATFORM)]
    for suits in (_suits_session, _is_usual, lambda module: platform in getattr(module, "FALLBACK_FOR", ())):
        for module in fitting:
            if suits(module):
                chosen: BackendModule = module
                return chosen
    raise ToolFailure(
        f"There is no backend for desktops of {platform}.",
        "Set MACOS_USE_SERVER_ADDR to the gRPC server of a Linux or macOS desktop, or install a package "
        "with a backend for this system.",
    )


def _suits_session(module: Any) -> bool:
    return hasattr(module, "suits_session") and bool(module.suits_session())


def _is_usual(module: Any) -> bool:
    return not hasattr(module, "suits_session")
