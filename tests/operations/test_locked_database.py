"""A host whose database another process locks: what users see of it."""

from __future__ import annotations

import asyncio

import pytest

from tests.operations.test_tool_operations import run
from tests.store.test_audit import held, until
from toolcrib.host import Host
from toolcrib.store import work_queue


async def test_the_doctor_and_the_status_line_show_what_waits_and_what_was_lost(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = host.core.database
    assert database.path is not None
    monkeypatch.setattr(work_queue, "MAX_KEPT", 3)
    async with held(database.path) as let_go:
        writes = [database.keep(lambda connection: connection.execute("DELETE FROM trust")) for _ in range(5)]
        await host.call("demo__add", {"a": 1, "b": 2})
        await until(lambda: database.trouble is not None and host.audit.waiting > 0)
        counts = (await run(host, "host_info"))["counts"]
        details = " ".join(one["detail"] for one in (await run(host, "doctor", wait=0))["checks"])
        await let_go()
    assert counts["unsaved"] >= 4, "three writes and the record of the call"
    assert counts["lost"] == 2
    assert "3 background writes are waiting: database is locked" in details
    assert "2 background writes (such as chat messages or rules) were lost" in details
    await asyncio.gather(*map(asyncio.wrap_future, writes), return_exceptions=True)
    await until(lambda: database.trouble is None and host.audit.waiting == 0)
    assert (await run(host, "host_info"))["counts"]["unsaved"] == 0
