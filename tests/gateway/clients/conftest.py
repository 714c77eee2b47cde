"""One `toolcrib serve` process with a server of each era behind it, for clients that nobody here wrote."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.gateway.clients import install

DEADLINE = 60.0
BACKS = Path(__file__).parent / "backs"


@dataclass(frozen=True)
class Gateway:
    """Where clients find it."""

    url: str
    stdio: tuple[str, ...]
    """The command of a gateway of its own, on the same home, for a client that starts it."""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway that serves over HTTP until the tests of the module are done."""
    home = tmp_path_factory.mktemp("home")
    node, old = install.typescript("old.mjs")
    servers = {
        "old": {"command": node, "args": [old]},
        "new": {"command": sys.executable, "args": [str(BACKS / "new.py")]},
    }
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    command = (sys.executable, "-m", "toolcrib", "--home", str(home), "serve")
    environment = {**os.environ, "TOOLCRIB_KEYRING": "off"}
    with subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        try:
            url = json.loads(process.stdout.readline())["url"]
            _wait_for_servers(command[:-1])
            own = ("env", "TOOLCRIB_KEYRING=off", "TOOLCRIB_TRUST_CONFIG=1")
            yield Gateway(url, (*own, *command, "--stdio"))
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(DEADLINE)
    assert process.returncode == 0


def _wait_for_servers(toolcrib: tuple[str, ...]) -> None:
    """A client sees them all in its first list once they are up, however slow this machine is."""
    deadline = time.monotonic() + DEADLINE
    states = {""}
    while states != {"ready"}:
        assert time.monotonic() < deadline, states
        listed = subprocess.run([*toolcrib, "servers", "--json"], capture_output=True, text=True, check=True)
        states = {server["state"] for server in json.loads(listed.stdout)}
