"""The demo model does what its help says, with real tools, and goes on after a denied call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conftest import Crib
from toolcrib import Host
from toolcrib.agent.chat import Chat
from toolcrib.approvals.gate import AllowAll
from toolcrib.llm.providers.demo import HELP


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "files"
    made.mkdir()
    (made / "plan.txt").write_text("first the roof\n")
    return made


@pytest.fixture
def home(crib: Crib, folder: Path) -> Crib:
    """A home with the servers that a new one has."""
    crib.entry("demo", {"type": "inprocess", "module": "toolcrib.bundled.demo"})
    files = {"type": "inprocess", "module": "toolcrib.bundled.filesystem", "args": [str(folder)]}
    crib.entry("filesystem", files)
    return crib


@pytest.fixture
async def host(home: Crib) -> AsyncIterator[Host]:
    async with home.open(gate=AllowAll()) as opened:
        await opened.ready()
        yield opened


@pytest.mark.parametrize(
    ("question", "tools", "answer"),
    [
        ("What is 6 × 7?", ["multiply"], "6 times 7 is 42."),
        ("2.5 * 4", ["multiply"], "2.5 times 4 is 10."),
        ("17 times 23, please", ["multiply"], "17 times 23 is 391."),
        ("10 - 4", ["add"], "10 minus 4 is 6."),
        ("Divide 1 by 4", ["divide"], f"1 divided by 4 is 0.25{'0' * 48}."),
        ("The sum of 2 and 40", ["add"], "2 plus 40 is 42."),
        ("I have 2 and 40", [], HELP),
        ("What is 3 minus -5?", ["add"], "3 minus -5 is 8."),
        ("Read plan.txt", ["read_file"], "plan.txt says:\n\nfirst the roof"),
        ("Which files are there?", ["list_directory"], "The folder has:\n\n* plan.txt"),
        ("Save “hello” to note.txt", ["write_file"], None),
        ("What time is it?", ["current_time"], None),
        ("Hello!", [], HELP),
        ("My birthday is 2001-11-19", [], HELP),
    ],
)
async def test_a_request_of_its_help_calls_the_tool_for_it(
    host: Host, question: str, tools: list[str], answer: str | None
) -> None:
    ended = await host.agent("demo").ask(question)

    assert [call.tool.partition("__")[2] for call in ended.calls] == tools
    assert all(call.outcome == "ok" for call in ended.calls)
    if answer is not None:
        assert ended.answer == answer


async def test_results_are_saved_after_the_calls_that_give_them(host: Host, folder: Path) -> None:
    ended = await host.agent("demo").ask("What is 6 × 7 and 2 plus 40? Save the results in sums.txt")

    assert [call.tool for call in ended.calls] == ["demo__multiply", "demo__add", "filesystem__write_file"]
    assert (folder / "sums.txt").read_text() == "6 times 7 is 42.\n2 plus 40 is 42.\n"


async def test_it_lists_the_tools_that_it_was_offered(host: Host) -> None:
    ended = await host.agent("demo").ask("Which tools do you have?")

    assert "* **demo**: `add`, `current_time`, `divide`, `multiply`" in ended.answer
    assert "`write_file`" in ended.answer
    assert ended.calls == ()


async def test_a_denied_write_is_said_and_the_rest_is_answered(home: Crib, folder: Path) -> None:
    async with home.open() as host:  # Nobody is there to allow it.
        await host.ready()
        chat = await host.chats.store.create("demo")
        ended = await host.agent("demo").ask("Save “hello” to note.txt. What is 6 × 7?", chat=chat)
        again = await host.agent("demo").ask("What is 2 plus 2?", chat=chat)

    assert [call.outcome for call in ended.calls] == ["denied", "ok"]
    assert ended.answer.startswith("I was not allowed to write note.txt")
    assert ended.answer.endswith("6 times 7 is 42.")
    assert not (folder / "note.txt").exists()
    assert again.answer == "2 plus 2 is 4."


async def test_a_tool_that_is_not_offered_is_searched_for_once(home: Crib) -> None:
    async with home.open(gate=AllowAll()) as host:
        for number in range(60):

            @host.tool(name=f"count_{number}")
            def count() -> int:
                """Count sheep in the meadow."""
                return 1

        await host.ready()
        found = await host.agent("demo").ask("sheep, sheep, sheep: 6 × 7")
        missing = await host.agent("demo").ask("sheep: read plan.txt", chat=await _without_files(host))

    assert [call.tool for call in found.calls][-1] == "demo__multiply"
    assert found.answer == "6 times 7 is 42."
    assert [call.tool for call in missing.calls] == ["search_tools"]
    assert missing.answer == "There is no tool here to read plan.txt."


async def _without_files(host: Host) -> Chat:
    chat = await host.chats.store.create("demo")
    chat.info = await host.chats.store.choose_tools(chat.id, pinned=[], banned=["filesystem__*"])
    return chat
