"""The limit on open files: ours is raised, that of a child is not."""

from __future__ import annotations

import os
import resource
import sys

import pytest

from tests.servers.children import linked
from toolcrib.servers.processes import child
from toolcrib.servers.transports import stdio

TELL = """
import json, resource
input()
limits = resource.getrlimit(resource.RLIMIT_NOFILE)
print(json.dumps({"jsonrpc": "2.0", "method": "n", "params": limits}), flush=True)
input()
"""


@pytest.fixture
def low_limit(monkeypatch: pytest.MonkeyPatch):
    """A soft limit as a terminal gives it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    monkeypatch.setattr(child, "_usual", [])
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
    yield hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_a_host_may_open_as_many_files_as_it_can_and_its_servers_keep_the_usual_limit(low_limit: int):
    child.raise_limit()
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 512
    spec = stdio.StdioSpec(command=sys.executable, args=("-S", "-E", "-c", TELL))
    async with linked(spec) as (link, ear):
        await link.send({"jsonrpc": "2.0", "method": "x"})
        assert (await ear.message(1))["params"] == [512, low_limit]


async def test_no_room_for_another_file_is_no_fault_of_the_server(low_limit: int, crib, until):
    crib.server("late", restart={"giveUpAfter": 1})
    async with crib.open() as host:
        await host.ready()
        files = []
        try:
            while True:
                files.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            pass
        restarting = host.servers["late"]
        await restarting.stop()
        restarting.start()
        await until(host, lambda: host.servers.status("late").state == "backoff")
        for file in files:
            os.close(file)
        assert "out of resources" in host.servers.status("late").reason
        assert restarting.crashes == 0
        restarting.start()
        await until(host, lambda: host.servers.status("late").state == "ready")
