"""The desktops that can be controlled: one folder for each, found by being here.

A backend has `PLATFORM` (as in `sys.platform`), `user_target()` for the desktop of the user's session,
`probe(target)`, which lists what is missing, and `open_backend(target)`. If a platform has several kinds of
sessions, `suits_session()` says whether a backend is the one for the user's.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from typing import Any, Protocol

from toolcrib.bundled.desktop.backend import Backend, Problem
from toolcrib.serverkit.context import ToolFailure


class BackendModule(Protocol):
    PLATFORM: str

    def user_target(self) -> Any: ...

    def probe(self, target: Any) -> list[Problem]: ...

    async def open_backend(self, target: Any) -> Backend: ...


def backend_module(platform: str = sys.platform) -> BackendModule:
    """The backend for this system and the user's session; raises `ToolFailure` if there is none."""
    usual: BackendModule | None = None
    for module in _modules(platform):
        if not hasattr(module, "suits_session"):
            usual = usual or module
        elif module.suits_session():
            chosen: BackendModule = module
            return chosen
    if usual is None:
        raise ToolFailure(
            f"Desktops of {platform} cannot be controlled.", "Use a Linux, macOS or Windows system."
        )
    return usual


def _modules(platform: str) -> Iterator[Any]:
    for found in pkgutil.iter_modules(__path__):
        if found.ispkg:
            module: Any = importlib.import_module(f"{__name__}.{found.name}")
            if platform.startswith(getattr(module, "PLATFORM", "\0")):
                yield module
