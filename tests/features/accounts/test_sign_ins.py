"""Sign-ins in the background end with the user, after a time, when there are too many, and with the host."""

from __future__ import annotations

import asyncio

import pytest

from toolcrib.errors import AuthRequired, NotFound, UsageError
from toolcrib.features.accounts import sign_ins as module
from toolcrib.features.accounts.sign_ins import ShowPage, SignIns

DEADLINE = 30.0
PAGE = "https://accounts.example/"


async def waits_forever(show: ShowPage) -> None:
    await show(PAGE)
    await asyncio.Event().wait()


async def returns_a_name(show: ShowPage) -> str:
    await show(PAGE)
    return "work"


async def test_a_sign_in_that_ended_keeps_its_result() -> None:
    sign_ins = SignIns()
    key, page = await sign_ins.begin(returns_a_name)

    outcome = await sign_ins.outcome(key, DEADLINE)
    again = await sign_ins.outcome(key)

    assert page == PAGE
    assert outcome is not None
    assert outcome.result == "work"
    assert again == outcome


async def test_an_error_before_the_page_is_raised_at_once() -> None:
    async def refuses(show: ShowPage) -> None:
        raise UsageError("There is no client.")

    with pytest.raises(UsageError, match="no client"):
        await SignIns().begin(refuses)


async def test_a_user_who_takes_too_long_has_to_start_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.01)
    sign_ins = SignIns()
    key, _ = await sign_ins.begin(waits_forever)

    outcome = await sign_ins.outcome(key, DEADLINE)

    assert outcome is not None
    assert isinstance(outcome.error, AuthRequired)


async def test_an_unexpected_error_tells_nothing_of_the_inside() -> None:
    agreed = asyncio.Event()

    async def breaks(show: ShowPage) -> None:
        await show(PAGE)
        await agreed.wait()
        raise RuntimeError("a secret text")

    sign_ins = SignIns()
    key, _ = await sign_ins.begin(breaks)
    agreed.set()
    outcome = await sign_ins.outcome(key, DEADLINE)

    assert outcome is not None
    assert outcome.error is not None
    assert "a secret text" not in outcome.error.message


async def test_the_oldest_sign_in_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 2)
    sign_ins = SignIns()
    keys = [(await sign_ins.begin(waits_forever))[0] for _ in range(3)]

    with pytest.raises(NotFound):
        await sign_ins.outcome(keys[0])
    assert await sign_ins.outcome(keys[1]) is None
    await sign_ins.close()


async def test_closing_ends_every_sign_in() -> None:
    ended = asyncio.Event()

    async def notes_its_end(show: ShowPage) -> None:
        try:
            await waits_forever(show)
        finally:
            ended.set()

    sign_ins = SignIns()
    await sign_ins.begin(notes_its_end)
    await sign_ins.close()

    assert ended.is_set()
