"""The end of a log file, across rotations."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib.operations.servers import READ_BYTES, Tail


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "server.log"


def test_a_file_that_is_not_there_yet_is_read_when_it_comes(log: Path) -> None:
    tail = Tail(log)
    assert tail.last(10) == []

    log.write_text("one\n")

    assert tail.more() == ["one"]
    assert tail.more() == []


def test_only_the_last_lines_are_given_and_then_what_is_new(log: Path) -> None:
    log.write_text("one\ntwo\nthree\n")
    tail = Tail(log)

    assert tail.last(2) == ["two", "three"]
    with log.open("a") as file:
        file.write("four\nfi")
    assert tail.more() == ["four"]
    with log.open("a") as file:
        file.write("ve\n")
    assert tail.more() == ["five"]


def test_none_of_the_last_lines_is_none(log: Path) -> None:
    log.write_text("one\n")
    tail = Tail(log)

    assert tail.last(0) == []
    assert tail.more() == []


def test_a_rotated_file_is_read_on_from_its_start(log: Path) -> None:
    log.write_text("one\n")
    tail = Tail(log)
    tail.last(10)

    log.rename(log.with_suffix(".1"))
    log.write_text("two\n")

    assert tail.more() == ["two"]


def test_a_large_file_is_read_from_near_its_end(log: Path) -> None:
    log.write_text("".join(f"line {number}\n" for number in range(100_000)))
    assert log.stat().st_size > READ_BYTES

    lines = Tail(log).last(1_000_000)

    assert lines[-1] == "line 99999"
    assert all(line.startswith("line ") for line in lines)


def test_what_is_no_text_is_shown_somehow(log: Path) -> None:
    log.write_bytes(b"a\xffb\r\n")

    assert Tail(log).last(1) == ["a\ufffdb"]
