"""Builds everything, owns every lifetime: the only composition root."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolcrib.host.lifecycle import open_host

if TYPE_CHECKING:
    from toolcrib.host.host import Host

__all__ = ["Host", "open_host"]


def __getattr__(name: str) -> Any:
    """Load the class on first use, so that `open_host` can start servers before it is imported."""
    if name != "Host":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from toolcrib.host.host import Host

    return Host
