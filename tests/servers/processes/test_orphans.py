"""Finding what was left behind, and ending it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.children import alive, eventually
from toolcrib.servers.processes import orphans
from toolcrib.servers.processes.orphans import (
    MARKER,
    group_alive,
    kill_marked,
    marked,
    signal_group,
    start_time,
    stat_of,
)


@pytest.fixture
def token() -> str:
    return f"test-{os.getpid()}-{os.urandom(4).hex()}"


def sleeper(**options: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "300"], start_new_session=True, **options)  # type: ignore[call-overload]


def end(*processes: subprocess.Popen[bytes]) -> None:
    for process in processes:
        process.kill()
        process.wait()


def test_the_marked_are_found_by_the_beginning_of_their_marker(token: str):
    mine = [sleeper(env={MARKER: f"{token}.{n}."}) for n in (1, 11)]
    others = [sleeper(env={MARKER: "another.1."}), sleeper(env={"X": f"{MARKER}={token}"})]
    assert sorted(marked(token)) == sorted(process.pid for process in mine)
    assert marked(f"{token}.1.") == [mine[0].pid]
    assert kill_marked(token) == 2
    assert [process.wait(20) for process in mine] == [-signal.SIGKILL] * 2
    assert [process.poll() for process in others] == [None, None]
    assert kill_marked(token) == 0
    end(*others)


def test_one_that_forks_again_and_again_is_caught_in_the_end(token: str):
    loop = 'sleep 0.02; exec sh -c "$0" "$0" &'
    forking = subprocess.Popen(["sh", "-c", loop, loop], env={MARKER: token, "PATH": os.defpath})
    forking.wait()
    kill_marked(token)
    assert marked(token) == []


def test_one_that_was_forked_after_the_list_was_made_is_caught(token: str, monkeypatch: pytest.MonkeyPatch):
    list_folder, forked = os.listdir, list[subprocess.Popen[bytes]]()

    def list_then_fork(folder: str) -> list[str]:
        names = list_folder(folder)
        if not forked:
            forked.append(subprocess.Popen(["sleep", "300"], env={MARKER: token, "PATH": os.defpath}))
        return names

    monkeypatch.setattr(os, "listdir", list_then_fork)
    assert kill_marked(token) == 1
    assert forked[0].wait(10) == -signal.SIGKILL


def test_we_ourselves_are_never_among_the_marked(token: str):
    code = (
        "import os, sys; from toolcrib.servers.processes.orphans import kill_marked, marked;"
        f"print(marked({token!r}), kill_marked({token!r}))"
    )
    output = subprocess.check_output([sys.executable, "-c", code], env={MARKER: token})
    assert output.split() == [b"[]", b"0"]


async def test_a_group_of_the_dead_is_dead_though_nobody_has_buried_them():
    process = subprocess.Popen(["true"], start_new_session=True)
    await eventually(lambda: (stat_of(process.pid) or [b""])[0] == b"Z")
    os.killpg(process.pid, 0)  # the kernel still knows the group
    assert not group_alive(process.pid)
    process.wait()
    assert not group_alive(process.pid)


async def test_a_group_lives_as_long_as_any_of_it_lives():
    process = subprocess.Popen(
        ["sh", "-c", "sleep 300 & echo $!"], stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    left = int(process.stdout.readline())
    process.wait()
    assert alive(left)
    assert group_alive(process.pid)
    signal_group(process.pid, signal.SIGKILL)
    await eventually(lambda: not group_alive(process.pid))
    assert not alive(left)
    process.stdout.close()


def test_what_is_gone_is_gone_without_complaint():
    process = subprocess.Popen(["true"], start_new_session=True)
    process.wait()
    signal_group(process.pid, signal.SIGTERM)
    assert start_time(process.pid) is None
    assert stat_of(process.pid) is None
    assert not group_alive(process.pid)


def test_a_name_with_brackets_does_not_confuse(tmp_path: Path):
    odd = tmp_path / "a) Z 1 (b"
    odd.symlink_to("/bin/sleep")
    process = subprocess.Popen([str(odd), "300"], start_new_session=True)
    assert group_alive(process.pid)
    assert start_time(process.pid) is not None
    end(process)


def test_the_program_imports_next_to_nothing():
    script = f"import sys; sys.path.insert(0, {str(Path(orphans.__file__).parent)!r}); import orphans\n"
    script += "print(sorted(name for name in sys.modules if name in ('pathlib', 'asyncio', 'json', 're')))"
    output = subprocess.check_output([sys.executable, "-I", "-S", "-c", script])
    assert output.strip() == b"[]"


@pytest.mark.parametrize("variables", [0, 20_000], ids=["few variables", "many variables"])
@pytest.mark.acceptance
async def test_a_process_that_is_just_starting_a_program_does_not_escape(token: str, variables: int):
    """Between two programs its variables read as empty; with many of them, for some milliseconds."""
    chain = "exec sh -c 'exec bash -c \"exec sleep 300\"'"
    more = {f"V{number}": "x" for number in range(variables)}
    for attempt in range(60):
        mark = f"{token}.{attempt}."
        process = subprocess.Popen(["bash", "-c", chain], env={**os.environ, **more, MARKER: mark})
        await asyncio.sleep(0.0005 * (attempt % 20))  # so that the attempts meet it at different moments
        kill_marked(mark)
        await eventually(lambda pid=process.pid: not alive(pid))  # type: ignore[misc]
        process.wait()


async def test_a_process_without_variables_is_not_taken_for_one_that_is_starting():
    process = sleeper(env={})
    await eventually(lambda: not orphans._in_transit(str(process.pid)))
    end(process)
