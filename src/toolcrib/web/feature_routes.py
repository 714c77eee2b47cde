"""The addresses that features serve beside the page; a module of theirs offers them (`Feature.routes`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from toolcrib.feature import features
from toolcrib.gateway.http.request import HttpRequest

if TYPE_CHECKING:
    from toolcrib.host import Host


class FeatureRoutes(Protocol):
    """What the module offers."""

    @property
    def PREFIX(self) -> str:  # noqa: N802 - a constant of the module
        """What the paths begin with; the rest may be secret and is never logged."""

    def check_head(self, request: HttpRequest) -> None:
        """Answer the request if its headers are refused; no key of the page was required."""

    def routes(self, host: Host) -> Sequence[Any]:
        """Routes of Starlette."""


@cache
def feature_routes() -> tuple[FeatureRoutes, ...]:
    return tuple(feature.module(feature.routes) for feature in features() if feature.routes)


def routes_of(path: str) -> FeatureRoutes | None:
    """Those that a path belongs to."""
    for found in feature_routes():
        if path.startswith(found.PREFIX) or path == found.PREFIX.rstrip("/"):
            return found
    return None


def path_for_logs(path: str) -> str:
    found = routes_of(path)
    return path if found is None else f"{found.PREFIX}…"
