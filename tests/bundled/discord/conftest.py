"""A host with the bundled Discord server, an account, and Discord on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import jsonschema_rs
import pytest

from tests.bundled.discord.server import TOKEN, Discord
from tests.bundled.loopback import served
from toolcrib import Host
from toolcrib.accounts import Account, AccountStore


@pytest.fixture
def discord() -> Iterator[Discord]:
    with served(Discord()) as service:
        yield cast("Discord", service)


class Caller:
    """Calls tools through a host."""

    def __init__(self, host: Host, store: AccountStore) -> None:
        self.host = host
        self.store = store

    async def result(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured result."""
        answer = await self.host.call(f"discord__{tool}", arguments)
        assert answer["isError"] is False, answer
        found: dict[str, Any] = answer["structuredContent"]
        schema = self.host.toolset.registry.resolve(f"discord__{tool}").definition.raw["outputSchema"]
        jsonschema_rs.validator_for(schema).validate(found)
        return found

    async def text(self, tool: str, **arguments: Any) -> str:
        answer = await self.host.call(f"discord__{tool}", arguments)
        assert answer["isError"] is False, answer
        return str(answer["content"][0]["text"])

    async def failure(self, tool: str, **arguments: Any) -> str:
        answer = await self.host.call(f"discord__{tool}", arguments)
        assert answer["isError"] is True, answer
        text = str(answer["content"][0]["text"])
        assert TOKEN not in text
        return text


@pytest.fixture
def store(crib: Any, discord: Discord) -> AccountStore:
    made = AccountStore.of_home(crib.home)
    made.add(Account(name="bot", provider="discord", user="helper", settings={"api": discord.api}), TOKEN)
    return made


@pytest.fixture
async def call(crib: Any, store: AccountStore) -> AsyncIterator[Caller]:
    crib.entry("discord", {"type": "inprocess", "module": "toolcrib.bundled.discord"})
    async with crib.open() as host:
        await host.ready()
        yield Caller(host, store)
