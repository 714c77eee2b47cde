"""A question to a host that serves a gateway lends no terminal to the gateway's clients."""

from __future__ import annotations

import json
import signal

from tests.cli.command_line import DEADLINE, CommandLine


def test_asking_a_serving_host_opens_no_terminal(toolcrib: CommandLine) -> None:
    host = toolcrib.start("serve", "--port", "0", "--json")
    try:
        assert host.stdout is not None
        assert "url" in json.loads(host.stdout.readline())

        assert toolcrib("ask", "What is 1 plus 2?", "--model", "demo").out == "1 plus 2 is 3.\n"
        names = {tool["name"] for tool in toolcrib("tools", "--json").json}
    finally:
        host.send_signal(signal.SIGTERM)
        host.communicate(timeout=DEADLINE)

    assert "demo__add" in names
    assert not any(name.startswith("terminal__") for name in names)
