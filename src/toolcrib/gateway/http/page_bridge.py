"""Something else that answers at the gateway's address, at every path but the gateway's own."""

from __future__ import annotations

from typing import Protocol

from toolcrib.gateway.http.request import HttpRequest
from toolcrib.gateway.http.views import ENDPOINT


class Beside(Protocol):
    """Answers as the gateway's application does; `meet` and `take` are plain calls, and must not wait."""

    def meet(self, request: HttpRequest) -> None:
        """The head has arrived, and Host and Origin are in order: refuse it now, or leave it alone."""

    def take(self, request: HttpRequest) -> None:
        """The whole request has arrived: answer it now or later."""

    def end(self) -> None:
        """Nothing new comes: end what would go on for ever."""

    async def close(self, patience: float) -> None:
        """Let answers that are being made be finished for so many seconds, then stop."""


def is_gateways(path: str) -> bool:
    """True for what the gateway answers itself, were it only to say that nothing is there."""
    return path == ENDPOINT or path.startswith(f"{ENDPOINT}/")
