"""A child's end is noticed with the system's help, or with a thread where it gives none."""

from __future__ import annotations

import os

import pytest

from tests.servers.children import alive, linked, misbehaving
from toolcrib.servers.processes.orphans import stat_of

pytestmark = pytest.mark.usefixtures("tidy")
BOTH_LOOPS = True


@pytest.fixture(params=["descriptor", "thread", "refused"])
def watching(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int) -> int:
        raise PermissionError

    if request.param == "thread":
        monkeypatch.delattr(os, "pidfd_open")
    if request.param == "refused":
        monkeypatch.setattr(os, "pidfd_open", refuse)


async def test_an_exit_is_noticed(watching):
    async with linked(misbehaving("end_when_told", 5)) as (link, ear):
        await ear.said()
        await link.send({"jsonrpc": "2.0", "method": "end"})
        assert "exited with code 5" in (await ear.loss()).message


async def test_a_child_is_ended_and_buried(watching):
    async with linked(misbehaving("mute")) as (link, ear):
        await ear.said()
    assert link.pid is not None
    assert not alive(link.pid)
    assert stat_of(link.pid) is None  # not even as one that is dead but not buried


async def test_an_exit_is_noticed_while_a_child_of_its_own_holds_the_pipes(watching, brisk):
    async with linked(misbehaving("leave_a_deaf_child")) as (link, ear):
        await ear.said()
        assert link.pid is not None
        os.kill(link.pid, 9)
        assert (await ear.loss()).message == "child was killed by signal 9."
