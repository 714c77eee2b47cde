"""The flooding server over HTTP: `python flooding_http_server.py WAY KIND` prints its address.

Ways: http floods the stream for notifications, call floods the answer of a tool call, which never comes, sse
is the transport of 2024-11-05, early is sse that floods before anything is answered. Kinds: those of the
stdio server, and comments, comment (without end), event (without end), drip (chunks of one byte), blank
(empty lines), progress, duplicates (of an answer), compressed, headers (without end), informational
(responses without end).
"""

import gzip
import itertools
import json
import socketserver
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.flooding_server import answer, flood, notice

BLOCK = 64 * 1024
KIND = "small"
WAY = "http"
STREAM: "Handler | None" = None
LISTED = threading.Event()
RAW = {
    "comments": b": keep-alive\n\n",
    "comment": b":" + b"x" * 1000,
    "event": b"data: " + b"x" * 1000 + b"\n",
    "blank": b"\n\n\r\n",
}


def block(kind: str) -> bytes:
    """About 64 KB of the stream, which is repeated."""
    if kind in RAW:
        return RAW[kind] * (BLOCK // len(RAW[kind]))
    if kind == "huge":
        return event(next(flood(kind)))
    if kind == "progress":
        return event(notice("notifications/progress", progressToken=5, progress=1)) * 500
    if kind == "duplicates":
        return event(json.dumps({"jsonrpc": "2.0", "id": 3, "result": {"content": []}})) * 500
    lines = itertools.islice(flood("small" if kind in ("drip", "compressed") else kind), 300)
    return b"".join(map(event, lines))[: 40 * BLOCK]


def event(text: str) -> bytes:
    return b"data: " + text.encode() + b"\n\n"


def chunked(data: bytes) -> bytes:
    if KIND == "drip":
        return b"".join(b"1\r\n%c\r\n" % byte for byte in data[:10_000])
    return b"%x\r\n%b\r\n" % (len(data), data)


class Handler(socketserver.StreamRequestHandler):
    """One connection."""

    def handle(self) -> None:
        self.sending = threading.Lock()
        while line := self.rfile.readline():
            headers = dict(self.header(field) for field in iter(self.rfile.readline, b"\r\n"))
            body = self.rfile.read(int(headers.get(b"content-length", 0)))
            if line.startswith(b"GET"):
                self.stream()
            elif line.startswith(b"POST"):
                self.take(json.loads(body))
            else:
                self.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    @staticmethod
    def header(line: bytes) -> tuple[bytes, bytes]:
        name, _, value = line.partition(b":")
        return name.lower(), value.strip()

    def send(self, data: bytes) -> None:
        with self.sending:
            self.wfile.write(data)

    def begin_stream(self) -> None:
        encoding = b"Content-Encoding: gzip\r\n" if KIND == "compressed" and LISTED.is_set() else b""
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n%b" % encoding
        self.send(head + b"Transfer-Encoding: chunked\r\n\r\n")

    def stream(self) -> None:
        global STREAM
        if WAY == "sse":
            STREAM = self
            self.begin_stream()
            self.send(chunked(b"event: endpoint\ndata: /messages\n\n"))
        LISTED.wait()
        if WAY == "call":
            time.sleep(3600)
        self.pour(begun=WAY == "sse")

    def pour(self, *, begun: bool = False) -> None:
        if KIND == "headers" and not begun:
            self.repeat(b"HTTP/1.1 200 OK\r\n", b"X-Endless: " + b"x" * 50 + b"\r\n")
        if KIND == "informational" and not begun:
            self.repeat(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 2000)
        if not begun:
            self.begin_stream()
        if KIND == "compressed":
            self.repeat(b"", chunked(gzip.compress(block(KIND) * 100)))
        self.repeat(b"", chunked(block(KIND)))

    def repeat(self, first: bytes, data: bytes) -> None:
        self.send(first)
        while True:
            self.send(data)

    def take(self, message: dict[str, Any]) -> None:
        if "method" not in message or "id" not in message:
            self.send(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
            return
        if WAY == "call" and message["method"] == "tools/call":
            self.pour()
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "server/discover":
            reply["error"] = {"code": -32601, "message": "Method not found"}
        else:
            reply["result"] = answer(message)
        body = json.dumps(reply).encode()
        if WAY == "sse":
            assert STREAM is not None
            STREAM.send(b"%x\r\n%b\r\n" % (len(body) + 8, event(body.decode())))
            self.send(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
        else:
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            self.send(head % len(body) + body)
        if message["method"] == "tools/list":
            LISTED.set()


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 1000

    def handle_error(self, request: Any, client_address: Any) -> None:
        """The client has gone."""


def main() -> None:
    global WAY, KIND
    WAY, KIND = sys.argv[1:3]
    if WAY == "early":
        WAY = "sse"
        LISTED.set()
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}/mcp", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
