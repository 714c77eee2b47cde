"""The server in a host, beside a website on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from tests.bundled.websearch.website import Website, serving
from toolcrib.host import Host


class Web:
    """The two tools, called as an agent calls them."""

    def __init__(self, host: Host) -> None:
        self.host = host

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return dict(await self.host.call(f"websearch__{tool}", arguments))

    async def read(self, url: str, **arguments: Any) -> dict[str, Any]:
        """The structured result; fails the test if the call failed."""
        return await self._data("read_website", url=url, **arguments)

    async def search(self, query: str, **arguments: Any) -> dict[str, Any]:
        return await self._data("search_web_pages", query=query, **arguments)

    async def refused(self, tool: str, **arguments: Any) -> str:
        """The message of a call that must fail."""
        result = await self.call(tool, **arguments)
        assert result["isError"], result
        return str(result["content"][0]["text"])

    async def _data(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.call(tool, **arguments)
        assert not result["isError"], result["content"]
        data: dict[str, Any] = result["structuredContent"]
        return data


OpenWeb = Callable[..., AbstractAsyncContextManager[Web]]


@pytest.fixture
def website() -> Iterator[Website]:
    with serving() as found:
        yield found


@pytest.fixture
def open_web(crib: Any, website: Website) -> OpenWeb:
    """Open a host with the server, which may read the website."""

    @asynccontextmanager
    async def opened(*arguments: str) -> AsyncIterator[Web]:
        args = ["--allow-private", website.endpoint, *arguments]
        crib.entry("websearch", {"type": "inprocess", "module": "toolcrib.bundled.websearch", "args": args})
        async with crib.open() as host:
            await host.ready()
            yield Web(host)

    return opened


@pytest.fixture
async def web(open_web: OpenWeb) -> AsyncIterator[Web]:
    async with open_web() as opened:
        yield opened
