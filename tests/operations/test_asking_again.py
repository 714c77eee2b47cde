"""The question after one that was stopped: it waits for its end, and knows of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.conftest import Crib
from tests.web.vendor import Say, Vendor, call, vendor
from toolcrib.approvals.gate import AllowAll
from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.operations import turns
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform

DEADLINE = 60.0


async def ask(host: Host, text: str, chat: str | None = None) -> Any:
    return await perform(host, "ask", {"text": text, "chat": chat}, Invocation())


class Lingering:
    """A tool that never answers, and that takes its time to end."""

    def __init__(self, host: Host) -> None:
        self.began, self.let_go = asyncio.Event(), asyncio.Event()

        @host.tool()
        async def linger() -> None:
            """Wait for ever."""
            self.began.set()
            try:
                await asyncio.Event().wait()
            finally:
                await self.let_go.wait()


def talkative(crib: Crib, model: Vendor) -> None:
    model.say(call(("linger", {})), Say("All right."))
    crib.setting(agent=model.settings)


async def test_a_question_waits_for_the_end_of_one_that_was_stopped(
    crib: Crib, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_busy, waits = turns._is_busy, asyncio.Event()

    def noted(*given: Any) -> bool:
        waits.set()
        return is_busy(*given)

    with vendor() as model:
        talkative(crib, model)
        async with crib.open(gate=AllowAll()) as host, asyncio.timeout(DEADLINE):
            tool = Lingering(host)
            first = asyncio.create_task(ask(host, "Linger."))
            await tool.began.wait()
            first.cancel()
            monkeypatch.setattr(turns, "_is_busy", noted)
            second = asyncio.create_task(ask(host, "Never mind.", "last"))
            await waits.wait()
            assert not second.done()
            tool.let_go.set()
            assert (await second)["answer"] == "All right."
            assert first.cancelled()
        said = [one.get("content") for one in model.requests[-1]["messages"]]

    assert said.index("Never mind.") > said.index("Linger.")


async def test_a_chat_in_which_another_question_goes_on_is_busy(
    crib: Crib, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "STOPPING", 0.1)
    with vendor() as model:
        talkative(crib, model)
        async with crib.open(gate=AllowAll()) as host, asyncio.timeout(DEADLINE):
            tool = Lingering(host)
            tool.let_go.set()
            first = asyncio.create_task(ask(host, "Linger."))
            await tool.began.wait()
            with pytest.raises(UsageError, match="busy"):
                await ask(host, "Never mind.", "last")
            first.cancel()
            await asyncio.wait([first])
