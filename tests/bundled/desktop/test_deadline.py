"""A stall of the machine does not count against a deadline."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from toolcrib.bundled.desktop.deadline import COUNTED, Deadline, PatientTimeout, slowness, wait_until


async def test_a_wait_ends_at_its_deadline() -> None:
    with pytest.raises(TimeoutError):
        async with PatientTimeout(0.15):
            await asyncio.Event().wait()


async def test_a_stall_counts_only_in_part() -> None:
    answered = asyncio.Event()
    async with PatientTimeout(2 * COUNTED):
        time.sleep(4 * COUNTED)  # noqa: ASYNC251 - as if the machine had stopped
        asyncio.get_running_loop().call_soon(answered.set)
        await answered.wait()


async def test_an_error_inside_is_not_replaced() -> None:
    with pytest.raises(ValueError, match="inside"):
        async with PatientTimeout(5):
            raise ValueError("inside")


def test_a_thread_counts_stalls_only_in_part() -> None:
    deadline = Deadline(3 * COUNTED)
    time.sleep(4 * COUNTED)
    assert deadline.look() > COUNTED
    assert not wait_until(lambda: False, 0.05, 0.01)
    assert wait_until(lambda: True, 0, 0.01)


@pytest.mark.parametrize(("load", "factor"), [(0.1, 1.0), (6.0, 3.0), (1000.0, 8.0)])
def test_a_loaded_machine_gives_programs_more_time(
    monkeypatch: pytest.MonkeyPatch, load: float, factor: float
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert slowness() == factor
