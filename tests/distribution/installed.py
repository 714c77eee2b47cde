"""A program that was installed as a user does it, and the first things that a user does with it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from tests.distribution.building import DEADLINE, run


@dataclass(frozen=True)
class Installed:
    """The program, and a home that nothing else uses."""

    command: tuple[str, ...]
    home: Path
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def environment(self) -> dict[str, str]:
        ours = {"TOOLCRIB_HOME": str(self.home), "TOOLCRIB_KEYRING": "off"}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TOOLCRIB_")}
        return {**kept, **dict(self.variables), **ours}

    def __call__(self, *words: str) -> str:
        return run([*self.command, *words], cwd=self.home.parent, env=self.environment)

    def json(self, *words: str) -> Any:
        return json.loads(self(*words, "--json"))

    @contextmanager
    def up(self) -> Iterator[str]:
        """A running host; the address of its page."""
        command = [*self.command, "up", "--json", "--no-browser", "--port", "0"]
        with subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True) as host:
            assert host.stdout is not None
            try:
                yield json.loads(host.stdout.readline())["url"].partition("#")[0]
            finally:
                host.terminate()
                host.communicate(timeout=DEADLINE)
        assert host.returncode == 0


def take_first_steps(toolcrib: Installed, version: str) -> None:
    """What everybody does first: look at the version, open the page, call a tool, ask a question."""
    assert toolcrib.json("version")["version"] == version
    with toolcrib.up() as address:
        with urlopen(address, timeout=60) as answer:  # loopback
            page = answer.read().decode()
        assert '<div id="root">' in page
        assert toolcrib("call", "demo__add", "a=1", "b=2") == "3\n"
    assert "42" in toolcrib("ask", "What is 17 plus 25?", "--model", "demo")
