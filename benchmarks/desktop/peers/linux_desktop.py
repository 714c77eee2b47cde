"""linux-desktop-mcp: AT-SPI through PyGObject, and xdotool.

Its dependency PyGObject has no wheels: it is built from source, which needs the development files of cairo
and GObject introspection. Without them it cannot be installed, and the table says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager

from benchmarks.desktop.connections import stdio
from benchmarks.desktop.contract import Connection, Script
from benchmarks.desktop.installing import environment_of

TITLE = "linux-desktop-mcp"
SCRIPTS: Mapping[str, Script] = {}


def install() -> None:
    environment_of("linux-desktop-mcp")


def open(environment: Mapping[str, str]) -> AbstractAsyncContextManager[Connection]:  # noqa: A001
    return stdio([str(environment_of("linux-desktop-mcp") / "linux-desktop-mcp")], environment)
