"""A gateway in front of a real host, reached by real clients."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from toolcrib.gateway.bridge import bridge_handlers
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.http.serving import serve_http
from toolcrib.gateway.profile import Profile

Serve = Callable[..., AbstractAsyncContextManager[tuple[Any, str]]]


@pytest.fixture
def serve(crib) -> Serve:
    """Opens the crib's host with a gateway over HTTP; yields the host and the address."""

    @asynccontextmanager
    async def serving(profile: Profile | None = None, **options: Any) -> AsyncIterator[tuple[Any, str]]:
        async with (
            crib.open(handlers=bridge_handlers()) as host,
            serve_http(Gateway(host, profile), **options) as url,
        ):
            yield host, url

    return serving


PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def program(crib) -> Callable[..., None]:
    """Adds one of the programs of this folder as a server."""

    def add(name: str, file: str, *args: str) -> None:
        crib.entry(name, {"command": sys.executable, "args": [str(PROGRAMS / file), *args]})

    return add
