"""A host whose workflow database does not answer."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
from contextlib import closing

import pytest

from tests.conftest import Crib
from tests.features.workflows.host.workflow_sample import chain, in_state, opened, run, shown
from tests.gateway.speaking import eventually
from toolcrib.config.database_key import Signer
from toolcrib.errors import DatabaseUnavailable
from toolcrib.features.workflows import startup
from toolcrib.features.workflows.engine import database

WORKFLOW = chain("greet", {"text": {"type": "Set", "settings": {"values": {"text": "Hello"}}}})


async def test_requests_that_wait_for_a_silent_database_fail_together(
    crib: Crib, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PATIENCE", 1.0)
    monkeypatch.setattr(database, "FIRST_PAUSE", 10.0)
    with socket.create_server(("127.0.0.1", 0), backlog=50) as silent:
        async with opened(crib) as host:
            host.workflows.runs.engine.signer = Signer.new()
            host.workflows.runs.engine.url = f"postgresql://any@127.0.0.1:{silent.getsockname()[1]}/any"
            requests = [run(host, "workflow_runs") for _ in range(5)]
            requests.append(run(host, "workflow_run", workflow=WORKFLOW))
            found = await asyncio.gather(*requests, return_exceptions=True)

        assert [type(each) for each in found] == [DatabaseUnavailable] * 6
        assert _connections(silent) == 1, "the first request has tried for all"


def _connections(listener: socket.socket) -> int:
    listener.setblocking(False)
    number = 0
    while True:
        try:
            listener.accept()[0].close()
        except BlockingIOError:
            return number
        number += 1


async def test_a_host_goes_on_with_runs_once_their_database_answers(
    crib: Crib, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asking = chain("ask", {"question": {"type": "AskUser", "settings": {"message": "Go on?"}}})
    async with opened(crib) as host:
        started = await run(host, "workflow_run", workflow=asking, detach=True)
        await shown(host, started["run"], in_state("waiting"))

    patience = database.PATIENCE
    monkeypatch.setattr(startup, "INTERVAL", 0.1)
    monkeypatch.setattr(database, "PATIENCE", 0.5)
    monkeypatch.setattr(database, "LONGEST_LOCK_MS", 100)
    with closing(sqlite3.connect(crib.home / "data/runs/runs.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with opened(crib) as host:
            await eventually(lambda: "workflows cannot run" in caplog.text)
            assert not host.workflows.runs.engine.is_open
            monkeypatch.setattr(database, "PATIENCE", patience)
            other.execute("ROLLBACK")
            await eventually(lambda: host.workflows.runs.engine.is_open)
