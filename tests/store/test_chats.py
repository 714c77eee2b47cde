"""Chats are found, renamed, put away and brought back."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from toolcrib.agent.chat import Chat, Said, Took
from toolcrib.clock import SystemClock
from toolcrib.errors import NotFound
from toolcrib.schema.messages import FromModel, FromTools, FromUser, Text, ToolAnswer, ToolUse, Usage
from toolcrib.store.chats import Chats, read_infos
from toolcrib.store.database import AsyncDatabase, open_database
from toolcrib.store.migrations import STEPS, apply_steps, migrate


@dataclass
class Calendar(SystemClock):
    """A clock that is set by hand, and goes on a second each time it is read."""

    today: datetime = field(default_factory=lambda: datetime(2026, 11, 15, tzinfo=UTC))

    def now(self) -> datetime:
        self.today += timedelta(seconds=1)
        return self.today


@pytest.fixture
def calendar() -> Calendar:
    return Calendar()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[AsyncDatabase]:
    async with open_database(tmp_path / "db") as database:
        yield database


@pytest.fixture
def chats(database: AsyncDatabase, calendar: Calendar) -> Chats:
    return Chats(database, calendar)


async def chat_about(chats: Chats, title: str, *said: str) -> Chat:
    chat = await chats.create("demo", title=title)
    for position, text in enumerate(said):
        person = position % 2 == 0
        message = FromUser(parts=(Text(text),)) if person else FromModel(parts=(Text(text),))
        chats.append(chat.id, position, Said(message))
    return chat


async def found(chats: Chats, words: str) -> list[str]:
    return [match.info.title for match in await chats.search(words)]


async def test_chats_are_found_by_what_was_said_and_by_their_titles(chats: Chats) -> None:
    await chat_about(chats, "Cooking", "how long does a potato boil?", "About twenty minutes in a pot.")
    await chat_about(chats, "Straßenkarte", "Wo ist die Bäckerei?", "Dort drüben.")
    await chat_about(chats, "料理", "味噌汁の作り方を教えて")

    assert await found(chats, "potato") == ["Cooking"]
    assert await found(chats, "TWENTY pot") == ["Cooking"]
    assert await found(chats, "bäckerei") == ["Straßenkarte"]
    assert await found(chats, "STRASSE") == ["Straßenkarte"]
    assert await found(chats, "味噌汁") == ["料理"]
    assert await found(chats, "作り") == ["料理"]
    assert await found(chats, "potato bäckerei") == []
    assert await found(chats, "   ") == []
    for odd in ('"', "a AND", "NEAR(", "%", "_", "*", "\\", "' OR 1"):
        await chats.search(odd)


async def test_what_was_found_is_shown_with_what_stands_around_it(chats: Chats) -> None:
    long = "before " * 40 + "the needle" + " after" * 40
    await chat_about(chats, "Hay", "what is there?", long)

    [match] = await chats.search("needle")

    assert match.position == 1
    assert "the needle after" in match.excerpt
    assert match.excerpt.startswith("…")
    assert match.excerpt.endswith("…")
    assert len(match.excerpt) < 200


async def test_results_of_tools_are_not_searched(chats: Chats) -> None:
    chat = await chat_about(chats, "x", "look")
    use = ToolUse(id="1", name="look")
    chats.append(chat.id, 1, Said(FromModel(parts=(use,))))
    answers = FromTools(answers=(ToolAnswer(id="1", name="look", parts=(Text("hidden treasure"),)),))
    chats.append(chat.id, 2, Said(answers))

    assert await found(chats, "treasure") == []
    assert await found(chats, "look") == ["x"]


async def test_a_chat_is_renamed(chats: Chats) -> None:
    chat = await chat_about(chats, "old")

    assert (await chats.rename(chat.id, " new\n title ")).title == "new title"
    assert (await chats.load(chat.id)).info.title == "new title"


async def test_a_deleted_chat_can_be_had_back(chats: Chats) -> None:
    chat, other = await chat_about(chats, "one", "potato"), await chat_about(chats, "two", "potato")

    gone = await chats.delete(chat.id)

    assert gone.deleted is not None
    assert [info.title for info in await chats.list()] == ["two"]
    assert await found(chats, "potato") == ["two"]
    assert [info.title for info in await chats.deleted()] == ["one"]
    with pytest.raises(NotFound):
        await chats.load(chat.id)
    with pytest.raises(NotFound):
        await chats.restore(other.id)
    assert (await chats.restore(chat.id[:6])).deleted is None
    assert await found(chats, "potato") == ["one", "two"] or await found(chats, "potato") == ["two", "one"]
    assert len((await chats.load(chat.id)).entries) == 1


async def test_a_deleted_chat_is_gone_for_good_after_a_while(chats: Chats, calendar: Calendar) -> None:
    chat, other = await chat_about(chats, "one", "potato"), await chat_about(chats, "two", "potato")
    await chats.delete(chat.id)
    calendar.today += timedelta(days=31)

    await chats.delete(other.id)

    assert [info.title for info in await chats.deleted()] == ["two"]
    await chats.erase(other.id)
    assert await chats.deleted() == []
    assert await found(chats, "potato") == []


async def test_the_list_is_read_page_by_page(chats: Chats) -> None:
    for number in range(5):
        await chat_about(chats, str(number))

    first = await chats.list(3)
    second = await chats.list(3, before=first[-1].updated)

    assert [info.title for info in (*first, *second)] == ["4", "3", "2", "1", "0"]


async def test_a_pin_lasts_is_not_copied_by_a_fork_and_changes_no_order(
    chats: Chats, database: AsyncDatabase
) -> None:
    old = await chat_about(chats, "old")
    await chat_about(chats, "new")

    await chats.pin(old.id, pinned=True)
    fork = await chats.fork(old.id)
    pinned = await Chats(database).pinned()
    latest = await chats.list(1)
    await chats.pin(old.id, pinned=False)

    assert [info.title for info in pinned] == ["old"]
    assert [info.title for info in latest] == ["old (fork)"]
    assert fork.info.pinned_at is None
    assert list(await chats.pinned()) == []


def test_chats_of_an_older_database_are_kept_and_not_pinned(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "db", isolation_level=None)
    before = STEPS.index(("ALTER TABLE chats ADD COLUMN pinned_at INTEGER",))
    apply_steps(connection, STEPS[:before])
    connection.execute(
        "INSERT INTO chats (id, title, model, created, updated) VALUES ('a', 'Old', 'demo', 1, 1)"
    )

    migrate(connection)

    [info] = read_infos(connection, "", ())
    assert (info.title, info.pinned_at) == ("Old", None)


async def test_no_fork_has_the_title_of_another_chat(chats: Chats) -> None:
    chat = await chats.create("m", title="Tidy up")

    first = await chats.fork(chat.id)
    second = await chats.fork(chat.id)
    of_a_fork = await chats.fork(first.id)

    titles = [one.info.title for one in (first, second, of_a_fork)]
    assert titles == ["Tidy up (fork)", "Tidy up (fork 2)", "Tidy up (fork 3)"]
    assert (await chats.fork((await chats.create("m")).id)).info.title == ""


async def test_tools_are_pinned_and_banned_for_a_chat_and_its_forks(chats: Chats) -> None:
    chat = await chat_about(chats, "one", "hello")

    await chats.choose_tools(chat.id, pinned=["git__*", "git__*"])
    await chats.choose_tools(chat.id, banned=["terminal__run_command"])

    for info in ((await chats.load(chat.id)).info, (await chats.fork(chat.id)).info):
        assert (info.pinned, info.banned) == (("git__*",), ("terminal__run_command",))


async def test_a_chat_knows_when_things_were_said_and_what_they_took(chats: Chats) -> None:
    chat = await chat_about(chats, "one", "hello", "world")
    usage = Usage(input=10, output=5, requests=1)
    chats.append(chat.id, 2, Took(model="m", ending="answered", rounds=1, usage=usage, cost=0.25))
    chats.append(chat.id, 3, Took(model="m", ending="stopped", rounds=2, usage=usage, cost=None))

    found = await chats.load(chat.id)

    assert len(found.times) == len(found.entries) == 4
    assert found.times == sorted(found.times)
    assert found.took() == Took(model="m", ending="stopped", rounds=3, usage=usage + usage, cost=None)


async def test_two_who_go_on_at_once_lose_nothing(chats: Chats, database: AsyncDatabase) -> None:
    chat = await chat_about(chats, "one", "hello")
    for text in ("mine", "yours"):
        chats.append(chat.id, 1, Said(FromUser(parts=(Text(text),))))
    await chats.flush()

    assert (await chats.load(chat.id)).questions() == ["hello", "mine", "yours"]
    assert database.lost == 0
