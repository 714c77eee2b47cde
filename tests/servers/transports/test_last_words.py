"""Of all that a process wrote before it ended, the reason is shown."""

from __future__ import annotations

import os
import signal

import pytest

from tests.loop_clock import LoopClock
from tests.servers.children import eventually, linked, misbehaving
from toolcrib.servers.processes.log import exit_error, telling_lines
from toolcrib.servers.transports import stdio

NODE = """node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module '/nowhere/index.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2"""


def test_the_error_of_a_stack_trace_is_quoted_not_its_last_brace():
    assert "Cannot find module '/nowhere/index.js'" in exit_error("node", 1, NODE.splitlines()).message


def test_the_last_line_of_a_python_traceback_is_quoted():
    lines = ["Traceback (most recent call last):", '  File "x.py", line 1', "ValueError: no such port"]
    assert telling_lines(lines) == ["ValueError: no such port"]


def test_the_last_lines_stand_in_where_none_tells_of_an_error():
    assert telling_lines(["one", "", "two", "three", "four"]) == ["two", "three", "four"]


async def test_an_end_tells_more_than_a_closed_pipe_though_we_stood_still_between_them(
    tidy, clock: LoopClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(stdio, "EXIT_GRACE", 600)
    async with linked(misbehaving("close_stdout")) as (link, ear):
        assert link._child is not None
        await eventually(lambda: "output" not in link._child._unread)
        os.kill(link._child.pid, signal.SIGKILL)
        os.waitid(os.P_PID, link._child.pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 - we stand still
        await clock.passes(600)
        assert (await ear.loss()).message == "child was killed by signal 9."
