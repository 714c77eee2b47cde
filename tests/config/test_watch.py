from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from toolcrib.config.store import ConfigStore
from toolcrib.config.watch import changes, digest
from toolcrib.errors import ConfigError

DEADLINE = 60
QUIET = 0.4
"""Seconds of watching, many looks long, in which nothing may be reported."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mcp.json"
    path.write_bytes(b"one")
    return path


def save(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def remove(file: Path) -> None:
    file.unlink()


def modified(file: Path) -> int:
    return file.stat().st_mtime_ns


def watch(file: Path) -> AsyncIterator[str]:
    return changes(file, 0.02, since=digest(b"one"))


async def next_change(watching: AsyncIterator[str]) -> str:
    return await asyncio.wait_for(anext(watching), DEADLINE)


async def test_an_edit_in_place_is_noticed(file: Path) -> None:
    watching = watch(file)
    save(file, b"two")
    assert await next_change(watching) == digest(b"two")
    save(file, b"six")
    assert await next_change(watching) == digest(b"six")


async def test_an_atomic_replacement_is_noticed(file: Path) -> None:
    watching = watch(file)
    for content in (b"two", b"six", b"one"):
        new = file.with_name("new")
        new.write_bytes(content)
        new.replace(file)
        assert await next_change(watching) == digest(content)


async def test_a_file_made_anew_is_noticed_and_its_absence_is_not(file: Path) -> None:
    watching = watch(file)
    remove(file)
    waiting = asyncio.ensure_future(anext(watching))

    done, _ = await asyncio.wait({waiting}, timeout=QUIET)
    assert not done
    save(file, b"two")

    assert await asyncio.wait_for(waiting, DEADLINE) == digest(b"two")


async def test_a_touch_is_no_change(file: Path) -> None:
    watching = watch(file)
    waiting = asyncio.ensure_future(anext(watching))

    os.utime(file, ns=(1, 1))
    done, _ = await asyncio.wait({waiting}, timeout=QUIET)
    assert not done
    save(file, b"two")

    assert await asyncio.wait_for(waiting, DEADLINE) == digest(b"two")


async def test_an_edit_that_keeps_size_and_time_is_noticed(file: Path) -> None:
    watching = watch(file)
    save(file, b"two")
    stamp = modified(file)
    assert await next_change(watching) == digest(b"two")

    save(file, b"six")
    os.utime(file, ns=(stamp, stamp))

    assert await next_change(watching) == digest(b"six")


async def test_a_file_written_in_pieces_is_reported_whole(file: Path) -> None:
    watching = watch(file)
    waiting = asyncio.ensure_future(anext(watching))
    with file.open("wb", buffering=0) as out:
        for _ in range(20):
            out.write(b"piece")
            await asyncio.sleep(0.005)

    assert await asyncio.wait_for(waiting, DEADLINE) == digest(b"piece" * 20)


async def test_what_changed_between_reading_and_watching_is_not_lost(file: Path) -> None:
    save(file, b"two")

    assert await next_change(watch(file)) == digest(b"two")


async def test_an_edit_that_breaks_the_file_leaves_the_last_good_state_to_whoever_holds_it(
    file: Path,
) -> None:
    store = ConfigStore(file)
    save(file, b'{"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}}}')
    good = store.read()
    watching = changes(file, 0.02, since=good.digest)

    save(file, b'{"mcpServers": {\n  "a": oops}}')
    await next_change(watching)
    with pytest.raises(ConfigError) as caught:
        store.read()
    assert (caught.value.line, caught.value.column) == (2, 8)

    save(file, b'{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}')
    await next_change(watching)
    fixed = store.read()
    assert fixed.fingerprints["a"] == good.fingerprints["a"]
    assert fixed.fingerprints["b"] != good.fingerprints["b"]


async def test_without_a_start_what_is_there_counts_as_read(file: Path) -> None:
    watching = changes(file, 0.02)
    waiting = asyncio.ensure_future(anext(watching))

    done, _ = await asyncio.wait({waiting}, timeout=QUIET)
    assert not done
    save(file, b"two")

    assert await asyncio.wait_for(waiting, DEADLINE) == digest(b"two")
