"""The limits of a fetch: size, time, redirects, media types. Light, so that a server can state them before it
fetches anything; the HTTP client is loaded by the first fetch."""

from __future__ import annotations

from dataclasses import dataclass

from toolcrib.loading import preload


@dataclass(frozen=True, kw_only=True)
class FetchLimits:
    max_bytes: int = 10 * 1024 * 1024
    """Of the body as it is transferred, and again of the decompressed body."""
    deadline: float = 30.0
    """Seconds for everything, redirects included."""
    idle: float = 10.0
    """Seconds without a byte."""
    redirects: int = 5
    encodings: int = 2
    """Content encodings applied to one body."""
    media_types: tuple[str, ...] = ("*",)
    """Patterns such as `text/*`. A body of another type is not read."""


async def load_client() -> None:
    """Load the HTTP client beside the event loop, which it would hold up for a tenth of a second."""
    await preload("toolcrib.serverkit.network.fetching")
