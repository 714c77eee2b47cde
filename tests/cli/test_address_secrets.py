"""A key in an address is stored as a secret, and is in no file, message or log of Toolcrib."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import CommandLine, Process

KEY = "topsecretvalue"
FORMS = [
    "http://{place}/mcp?api_key={key}",
    "http://ann:{key}@{place}/mcp",
    "http://{place}/mcp?q=1&%6Bey={key}",
]


class Remote(BaseHTTPRequestHandler):
    """A small streamable HTTP server that lets in only requests with the key."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in body:
            self._answer(202, None)
        elif KEY in self.path or self.headers.get("authorization", "").startswith("Basic "):
            self._answer(200, {"jsonrpc": "2.0", "id": body["id"], "result": _result(body)})
        else:
            self._answer(403, None)

    def do_GET(self) -> None:
        self._answer(405, None)

    def do_DELETE(self) -> None:
        self._answer(405, None)

    def _answer(self, status: int, document: dict[str, Any] | None) -> None:
        content = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: Any) -> None:
        pass


def _result(request: dict[str, Any]) -> dict[str, Any]:
    match request["method"]:
        case "initialize":
            return {
                "protocolVersion": request["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "remote", "version": "1"},
            }
        case "tools/list":
            return {"tools": [{"name": "greet", "inputSchema": {"type": "object"}}]}
        case "tools/call":
            return {"content": [{"type": "text", "text": "hello"}]}
    return {}


@contextmanager
def remote() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Remote)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def leaks(home: Path) -> list[str]:
    """The files below a home that hold the key, apart from the one where secrets are stored."""
    files = [file for file in home.rglob("*") if file.is_file() and file.name != "secrets.json"]
    return [file.name for file in files if KEY.encode() in file.read_bytes()]


@pytest.mark.parametrize("form", FORMS)
def test_a_key_in_an_added_address_is_in_no_file_and_no_output(
    toolcrib: CommandLine, up: Process, form: str
) -> None:
    with remote() as place:
        added = toolcrib("add", "remote", form.format(place=place, key=KEY), "--yes", "--json")
        called = toolcrib("call", "remote__greet")
        shown = [toolcrib(*words) for words in (("servers", "--json"), ("trust", "--json"), ("doctor",))]
        restarted = toolcrib("restart", "remote")

    assert added.code == 0, added
    assert called.out == "hello\n"
    outputs = [answer.out + answer.err for answer in (added, called, restarted, *shown)]
    assert not [output for output in outputs if KEY in output]
    assert leaks(toolcrib.home) == []


def test_a_key_that_the_user_wrote_into_the_file_stays_there_alone(toolcrib: CommandLine) -> None:
    with remote() as place:
        toolcrib("servers")
        config = toolcrib.config()
        config["mcpServers"]["remote"] = {"type": "http", "url": f"http://{place}/mcp?api_key={KEY}"}
        (toolcrib.home / "mcp.json").write_text(json.dumps(config))
        trusted = toolcrib("trust", "remote", "--yes", TOOLCRIB_TRUST_CONFIG="")
        called = toolcrib("call", "remote__greet", TOOLCRIB_TRUST_CONFIG="")
        tested = toolcrib("test", "remote", "--json")

    assert called.out == "hello\n", called
    assert not [one for one in (trusted, called, tested) if KEY in one.out + one.err]
    assert leaks(toolcrib.home) == ["mcp.json"]
    assert "url contains a secret (api_key) in plain text" in trusted.err


def test_an_address_that_does_not_answer_is_named_without_its_key(toolcrib: CommandLine, up: Process) -> None:
    with remote() as place:
        pass
    toolcrib("add", "gone", f"http://ann:{KEY}@{place}/mcp?token={KEY}", "--yes")

    outputs = [toolcrib(*words) for words in (("servers",), ("servers", "--json"), ("test", "gone"))]
    assert not [one for one in outputs if KEY in one.out + one.err]
    assert leaks(toolcrib.home) == []
