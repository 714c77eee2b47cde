"""The stdio link under load: floods, rubbish, large messages and slow readers."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from pathlib import Path

import pytest

from tests.loop_clock import settle
from tests.servers.children import alive, eventually, linked, misbehaving
from toolcrib.errors import ConnectionLost, NotDelivered
from toolcrib.servers.processes.log import BYTES_PER_SECOND, FILE_SIZE, KEPT_FILES, MASK
from toolcrib.servers.processes.log_lines import output_in
from toolcrib.servers.transports import stdio

pytestmark = pytest.mark.usefixtures("tidy")
BOTH_LOOPS = True
NOTE = {"jsonrpc": "2.0", "method": "x"}


# What it writes


async def test_a_flood_on_stderr_neither_blocks_the_answers_nor_fills_the_disk(tmp_path: Path):
    file = tmp_path / "child.log"
    async with linked(misbehaving("flood", 200), log_path=file) as (link, ear):
        for number in range(1, 21):
            await link.send({**NOTE, "params": {"n": number}})
            await ear.until(lambda number=number: {**NOTE, "params": {"n": number}} in ear.messages)
        await ear.until(lambda: any(m.get("params") == {"poured": True} for m in ear.messages))
        assert link.log.dropped_bytes > 100 << 20
    files = list(tmp_path.iterdir())
    assert len(files) <= KEPT_FILES
    assert sum(path.stat().st_size for path in files) <= KEPT_FILES * (FILE_SIZE + BYTES_PER_SECOND)


async def test_rubbish_on_stdout_is_counted_logged_and_masked(tmp_path: Path):
    file = tmp_path / "child.log"
    counts: list[int] = []
    code = "print('Starting up with s3cret-value'); print(); print('  '); print('{oops}'); input()"
    spec = stdio.StdioSpec(command=sys.executable, args=("-S", "-E", "-u", "-c", code))
    context = {"on_junk": counts.append, "log_path": file, "masked": frozenset({"s3cret-value"})}
    async with linked(spec, **context) as (link, _):
        await eventually(lambda: counts == [1, 2])
        assert link.junk_lines == 2
    assert output_in(file.read_text())[:2] == [f"[stdout] Starting up with {MASK}", "[stdout] {oops}"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_stderr_reaches_the_log_to_the_last_word(tmp_path: Path):
    file = tmp_path / "child.log"
    async with linked(misbehaving("end", 1, "one", "two"), log_path=file) as (_, ear):
        await ear.loss()
    assert output_in(file.read_text()) == ["one", "two"]


# Large messages and slow readers


@pytest.mark.parametrize("megabytes", [5, 50])
@pytest.mark.acceptance
async def test_a_large_line_arrives_whole(megabytes: int):
    async with linked(misbehaving("big", megabytes)) as (link, ear):
        await link.send(NOTE)
        said = await ear.said()
    assert len(said["body"]) == megabytes << 20


MANY_VALUES = """
import sys
note = '{"jsonrpc":"2.0","method":"n","params":{"rows":[%s]}}'
many, more = ",".join(['{"a":[1]}'] * 300_000), ",".join(["3"] * 300_000)
print(note % 1, note % many, note % 2, "junk", note % more, note % 4, sep="\\n", flush=True)
"""


@pytest.mark.quiet
async def test_a_large_line_is_read_beside_the_loop_and_nothing_overtakes_it():
    spec = stdio.StdioSpec(command=sys.executable, args=("-S", "-E", "-c", MANY_VALUES))
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0.001)  # without a pause, this loop would starve the thread that reads

    async with linked(spec) as (link, ear):
        await ear.message(1)
        turning = asyncio.ensure_future(turn())
        await ear.message(5)
        turning.cancel()
        await ear.loss()  # it ended while its large lines were being read
        assert link.junk_lines == 1
    assert [len(message["params"]["rows"]) for message in ear.messages] == [1, 300_000, 1, 300_000, 1]
    assert turns > 50


@pytest.mark.quiet
async def test_ten_times_the_line_costs_about_ten_times_the_work():
    async def work(megabytes: int) -> float:
        async with linked(misbehaving("big", megabytes)) as (link, ear):
            costs = []
            for number in (1, 2, 3):
                began = os.times()
                await link.send(NOTE)
                await ear.message(number)
                ended = os.times()
                costs.append(ended.user + ended.system - began.user - began.system)
                ear.messages[-1]["params"].clear()
            return min(costs)

    small = max(await work(5), 0.02)
    assert await work(50) < small * 40  # quadratic would be a hundred times


async def test_a_large_message_reaches_a_slow_reader_whole_and_later_senders_wait_their_turn():
    async with linked(misbehaving("stop_reading")) as (link, ear):
        await ear.said()
        first = {**NOTE, "params": {"body": "x" * (5 << 20)}}
        async with asyncio.timeout(60):
            await link.send(first)
        waiting = [asyncio.ensure_future(link.send({**NOTE, "params": {"n": n}})) for n in range(10)]
        await settle()
        assert not any(task.done() for task in waiting)
        waiting[3].cancel()
        assert link.pid is not None
        os.kill(link.pid, signal.SIGUSR1)
        await asyncio.wait(waiting, timeout=60)
        assert [task.cancelled() for task in waiting] == [n == 3 for n in range(10)]
        await ear.message(11)
        assert ear.messages[1]["params"]["length"] > 5 << 20


async def test_senders_that_wait_learn_of_the_end(brisk):
    async with linked(misbehaving("stop_reading")) as (link, ear):
        await ear.said()
        await link.send({**NOTE, "params": {"body": "x" * (5 << 20)}})
        waiting = [asyncio.ensure_future(link.send(NOTE)) for _ in range(5)]
        await settle()
        assert link.pid is not None
        os.kill(link.pid, signal.SIGKILL)
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {NotDelivered}
        await ear.loss()


async def test_ending_does_not_wait_for_a_reader_that_does_not_read(brisk):
    async with linked(misbehaving("stop_reading")) as (link, ear):
        await ear.said()
        await link.send({**NOTE, "params": {"body": "x" * (5 << 20)}})
        waiting = asyncio.ensure_future(link.send(NOTE))
        await settle()
    with pytest.raises(ConnectionLost):
        await waiting
    assert link.pid is not None
    assert not alive(link.pid)
