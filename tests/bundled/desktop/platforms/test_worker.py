"""Blocking calls to a system: in order, with a deadline, and one that hangs delays no other."""

from __future__ import annotations

import threading

import pytest

from toolcrib.bundled.desktop.backends.chords import parse_chord
from toolcrib.bundled.desktop.backends.worker import Worker
from toolcrib.serverkit.context import ToolFailure


async def test_calls_run_in_one_prepared_thread() -> None:
    prepared: list[int] = []
    worker = Worker("test", lambda: prepared.append(threading.get_ident()))

    threads = [await worker.run(threading.get_ident) for _ in range(3)]
    worker.close()

    assert threads == prepared * 3


async def test_an_error_reaches_the_caller_and_the_thread_goes_on() -> None:
    worker = Worker("test")

    with pytest.raises(ZeroDivisionError):
        await worker.run(lambda: 1 // 0)
    assert await worker.run(lambda: "next") == "next"
    worker.close()


async def test_a_call_that_hangs_is_given_up_with_its_thread_alone() -> None:
    worker, hanging = Worker("test"), threading.Event()

    with pytest.raises(ToolFailure, match="did not answer"):
        await worker.run(hanging.wait, timeout=0.05)
    assert await worker.run(lambda: "answered") == "answered"
    hanging.set()
    worker.close()


@pytest.mark.parametrize(
    ("chord", "keys"),
    [
        ("Enter", ["enter"]),
        ("Return", ["enter"]),
        ("Ctrl+Shift+S", ["ctrl", "shift", "s"]),
        ("cmd+option+esc", ["super", "alt", "escape"]),
        ("ctrl++", ["ctrl", "+"]),
        ("+", ["+"]),
        (" ", [" "]),
        ("A", ["A"]),
        ("page_down", ["pagedown"]),
    ],
)
def test_chords_are_split_into_the_names_of_keys(chord: str, keys: list[str]) -> None:
    assert parse_chord(chord) == keys
