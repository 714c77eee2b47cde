"""What was read of tools is kept: a start reads nothing twice, and answers as if it had."""

from __future__ import annotations

import random
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.retrieval.toolbox import WORKSHOP, raw_tool, tool
from toolcrib.retrieval import EmbeddingService, Finder, Index
from toolcrib.retrieval.query import read_query
from toolcrib.retrieval.word_cache import WordCache, read
from toolcrib.schema.tools import Tool, ToolDefinition

QUESTIONS = ("send a message to Ada", "create an issue", "which files are there", "rename the pull request")


def kept(folder: Path, tools: tuple[Tool, ...] | list[Tool]) -> None:
    """Read these tools, and keep what was read."""
    cache = WordCache(folder)
    Index(tools, cache)
    cache.flush()


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("words-*/*.words"))


def found(index: Index) -> list[list[tuple[str, float]]]:
    return [[(pick.tool.name, pick.score) for pick in index.select(one, 20)] for one in QUESTIONS]


def test_an_index_from_the_cache_answers_as_one_that_was_read(tmp_path: Path) -> None:
    kept(tmp_path, WORKSHOP)
    assert found(Index(WORKSHOP, WordCache(tmp_path))) == found(Index(WORKSHOP))


def test_only_a_changed_tool_is_read_again(tmp_path: Path) -> None:
    kept(tmp_path, WORKSHOP)
    before = files(tmp_path)
    changed = tool("mail", "send_message", "Send a telegram.")
    kept(tmp_path, [changed if one.name == changed.name else one for one in WORKSHOP])
    (fresh,) = set(files(tmp_path)) - set(before)
    block = read(fresh)
    assert block is not None
    assert len(block.keys) == 1
    assert block.find("telegram") is not None


def test_tools_of_the_cache_that_are_not_there_are_not_found_and_count_for_nothing(tmp_path: Path) -> None:
    kept(tmp_path, WORKSHOP)
    few = WORKSHOP[::2]
    assert found(Index(few, WordCache(tmp_path))) == found(Index(few))


@pytest.mark.parametrize("damage", ["cut", "changed", "empty"])
def test_a_damaged_file_is_left_out(tmp_path: Path, damage: str) -> None:
    kept(tmp_path, WORKSHOP)
    (file,) = files(tmp_path)
    whole = bytearray(file.read_bytes())
    whole[len(whole) // 2] ^= 255
    file.write_bytes({"cut": whole[:-9], "changed": whole, "empty": b""}[damage])
    assert found(Index(WORKSHOP, WordCache(tmp_path))) == found(Index(WORKSHOP))


def test_the_same_definition_under_two_names_is_found_twice(tmp_path: Path) -> None:
    one = tool("mail", "send_message", "Send a message.")
    other = Tool(
        name="mail__again", server="mail", origin="mcp", definition=one.definition, hash=one.hash, tokens=1
    )
    kept(tmp_path, [one, other])
    index = Index([one, other], WordCache(tmp_path))
    assert {pick.tool.name for pick in index.select("send a message")} == {one.name, other.name}


def test_a_definition_that_is_no_plain_data_is_found_and_not_kept(tmp_path: Path) -> None:
    odd = raw_tool("mail", {"name": "send_message", "description": "Send a message."})
    definition = ToolDefinition(name="send_message", raw=MappingProxyType(dict(odd.definition.raw)))
    odd = Tool(name=odd.name, server="mail", origin="mcp", definition=definition, hash="1", tokens=1)
    kept(tmp_path, [odd])
    assert files(tmp_path) == []
    assert [pick.tool for pick in Index([odd], WordCache(tmp_path)).select("send a message")] == [odd]


def test_many_small_files_become_one_and_nothing_is_lost(tmp_path: Path) -> None:
    for count in range(1, len(WORKSHOP) + 1):
        kept(tmp_path, WORKSHOP[:count])
    assert len(files(tmp_path)) <= 8
    cache = WordCache(tmp_path)
    assert found(Index(WORKSHOP, cache)) == found(Index(WORKSHOP))
    assert not cache.unkept


def test_servers_that_come_and_go_leave_no_trace(tmp_path: Path) -> None:
    chance = random.Random(3)
    tools = [
        tool(f"server{n % 7}", f"do_{n % 50}", f"Handles thing {n % 11} of kind {n % 13} at place {n}.")
        for n in range(400)
    ]
    tools = list({one.name: one for one in tools}.values())
    kept(tmp_path, chance.sample(tools, len(tools) // 2))
    index = Index(words=WordCache(tmp_path))
    for _ in range(40):
        here = chance.sample(tools, chance.randrange(1, len(tools)))
        index.update(here)
        fresh = Index(here)
        for question in ("handles thing 3 of kind 5", "server4 place", "do 17"):
            asked = read_query(question)
            scores, others = index.scores(asked), fresh.scores(asked)
            assert {one.name: scores[index.rows[one.name]] for one in here} == {
                one.name: others[fresh.rows[one.name]] for one in here
            }


async def test_a_finder_keeps_words_without_any_model(tmp_path: Path) -> None:
    meaning = EmbeddingService(None, tmp_path)
    finder = Finder(meaning)
    await finder.follow(lambda: WORKSHOP)
    await meaning.close()
    assert len(files(tmp_path)) == 1
    again = EmbeddingService(None, tmp_path)
    finder = Finder(again)
    await finder.follow(lambda: WORKSHOP)
    assert not again.words.unkept
    assert len(await finder.select("send a message")) > 0
    await again.close()
