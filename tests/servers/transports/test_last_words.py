"""Of all that a process wrote before it ended, the reason is shown."""

from __future__ import annotations

from toolcrib.servers.transports.stdio import exit_error, telling_lines

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
