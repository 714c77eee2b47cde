"""Builds everything, owns every lifetime: the only composition root."""

from toolcrib.host.host import Host
from toolcrib.host.opening import open_host

__all__ = ["Host", "open_host"]
