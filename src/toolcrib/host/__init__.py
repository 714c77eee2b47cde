"""Builds everything, owns every lifetime: the only composition root."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolcrib.host.lifecycle import open_host

if TYPE_CHECKING:
    from toolcrib.host.host import Host

__all__ = ["Host", "open_host"]


def __getattr__(name: str) -> Any:
    """The class is loaded on first use: a host that opens starts its servers before."""
    if name != "Host":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from toolcrib.host.host import Host

    return Host
