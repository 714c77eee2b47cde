"""The watchdog as the program that it is."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from toolcrib.servers.processes.guard import DONE, watchdog_command
from toolcrib.servers.processes.orphans import MARKER


@pytest.fixture
def token() -> str:
    return f"test-{os.getpid()}-{os.urandom(4).hex()}"


def sleeper(**options: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "300"], start_new_session=True, **options)  # type: ignore[call-overload]


def watchdog(token: str, *, program: str | None = None) -> subprocess.Popen[bytes]:
    words = watchdog_command(token)
    if program is not None:
        words[4] = program
    return subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)


def test_the_watchdog_ends_what_is_on_its_list_and_what_is_marked(token: str):
    listed, struck, carrying = sleeper(), sleeper(), sleeper(env={MARKER: f"{token}.3."})
    deaf = subprocess.Popen(
        ["sh", "-c", "trap '' TERM; echo; while :; do sleep 1; done"],
        start_new_session=True,
        stdout=subprocess.PIPE,
    )
    assert deaf.stdout is not None
    deaf.stdout.readline()
    dog = watchdog(token)
    lines = f"+ {listed.pid}\nrubbish\n+ x\n\n+ {struck.pid}\n+ {deaf.pid}\n- {struck.pid}\n"
    dog.communicate(lines.encode(), timeout=60)
    assert dog.returncode == 0
    assert listed.wait(20) == -signal.SIGTERM
    assert deaf.wait(20) == -signal.SIGKILL
    assert carrying.wait(20) == -signal.SIGKILL
    assert struck.poll() is None
    deaf.stdout.close()
    struck.kill()
    struck.wait()


def test_the_watchdog_with_nothing_to_do_simply_ends(token: str):
    dog = watchdog(token)
    dog.communicate(b"", timeout=60)
    assert dog.returncode == 0


def test_a_watchdog_that_is_told_that_all_is_done_leaves_everything_alone(token: str):
    listed, carrying = sleeper(), sleeper(env={MARKER: f"{token}.1."})
    dog = watchdog(token)
    dog.communicate(f"+ {listed.pid}\n{DONE}".encode(), timeout=60)
    assert (dog.returncode, listed.poll(), carrying.poll()) == (0, None, None)
    for process in (listed, carrying):
        process.kill()
        process.wait()


def test_where_its_python_is_gone_the_watchdog_ends_the_groups_itself(token: str):
    listed = sleeper()
    watchdog(token, program="/nowhere/python").communicate(f"+ {listed.pid}\n".encode(), timeout=60)
    assert listed.wait(20) == -signal.SIGKILL
