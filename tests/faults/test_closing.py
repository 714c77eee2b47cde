"""Transports that misbehave while they are closed: they neither hold the host nor outlive it."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from toolcrib import plugins
from toolcrib.errors import ServerNotReady
from toolcrib.servers import supervisor, transports

TRANSPORT = """
from contextlib import asynccontextmanager
from toolcrib.servers.transports import inprocess

Spec = inprocess.Spec
opened = 0
close = None

@asynccontextmanager
async def open(spec, inbox, context):
    global opened
    opened += 1
    async with inprocess.open(spec, inbox, context) as link:
        try:
            yield link
        finally:
            await close(context)
"""
DEADLINE = 60.0


async def _raises(context: Any) -> None:
    raise RuntimeError("while it is closed")


async def _raises_a_timeout(context: Any) -> None:
    raise TimeoutError("while it is closed")


async def _raises_a_group(context: Any) -> None:
    raise BaseExceptionGroup("while it is closed", [asyncio.CancelledError(), ValueError("one of two")])


async def _hangs(context: Any) -> None:
    await asyncio.Event().wait()


async def _hangs_and_then_raises(context: Any) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        raise RuntimeError("while it is closed")


@pytest.fixture
def misclosing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The transport `misclosing`, as an extension."""
    folder = tmp_path / "extension"
    folder.mkdir()
    (folder / "misclosing.py").write_text(TRANSPORT)
    monkeypatch.setattr(transports, "__path__", [*transports.__path__, str(folder)])
    monkeypatch.setattr(supervisor, "CLOSE_DEADLINE", 0.2)
    monkeypatch.setattr(supervisor, "INSIST_DEADLINE", 0.2)
    from toolcrib.servers.transports import misclosing  # type: ignore[attr-defined]

    yield misclosing
    plugins.find.cache_clear()
    sys.modules.pop(misclosing.__name__)
    del transports.misclosing  # type: ignore[attr-defined]


def _server(crib: Any) -> None:
    crib.entry("odd", {"type": "misclosing", "module": "toolcrib.bundled.demo"})


def _tasks() -> set[asyncio.Task[Any]]:
    return {task for task in asyncio.all_tasks() if not task.done()}


@pytest.mark.parametrize(
    "close", [_raises, _raises_a_timeout, _raises_a_group, _hangs, _hangs_and_then_raises]
)
async def test_a_transport_that_fails_while_it_is_closed_ends_with_the_host(crib, misclosing, close):
    _server(crib)
    misclosing.close = close
    before = _tasks()
    async with asyncio.timeout(DEADLINE):
        async with crib.open() as host:
            await host.ready()
            assert host.servers.status("odd").state == "ready"
    assert misclosing.opened == 1
    assert _tasks() <= before


@pytest.mark.parametrize("close", [_raises, _raises_a_group, _hangs, _hangs_and_then_raises])
async def test_a_server_whose_transport_fails_while_it_is_closed_can_be_restarted(crib, misclosing, close):
    _server(crib)
    misclosing.close = close
    async with asyncio.timeout(DEADLINE):
        async with crib.open() as host:
            await host.ready()
            await host.servers["odd"].restart()
            assert (await host.servers["odd"].settled()).state == "ready"
            await host.servers["odd"].stop()
            assert host.servers.status("odd").state == "disabled"
    assert misclosing.opened == 2


async def test_a_transport_that_never_ends_is_abandoned(crib, misclosing):
    released = asyncio.Event()

    async def never(context: Any) -> None:
        while not released.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await released.wait()

    _server(crib)
    misclosing.close = never
    before = _tasks()
    async with asyncio.timeout(DEADLINE):
        async with crib.open() as host:
            await host.ready()
            await host.servers["odd"].restart()
            assert (await host.servers["odd"].settled()).state == "ready"
    left = _tasks() - before
    released.set()
    await asyncio.wait(left, timeout=DEADLINE)
    assert {task.get_name() for task in left} == {"connection to odd"}
    assert _tasks() <= before
    assert misclosing.opened == 2


async def test_a_transport_that_cancels_itself_counts_as_a_failure(crib, misclosing):
    _server(crib)

    async def cancels_itself(context: Any) -> None:
        raise asyncio.CancelledError

    misclosing.close = cancels_itself
    async with asyncio.timeout(DEADLINE):
        async with crib.open() as host:
            await host.ready()
            host.servers["odd"].session.lose(supervisor.ConnectionLost("It ended."))
            while host.servers.status("odd").restarts == 0:
                await host.servers["odd"]._changed.wait()
            assert "cancelled internally" in (host.servers.status("odd").last_failure or "")


async def test_after_a_restart_a_call_waits_only_as_long_as_for_any_restart(crib, misclosing, monkeypatch):
    """A second start that hangs: its callers wait for `callWait`, not for the start's own deadline."""

    async def closes(context: Any) -> None:
        return

    _server(crib)
    misclosing.close = closes
    async with asyncio.timeout(DEADLINE):
        async with crib.open() as host:
            await host.ready()
            odd = host.servers["odd"]
            odd._with = replace(odd._with, call_wait=0.05)
            assert odd._patience() == 0.05
            monkeypatch.setattr(misclosing, "open", _never_opens)
            await odd.restart()
            with pytest.raises(ServerNotReady, match="still starting"):
                await odd.ready()


@contextlib.asynccontextmanager
async def _never_opens(*given: Any) -> AsyncIterator[Any]:
    await asyncio.Event().wait()
    yield
