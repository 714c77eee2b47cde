"""What was found out about a request that was let in; it holds for all that begin with the same head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.config.contents import Config
from toolcrib.gateway.http.view import View
from toolcrib.serverkit.protocol import MODERN_VERSIONS


class Standing:
    """Which view the request is for, as long as the config stays as it is, and what its headers ask for."""

    __slots__ = ("config", "modern_version", "prefers_stream", "said", "view")

    def __init__(self, config: Config, view: View, headers: Mapping[str, str]) -> None:
        self.config = config
        self.view = view
        version = headers.get("mcp-protocol-version", "").strip()
        self.modern_version = version if version in MODERN_VERSIONS else None
        """What the header promises; the body has the last word."""
        self.prefers_stream = _names_stream_first(headers)
        self.said: tuple[str, Any, int] | None = None
        """What the body of the last call said that the head says too: its version and tool, which mirrors no
        argument as of this version of the registry."""


def _names_stream_first(headers: Mapping[str, str]) -> bool:
    """Clients name both kinds of answer; one that names the stream first would rather have that."""
    first = headers.get("accept", "").partition(",")[0]
    return first.strip().lower() == "text/event-stream"
