"""A host with the bundled Canvas server, an account, and Canvas on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import jsonschema_rs
import pytest

from tests.bundled.canvas.server import TOKEN, Canvas
from tests.bundled.loopback import served
from toolcrib import Host
from toolcrib.accounts import Account, AccountStore

ENTRY = {"type": "inprocess", "module": "toolcrib.bundled.canvas", "args": ["--time-zone", "Europe/Berlin"]}
CHANGING = {**ENTRY, "args": ["--allow-changes"]}


@pytest.fixture
def canvas() -> Iterator[Canvas]:
    with served(Canvas()) as service:
        yield cast("Canvas", service)


class CanvasCaller:
    """Calls tools through a host."""

    def __init__(self, host: Host, store: AccountStore, canvas: Canvas) -> None:
        self.host = host
        self.store = store
        self.canvas = canvas

    async def result(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured result."""
        answer = await self.host.call(f"canvas__{tool}", arguments)
        assert answer["isError"] is False, answer
        found: dict[str, Any] = answer["structuredContent"]
        schema = self.host.toolset.registry.resolve(f"canvas__{tool}").definition.raw["outputSchema"]
        jsonschema_rs.validator_for(schema).validate(found)
        return found

    async def text(self, tool: str, **arguments: Any) -> str:
        answer = await self.host.call(f"canvas__{tool}", arguments)
        assert answer["isError"] is False, answer
        return str(answer["content"][0]["text"])

    async def failure(self, tool: str, **arguments: Any) -> str:
        answer = await self.host.call(f"canvas__{tool}", arguments)
        assert answer["isError"] is True, answer
        text = str(answer["content"][0]["text"])
        assert TOKEN not in text
        return text


@pytest.fixture
def store(crib: Any, canvas: Canvas) -> AccountStore:
    made = AccountStore.of_home(crib.home)
    made.add(Account(name="school", provider="canvas", settings={"url": canvas.address}), TOKEN)
    return made


@pytest.fixture
async def call(crib: Any, store: AccountStore, canvas: Canvas) -> AsyncIterator[CanvasCaller]:
    crib.entry("canvas", ENTRY)
    async with crib.open() as host:
        yield CanvasCaller(host, store, canvas)


@pytest.fixture
async def change(crib: Any, store: AccountStore, canvas: Canvas) -> AsyncIterator[CanvasCaller]:
    """With changes allowed."""
    crib.entry("canvas", CHANGING)
    async with crib.open() as host:
        yield CanvasCaller(host, store, canvas)
