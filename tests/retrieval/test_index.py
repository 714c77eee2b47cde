"""An index follows the registry, at the cost of what changed."""

from __future__ import annotations

import asyncio
import dataclasses
import random
from typing import Any

from tests.retrieval.toolbox import WORKSHOP, tool
from toolcrib.retrieval import Index, follow
from toolcrib.schema.tools import Tool


def names(index: Index, question: str, k: int = 5) -> list[str]:
    return [pick.tool.name for pick in index.select(question, k)]


class Noticed(dict[str, Any]):
    """A definition that counts how often its description is read."""

    reads = 0

    def get(self, key: str, default: Any = None) -> Any:
        self.reads += key == "description"
        return super().get(key, default)


def noticed(one: Tool) -> tuple[Tool, Noticed]:
    """The tool with a definition that counts."""
    raw = Noticed(one.definition.raw)
    return dataclasses.replace(one, definition=dataclasses.replace(one.definition, raw=raw)), raw


def test_only_what_changed_is_read_again() -> None:
    watched = [noticed(one) for one in WORKSHOP]
    tools, definitions = [one for one, _ in watched], [raw for _, raw in watched]
    index = Index(tools)
    changed, of_changed = noticed(tool("mail", "send_message", "Send a telegram."))

    index.update([changed if one.name == changed.name else one for one in tools])
    index.update([*tools[:3], changed])

    assert [raw.reads for raw in (*definitions, of_changed)] == [1] * (len(tools) + 1)
    assert names(index, "telegram") == ["mail__send_message"]
    assert names(index, "recipient") == []
    assert len(index) == 4


def test_an_index_that_followed_changes_answers_as_a_new_one() -> None:
    chance = random.Random(7)
    index = Index()
    for _ in range(50):
        some = chance.sample(WORKSHOP, chance.randrange(len(WORKSHOP)))
        index.update(some)
        for question in ("create an event", "github pull request", "read_file", "send"):
            assert index.select(question) == Index(some).select(question)


def test_a_server_that_went_leaves_nothing_behind() -> None:
    index = Index(WORKSHOP)

    index.update([])

    assert len(index) == 0
    assert names(index, "github__create_issue") == []
    assert vars(index)["_named"] == {}


def test_a_tool_that_only_turned_stale_is_taken_over_unread() -> None:
    one, raw = noticed(WORKSHOP[0])
    index = Index([one])

    index.update([dataclasses.replace(one, stale=True)])

    assert raw.reads == 1
    assert all(pick.tool.stale for pick in index.select("issue"))


def test_the_same_definition_under_another_server_is_another_tool() -> None:
    index = Index([tool("old", "ping", "Ping.")])
    moved = dataclasses.replace(tool("new", "ping", "Ping."), name="old__ping")

    index.update([moved])

    assert names(index, "new") == ["old__ping"]
    assert names(index, "old") == []


def test_many_tools_are_read_in_portions() -> None:
    index = Index()

    steps = sum(1 for _ in index.update_in_steps(synthetic(1000)))

    assert steps > 10
    assert len(index) == 1000


async def test_others_get_their_turn_while_thousands_are_read() -> None:
    tools = synthetic(1000)
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    index = Index()
    await follow(index, lambda: tools)
    task.cancel()

    assert len(index) == 1000
    assert turns >= 5


def test_one_of_five_thousand_is_found() -> None:
    tools = [*synthetic(5000), *WORKSHOP]
    index = Index(tools)

    assert names(index, "merge the pull request")[0] == "github__mergePullRequest"
    assert names(index, "word4321 of word17", k=1) == ["server21__tool_4321"]
    assert len(index.select("item", k=10_000)) == 5000


def synthetic(count: int) -> list[Tool]:
    """Tools with a word of their own and many that they share."""
    return [
        tool(
            f"server{n % 50}",
            f"tool_{n}",
            f"Handles word{n} for item and record {n % 97}.",
            identifier=f"Which of word{n % 31} is meant.",
        )
        for n in range(count)
    ]
