"""No sandbox fills the disk: a server, a command and code are stopped at their limits, which are named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import Crib
from tests.servers.sandbox.test_running import logged, probing
from toolcrib.errors import CallFailed, ToolcribError
from toolcrib.features.workflows import services as workflow_code
from toolcrib.features.workflows.services import CodeRunner
from toolcrib.schema.servers import ServerState
from toolcrib.serverkit.sandbox.disk import SMALLEST, DiskMeter, used

MB = 1024 * 1024
FILL = (
    "[open({name!r} + str(n), 'wb').write(bytes(4_000_000)) for n in range(75)] + [import_('time').sleep(60)]"
)
KEEP_OPEN = """
import os, time
files = [open(os.path.expanduser(f"~/{n}"), "wb") for n in range(75)]
for file in files:
    os.unlink(file.name)
for file in files:
    file.write(bytes(4_000_000)); file.flush()
time.sleep(60)
"""


async def test_one_large_file_is_refused_and_the_setting_is_named(crib: Crib) -> None:
    async with probing(crib.home, {"disk": 20}) as (host, run):
        for place in ("/tmp/large", "/var/tmp/large", "large"):
            writing = "[import_('os').unlink(file.name), file.write(bytes(30_000_000))]"
            assert "too large" in await run(f"(lambda file: {writing})(open({place!r}, 'wb'))")
        assert "sandbox.disk" in await logged(host, "20 MB")


@pytest.mark.parametrize("name", ["/tmp/", "/var/tmp/", ""])
async def test_many_files_stop_the_server_and_the_setting_is_named(crib: Crib, name: str) -> None:
    async with probing(crib.home, {"disk": 20}) as (host, run):
        with pytest.raises(ToolcribError):
            await run(FILL.format(name=name))
        line = await logged(host, "It was stopped")
    assert "more than 20 MB" in line
    assert "sandbox.disk" in line


async def test_deleted_files_that_are_open_count(crib: Crib) -> None:
    async with probing(crib.home, {"disk": 20}) as (host, run):
        with pytest.raises(ToolcribError):
            await run(f"import_('subprocess').run([{sys.executable!r}, '-c', {KEEP_OPEN!r}])")
        assert "sandbox.disk" in await logged(host, "It was stopped")


async def test_a_server_within_its_limit_goes_on(crib: Crib) -> None:
    async with probing(crib.home, {"disk": 400}) as (host, run):
        filled = FILL.partition(" + [import_")[0].format(name="")
        assert await run(f"len({filled})") == "75"
        assert host.servers["probe"].status.state is ServerState.READY


@pytest.mark.parametrize("place", ["/dev/shm/x", "/dev/x", "/proc/x", "/mnt/x", "/home/x", "/run/x"])
async def test_no_other_place_takes_files_without_end(crib: Crib, place: str) -> None:
    writing = f"(lambda f: [f.write(bytes(16 << 20)) for _ in range(80)])(open({place!r}, 'wb', 0))"
    async with probing(crib.home, {"disk": 4000}) as (_, run):
        assert "Error" in await run(writing)


# Bubblewrap gives code a `/tmp` of its own; in Landlock, which is used without it, code cannot write there.
@pytest.mark.parametrize("place", ["", pytest.param("/tmp/", marks=pytest.mark.acceptance)])
async def test_code_of_a_workflow_is_ended_above_its_limit(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(workflow_code, "MOST_DISK", 20 * MB)
    large = f"open({place!r} + 'large', 'wb').write(bytes(30_000_000))"
    many = f"for n in range(75):\n    open({place!r} + str(n), 'wb').write(bytes(4_000_000))\n"
    with pytest.raises(CallFailed, match="too large"):
        await CodeRunner().run(large, {}, 60)
    with pytest.raises(CallFailed, match="20 MiB on disk"):
        await CodeRunner().run(f"{many}import time\ntime.sleep(60)", {}, 60)


def test_links_count_once_and_empty_files_count(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(bytes(8 * SMALLEST))
    for number in range(4):
        (tmp_path / f"link{number}").hardlink_to(tmp_path / "one")
        (tmp_path / f"empty{number}").touch()
    assert used([str(tmp_path)], (), MB) == 12 * SMALLEST


def test_what_was_there_before_is_no_reason_for_a_new_command(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(bytes(100 * SMALLEST))
    assert DiskMeter([str(tmp_path)], SMALLEST, lambda: ()).exceeded()
    assert not DiskMeter([str(tmp_path)], SMALLEST, lambda: (), from_now=True).exceeded()
