"""A real `toolcrib up` on a home of its own, and the page's interface as a program uses it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.cli.command_line import DEADLINE, Answer, CommandLine, Process
from tests.web.declared import check_event, check_news, check_result
from toolcrib.config.store import new_document

JSON = "application/json"


class Failed(Exception):
    """The interface answered with an error."""

    def __init__(self, status: int, error: dict[str, Any]) -> None:
        super().__init__(f"{status} {error}")
        self.status = status
        self.error = error


class Crib:
    """The program on one home. Write the config first, then `start`, or let the first use do so.

    `environment` and `document` may be changed until then; `document` begins as that of a new home, with the
    demo server and the files.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.toolcrib = CommandLine(home)
        self.document: dict[str, Any] = new_document(home / "files")
        self.process: Process | None = None
        self.told: dict[str, Any] = {}
        """The line that `up --json` printed."""
        self._printed = ""
        """The address in that line, until it is used."""
        self._key = ""

    # Before it runs.

    @property
    def environment(self) -> dict[str, str]:
        """Variables on top of the usual ones; `TOOLCRIB_TRUST_CONFIG` is "1" unless it is set here."""
        return self.toolcrib.extra

    def empty(self) -> Crib:
        """No servers at all."""
        self.document["mcpServers"] = {}
        return self

    def entry(self, name: str, raw: dict[str, Any]) -> Crib:
        """Any server; of a running host, its file is edited."""
        self.document["mcpServers"][name] = raw
        if self.process is not None:
            self.write()
        return self

    def server(self, name: str, *faults: str, args: tuple[str, ...] = (), **keys: Any) -> Crib:
        """The testing server (`toolcrib.testing.server`), with these faults."""
        options = [part for fault in faults for part in ("--fault", fault)]
        command = ["-m", "toolcrib.testing.server", "--name", name, *options, *args]
        return self.entry(name, {"command": sys.executable, "args": command, **keys})

    def setting(self, **settings: Any) -> Crib:
        """Settings of the host."""
        self.document.setdefault("toolcrib", {}).update(settings)
        return self

    def write(self) -> None:
        """Save the config file."""
        (self.home / "files").mkdir(parents=True, exist_ok=True)
        file = self.home / "mcp.json"
        file.write_text(json.dumps(self.document, indent=2))
        file.chmod(0o600)

    # While it runs.

    def start(self, *words: str, port: int = 0) -> Crib:
        """Run it and wait until it listens; nothing when it runs already."""
        if self.process is not None:
            return self
        if not (self.home / "mcp.json").exists():
            self.write()
        arguments = ("up", "--json", "--no-browser", "--port", str(port), *words)
        self.process = self.toolcrib.start(*arguments)
        assert self.process.stdout is not None
        timer = threading.Timer(DEADLINE, self.process.kill)
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        assert line, self.process.communicate()[1]
        self.told = json.loads(line)
        assert self.told.get("pid") == self.process.pid, self.told
        self._printed = str(self.told["url"])
        return self

    def stop(self, number: signal.Signals = signal.SIGTERM) -> str:
        """End it in order; what it wrote to stderr."""
        if self.process is None:
            return ""
        process, self.process = self.process, None
        if process.poll() is None:
            process.send_signal(number)
        try:
            _, err = process.communicate(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return err

    def restart(self) -> Crib:
        """The same home and port again; keys of pages stay good."""
        port = self.port
        self.stop()
        return self.start(port=port)

    @property
    def base(self) -> str:
        """`http://127.0.0.1:PORT`."""
        self.start()
        return str(self.told["url"]).partition("/#")[0]

    @property
    def port(self) -> int:
        """Of the address."""
        return int(self.base.rpartition(":")[2])

    def command(self, *words: str, **environment: str) -> Answer:
        """Run a command of the program beside it."""
        return CommandLine(self.toolcrib.home, {**self.environment, **environment})(*words)

    def sign_in_address(self) -> str:
        """A one-time address that nobody has used: first the one that was printed, then new ones."""
        self.start()
        printed, self._printed = self._printed, ""
        return printed or str(self.command("open", "--json").json["url"])

    # Its interface.

    @property
    def key(self) -> str:
        """The key of a page of this test's own."""
        if not self._key:
            token = self.sign_in_address().partition("#key=")[2]
            self._key = self.post("/api/sign_in", {"token": token}, key="").json()["key"]
        return self._key

    def headers(self, key: str | None = None) -> dict[str, str]:
        """What a page sends along; `key` is the test's own unless another is given, or "" for none."""
        found = self.key if key is None else key
        return {"Authorization": f"Bearer {found}"} if found else {}

    def post(self, path: str, body: Any, *, key: str | None = None, **headers: str) -> httpx2.Response:
        """A POST with JSON."""
        address = f"{self.base}{path}"
        return httpx2.post(address, json=body, headers={**self.headers(key), **headers}, timeout=DEADLINE)

    def get(self, path: str, *, key: str | None = None, **headers: str) -> httpx2.Response:
        """A GET."""
        address = f"{self.base}{path}"
        return httpx2.get(address, headers={**self.headers(key), **headers}, timeout=DEADLINE)

    def run(self, operation: str, **params: Any) -> Any:
        """The result of an operation, which must be as declared; raises `Failed`."""
        answer = self.post(f"/api/{operation}", params)
        if answer.status_code != 200:
            raise Failed(answer.status_code, answer.json()["error"])
        check_result(operation, answer.json())
        return answer.json()

    @contextmanager
    def stream(self, operation: str, **params: Any) -> Iterator[Iterator[tuple[str, Any]]]:
        """The events of an operation as pairs of name and data; leaving the block hangs up."""
        headers = {**self.headers(), "Accept": "text/event-stream"}
        address = f"{self.base}/api/{operation}"
        with httpx2.stream("POST", address, json=params, headers=headers, timeout=DEADLINE) as answer:
            assert answer.status_code == 200, answer.read()
            yield _checked(operation, events_of(answer))

    @contextmanager
    def live(self, last_event_id: str = "", *, key: str | None = None) -> Iterator[Iterator[dict[str, Any]]]:
        """What happens, as a page hears it; each with its `id`."""
        headers = self.headers(key)
        if last_event_id:
            headers["Last-Event-ID"] = last_event_id
        with httpx2.stream("GET", f"{self.base}/api/live", headers=headers, timeout=DEADLINE) as answer:
            assert answer.status_code == 200, answer.read()
            yield _heard(events_of(answer, named="id"))


def _checked(operation: str, events: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    for name, data in events:
        if name == "event":
            check_event(operation, data)
        elif name == "result":
            check_result(operation, data)
        yield name, data


def _heard(events: Iterator[tuple[str, Any]]) -> Iterator[dict[str, Any]]:
    for name, data in events:
        check_news(data)
        yield {**data, "id": name}


def events_of(answer: httpx2.Response, named: str = "event") -> Iterator[tuple[str, Any]]:
    """Server-sent events: the line of this name, and the data."""
    name, data = "", ""
    for line in answer.iter_lines():
        if not line:
            if data:
                yield name, json.loads(data)
            name, data = "", ""
        elif line.startswith(f"{named}:"):
            name = line.partition(":")[2].strip()
        elif line.startswith("data:"):
            data += line.partition(":")[2].strip()


__all__ = ["DEADLINE", "JSON", "Crib", "Failed", "events_of"]
