"""Who may use the page: tokens work once and soon, keys until they are revoked or forgotten."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from toolcrib.store.database import open_database
from toolcrib.store.page_keys import MOST_KEYS, MOST_TOKENS, TOKEN_LIFE, UNUSED_LIFE, PageKeys
from toolcrib.testing.clock import TurnedClock


async def test_a_token_works_once(tmp_path: Path) -> None:
    async with open_database(tmp_path / "state.db") as database:
        keys = await PageKeys.open(database, clock=TurnedClock())
        token = keys.invite()

        key = await keys.admit(token, "browser")

        assert key is not None
        assert (found := keys.holder(key)) is not None
        assert found.name == "browser"
        assert await keys.admit(token, "browser") is None
        assert await keys.admit("", "browser") is None


async def test_a_token_works_for_minutes(tmp_path: Path) -> None:
    clock = TurnedClock()
    async with open_database(tmp_path / "state.db") as database:
        keys = await PageKeys.open(database, clock=clock)
        early, late = keys.invite(), keys.invite()

        clock.turn((TOKEN_LIFE - timedelta(seconds=1)).total_seconds())
        assert await keys.admit(early, "") is not None
        clock.turn(1)
        assert await keys.admit(late, "") is None


async def test_a_key_survives_a_restart_and_a_wrong_one_never_fits(tmp_path: Path) -> None:
    async with open_database(tmp_path / "state.db") as database:
        keys = await PageKeys.open(database, clock=TurnedClock())
        key = await keys.admit(keys.invite(), "browser")
    assert key is not None

    async with open_database(tmp_path / "state.db") as database:
        keys = await PageKeys.open(database, clock=TurnedClock())
        assert keys.holder(key) is not None
        for wrong in ("", "tcpage_", key[:-1], key + "x", key.upper(), key.rpartition("_")[0] + "_"):
            assert keys.holder(wrong) is None


async def test_a_key_that_nobody_uses_is_forgotten(tmp_path: Path) -> None:
    clock = TurnedClock()
    async with open_database(tmp_path / "state.db") as database:
        keys = await PageKeys.open(database, clock=clock)
        used, unused = [await keys.admit(keys.invite(), "") for _ in range(2)]
        assert used is not None
        assert unused is not None

        clock.turn(UNUSED_LIFE.total_seconds() / 2)
        assert keys.holder(used) is not None
        clock.turn(UNUSED_LIFE.total_seconds() / 2)

        assert keys.holder(used) is not None
        assert keys.holder(unused) is None
    async with open_database(tmp_path / "state.db") as database:
        assert len((await PageKeys.open(database, clock=clock)).all()) == 1


async def test_a_revoked_key_is_worth_nothing_and_whoever_listens_is_told(tmp_path: Path) -> None:
    async with open_database(tmp_path / "state.db") as database:
        keys = await PageKeys.open(database, clock=TurnedClock())
        key = await keys.admit(keys.invite(), "")
        assert key is not None
        told: list[bool] = []
        keys.on_revoked = lambda: told.append(True)
        (page,) = keys.all()

        assert keys.revoke(page.id)

        assert keys.holder(key) is None
        assert not keys.is_good(page.id)
        assert not keys.revoke(page.id)
        assert told == [True]


async def test_neither_tokens_nor_keys_pile_up(tmp_path: Path) -> None:
    async with open_database(tmp_path / "state.db") as database:
        keys = await PageKeys.open(database, clock=TurnedClock())
        first = keys.invite()
        for _ in range(MOST_TOKENS):
            keys.invite()
        assert await keys.admit(first, "") is None

        for _ in range(MOST_KEYS + 5):
            await keys.admit(keys.invite(), "")
        assert len(keys.all()) == MOST_KEYS
