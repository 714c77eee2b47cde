"""The stdio link: what a child is given, how it ends, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.servers.children import Ear, alive, eventually, linked, misbehaving, open_descriptors
from toolcrib.errors import ConnectionLost
from toolcrib.servers.processes.log import MASK
from toolcrib.servers.processes.orphans import MARKER, marked
from toolcrib.servers.transport import LinkContext
from toolcrib.servers.transports import stdio

pytestmark = pytest.mark.usefixtures("tidy")
BOTH_LOOPS = True
NOTE = {"jsonrpc": "2.0", "method": "x"}


@pytest.fixture
def mark() -> str:
    """A marker of this process's children alone: others run the same tests at the same time."""
    return f"mark.{os.getpid()}."


# What the child is given


async def test_the_environment_is_exactly_the_given_one(monkeypatch: pytest.MonkeyPatch, mark: str):
    monkeypatch.setenv("A_KEY_OF_OURS", "not for servers")
    spec = misbehaving("report", env={"B": "entry", "OWN": "é=1"})
    environment = {"A": "given", "B": "given"}
    async with linked(spec, environment=environment, marker=mark) as (_, ear):
        said = await ear.said()
    said["environ"].pop("LC_CTYPE", None)  # the interpreter's own doing
    assert said["environ"] == {"A": "given", "B": "entry", "OWN": "é=1", MARKER: mark}


async def test_arguments_and_folder_arrive_as_they_are(tmp_path: Path):
    odd = ["", "a b", "$HOME", "*", '"quoted"', "é☃", "--", "-x", "a\nb"]
    async with linked(misbehaving("report", *odd, cwd=str(tmp_path))) as (_, ear):
        said = await ear.said()
    assert said["given"] == odd
    assert said["cwd"] == str(tmp_path)


async def test_the_child_leads_a_group_and_a_session_of_its_own():
    groups: list[tuple[str, int]] = []
    async with linked(
        misbehaving("report"),
        on_spawn=lambda group: groups.append(("spawn", group)),
        on_exit=lambda group: groups.append(("exit", group)),
    ) as (link, ear):
        said = await ear.said()
        assert said["group"] == said["session"] == link.pid
        assert groups == [("spawn", link.pid)]
    assert groups == [("spawn", link.pid), ("exit", link.pid)]


async def test_a_program_is_looked_for_on_the_childs_path_and_relative_to_its_folder(tmp_path: Path):
    tool = tmp_path / "bin" / "server"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\nexec {sys.executable} -S -E {misbehaving('mute').args[2]} mute\n")
    tool.chmod(0o755)
    for spec, environment in [
        (stdio.StdioSpec(command="server"), {"PATH": str(tool.parent)}),
        (stdio.StdioSpec(command="server", env={"PATH": str(tool.parent)}), {"PATH": "/nowhere"}),
        (stdio.StdioSpec(command="bin/server", cwd=str(tmp_path)), {}),
        (stdio.StdioSpec(command=str(tool)), {}),
    ]:
        async with linked(spec, environment=environment) as (_, ear):
            assert await ear.said() == {"ready": True}


# Its end, by itself


async def test_an_exit_is_told_with_its_code_and_the_last_words():
    async with linked(misbehaving("end", 3, "one", "two", "Traceback", "fatal: no key")) as (_, ear):
        error = await ear.loss()
    assert type(error) is ConnectionLost
    assert error.message == "child exited with code 3. Last output: fatal: no key"
    assert error.hint == "See `toolcrib logs child`."


async def test_a_death_by_signal_is_told():
    async with linked(misbehaving("kill_itself")) as (_, ear):
        assert (await ear.loss()).message == "child was killed by signal 9."


async def test_last_words_are_cut_and_masked():
    async with linked(misbehaving("end", 1, "s3cret-value " * 1000), masked=frozenset({"s3cret-value"})) as (
        _,
        ear,
    ):
        message = (await ear.loss()).message
    assert "s3cret" not in message
    assert MASK in message
    assert len(message) < 1000


async def test_what_was_written_before_the_end_is_still_heard():
    async with linked(misbehaving("answer_then_end", 0)) as (_, ear):
        error = await ear.loss()
    assert ear.messages == [{"jsonrpc": "2.0", "method": "said", "params": {"ready": True}}]
    assert error.message == "child exited with code 0."


async def test_the_loss_is_told_once_even_when_the_end_has_many_signs():
    async with linked(misbehaving("end_when_told", 4)) as (link, ear):
        await ear.said()
        await link.send(NOTE)
        error = await ear.loss()
        with pytest.raises(ConnectionLost):
            await link.send(NOTE)
        await asyncio.sleep(2 * stdio.EXIT_GRACE)  # every timer of the link has run by then
    assert ear.losses == [error]
    assert "told to end" in error.message


