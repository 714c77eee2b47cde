"""A gateway in front of a real host, reached by real clients."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from toolcrib.gateway import catalog, gateway, subscriptions
from toolcrib.gateway.bridge import bridge_handlers
from toolcrib.gateway.http.server import serve_http
from toolcrib.gateway.methods import resources
from toolcrib.gateway.profile import Profile, offer_one

Serve = Callable[..., AbstractAsyncContextManager[tuple[Any, str]]]


@pytest.fixture
def serve(crib) -> Serve:
    """Opens the crib's host with a gateway over HTTP; yields the host and the address of `/mcp`.

    With a profile, only that is served; else everything that the config file names.
    """

    @asynccontextmanager
    async def serving(profile: Profile | None = None, **options: Any) -> AsyncIterator[tuple[Any, str]]:
        async with (
            crib.open(handlers=bridge_handlers()) as host,
            serve_http(host, offer_one(profile) if profile else None, **options) as (base, _),
        ):
            yield host, f"{base}/mcp"

    return serving


PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def program(crib) -> Callable[..., None]:
    """Adds one of the programs of this folder as a server."""

    def add(name: str, file: str, *args: str) -> None:
        crib.entry(name, {"command": sys.executable, "args": [str(PROGRAMS / file), *args]})

    return add


@pytest.fixture
def library(crib) -> None:
    """Adds `library.py` as a server in this process: one of its own imports the official SDK for a second."""
    crib.entry("library", {"type": "inprocess", "module": "tests.gateway.programs.library"})


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list waits for servers that take long to start or to answer, as they do on a busy machine."""
    monkeypatch.setattr(gateway, "LIST_PATIENCE", 60.0)
    monkeypatch.setattr(gateway, "TOOLS_PATIENCE", 60.0)
    for module in (catalog, gateway, subscriptions):
        monkeypatch.setattr(module, "PATIENCE", 60.0)
    monkeypatch.setattr(resources, "ASK_AROUND", 60.0)
