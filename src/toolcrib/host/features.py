"""The features of a host: their services are opened on first use and closed with it.

The host is only handed on to them, so its type is not named here: it imports this module.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from toolcrib.feature import features, find_feature


class Features:
    """The services that features offer, by the name of the feature."""

    def __init__(self, host: object) -> None:
        self._host = host
        self._opened: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """The service of a feature; raises `FeatureMissing`."""
        if name not in self._opened:
            feature = find_feature(name)
            self._opened[name] = feature.function(feature.service)(self._host)
        return self._opened[name]

    def opened(self, name: str) -> Any | None:
        """The service of a feature if it was used before."""
        return self._opened.get(name)

    def offers(self, name: str) -> bool:
        """Whether an installed feature of this name has a service."""
        return any(feature.name == name and feature.service for feature in features())

    async def close(self) -> None:
        """Close the services, the last one first."""
        async with AsyncExitStack() as stack:
            for service in self._opened.values():
                stack.push_async_callback(service.close)


@asynccontextmanager
async def opened_with(host: object) -> AsyncIterator[None]:
    """What features do while a host is open."""
    async with AsyncExitStack() as stack:
        for feature in features():
            if feature.open:
                await stack.enter_async_context(feature.function(feature.open)(host))
        yield


@asynccontextmanager
async def background(host: object) -> AsyncIterator[None]:
    """What features do in a host that keeps running."""
    async with AsyncExitStack() as stack:
        for feature in features():
            if feature.background:
                await stack.enter_async_context(feature.function(feature.background)(host))
        yield