async def test_a_child_that_closes_its_output_is_lost_though_it_lives():
    async with linked(misbehaving("close_stdout")) as (link, ear):
        error = await ear.loss()
        assert error.message == "child closed its output."
        assert link.pid is not None
        assert alive(link.pid)
    assert not alive(link.pid)


async def test_a_child_that_closes_its_input_is_lost_at_the_latest_with_the_next_message(brisk):
    async with linked(misbehaving("close_stdin")) as (link, ear):
        await ear.said()
        with contextlib.suppress(ConnectionLost):  # one loop tells at once, the other with the first write
            await link.send(NOTE)
        assert (await ear.loss()).message == "child closed its input."
        with pytest.raises(ConnectionLost, match="no longer reads"):
            await link.send(NOTE)


async def test_a_line_above_the_bound_loses_the_link_and_nothing_more_is_heard(brisk):
    async with linked(misbehaving("endless"), max_message_bytes=1 << 20) as (_, ear):
        assert (await ear.loss()).message == "child sent a line of more than 1 MB."
    assert ear.messages == []


# Its end, by us


async def test_a_good_child_ends_with_its_input():
    async with linked(misbehaving("mute")) as (link, ear):
        await ear.said()
    assert link.pid is not None
    assert not alive(link.pid)
    assert ear.losses == []


@pytest.mark.parametrize("how", ["stubborn", "leave_a_child", "leave_a_deaf_child", "leave_a_daemon"])
async def test_nothing_is_left_of_a_child_that_does_not_want_to_end(brisk, how: str, mark: str):
    async with linked(misbehaving(how), marker=mark) as (link, ear):
        (pid,) = (await ear.said())["pids"]
        assert alive(pid)
    assert not alive(pid)
    assert link.pid is not None
    assert not alive(link.pid)
    assert marked(mark) == []
    assert ear.losses == []


async def test_nothing_is_left_of_a_child_that_crashed_either(brisk, mark: str):
    async with linked(misbehaving("leave_a_daemon"), marker=mark) as (link, ear):
        (pid,) = (await ear.said())["pids"]
        assert link.pid is not None
        os.kill(link.pid, signal.SIGKILL)
        assert (await ear.loss()).message == "child was killed by signal 9."
    assert not alive(pid)


async def test_a_stopped_child_is_ended_too(brisk):
    async with linked(misbehaving("mute")) as (link, ear):
        await ear.said()
        assert link.pid is not None
        os.kill(link.pid, signal.SIGSTOP)
    assert not alive(link.pid)


async def test_ending_twice_is_fine():
    ear = Ear()
    exits: list[int] = []
    context = LinkContext(server="child", on_exit=exits.append)
    async with stdio.open(misbehaving("mute"), ear, context) as link:
        await ear.said()
        assert isinstance(link, stdio.StdioLink)
        await link.end()
        assert len(exits) == 1
    with pytest.raises(ConnectionLost):
        await link.send(NOTE)
    assert ear.losses == []


async def test_ten_children_come_and_go_without_a_trace():
    async with linked(misbehaving("mute")) as (_, ear):
        await ear.said()
    before = open_descriptors()
    for _ in range(10):
        async with linked(misbehaving("mute")) as (_, ear):
            await ear.said()
    await eventually(lambda: open_descriptors() <= before)


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 8])
async def test_cancelled_in_the_middle_of_opening_nothing_is_left(brisk, turns: int, mark: str):
    async def hold() -> None:
        async with linked(misbehaving("stubborn"), marker=mark):
            await asyncio.Event().wait()

    opening = asyncio.ensure_future(hold())
    for _ in range(turns):
        await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert marked(mark) == []


async def test_cancelled_again_while_ending_it_still_ends(brisk, mark: str):
    async def hold(ready: asyncio.Event) -> None:
        async with linked(misbehaving("stubborn"), marker=mark) as (_, ear):
            await ear.said()
            ready.set()
            await asyncio.Event().wait()

    ready = asyncio.Event()
    holding = asyncio.ensure_future(hold(ready))
    async with asyncio.timeout(60):
        await ready.wait()
    for _ in range(5):
        holding.cancel()
        await asyncio.sleep(0)
    assert not holding.done()
    with pytest.raises(asyncio.CancelledError):
        await holding
    assert marked(mark) == []


async def test_an_error_inside_the_block_comes_out_and_the_child_is_gone(mark: str):
    async def stumble() -> None:
        async with linked(misbehaving("mute"), marker=mark) as (_, ear):
            await ear.said()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await stumble()
    assert marked(mark) == []
