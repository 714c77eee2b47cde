"""A server in a crib whose definitions can be changed while it runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.conftest import Crib

SERVER = str(Path(__file__).with_name("turning_server.py"))
TEXTS = {"pay": "Pay a bill.", "announce": "Announce.", "crash": "Crash."}


class Turning:
    """The server, what it describes, and what it was called for."""

    def __init__(self, crib: Crib, folder: Path) -> None:
        self._file, self._log = folder / "tools.json", folder / "calls.log"
        self.describe()
        command = [SERVER, str(self._file), str(self._log)]
        crib.entry("bank", {"command": sys.executable, "args": command})

    def describe(self, **texts: str) -> None:
        self.offer([{"name": name, "description": text} for name, text in {**TEXTS, **texts}.items()])

    def offer(self, definitions: list[dict[str, Any]]) -> None:
        """From the next list on."""
        schema = {"type": "object"}
        self._file.write_text(json.dumps([{"inputSchema": schema, **one} for one in definitions]))

    @property
    def called(self) -> list[str]:
        return [json.loads(line) for line in self._log.read_text().splitlines()] if self._log.exists() else []
