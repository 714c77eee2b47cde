"""The frameworks of macOS through pyobjc, loaded when they are first used."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from toolcrib.serverkit.context import ToolFailure


@dataclass(frozen=True)
class Frameworks:
    """pyobjc's modules make their names at run time, so there is nothing to check their types against."""

    quartz: Any
    services: Any
    """ApplicationServices, with the accessibility functions."""
    appkit: Any
    autorelease_pool: Any
    """A context for each call in a thread of its own: it frees what the system gave to the call."""


def load_frameworks() -> Frameworks:
    """Raises `ToolFailure` if pyobjc is not installed."""
    try:
        return Frameworks(
            quartz=importlib.import_module("Quartz"),
            services=importlib.import_module("ApplicationServices"),
            appkit=importlib.import_module("AppKit"),
            autorelease_pool=importlib.import_module("objc").autorelease_pool,
        )
    except ImportError as error:
        raise ToolFailure(
            f"A package for macOS is missing: {error.name or error}.", "Install toolcrib[desktop]."
        ) from None
