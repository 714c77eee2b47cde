"""A small MCP server over stdio that misbehaves on demand (hangs, exits, sends rubbish, floods stderr); the
standard library alone, so it starts at once.

    python -m toolcrib.testing.server [--name NAME] [--era legacy|modern|dual] [--tools N] [--fault FAULT …]

`TOOLS` lists its tools, `FAULTS` the ways in which it can misbehave.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

FAULTS = {
    "exit": "exit with code 1 at once",
    "exit-after-handshake": "exit with code 0 right after the handshake",
    "hang": "never read anything",
    "slow": "wait before answering anything (--delay seconds)",
    "banner": "print a banner on stdout first",
    "rubbish": "print rubbish lines before each answer",
    "non-utf8": "print bytes that are no UTF-8 before each answer",
    "die-on-probe": "exit when asked server/discover",
    "ignore-probe": "never answer server/discover",
    "half-line": "answer calls with half a line and stop",
    "endless-line": "answer calls with a line that never ends",
    "silent-calls": "never answer tools/call",
    "close-stdout": "close stdout on the first call, but live on",
    "close-stdin": "close stdin on the first call, but live on",
    "exit-on-call": "exit with code 9 on a call",
    "exit-on-list": "exit on every tools/list but the first of each --marker file",
    "stubborn": "ignore the end of stdin, SIGTERM and SIGINT",
    "daemon": "start a child in a session of its own that outlives us",
    "stderr-flood": "write to stderr as fast as possible",
    "leak": "take 20 MB more memory with each call",
    "bad-tool": "list one malformed tool among the good ones",
    "storm": "announce 1,000 list changes after each call",
    "no-ping": "never answer ping and server/discover after the first",
}


class FaultyServer:
    """Answers one line at a time; calls that take long run in threads."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.faults: set[str] = set(options.fault)
        self.lock = threading.Lock()
        self.calls = 0
        self.probes = 0
        self.extra_tools = 0
        self.cancelled: list[Any] = []
        self.sleepers: dict[Any, threading.Event] = {}
        self.hoard: list[bytearray] = []

    # Writing.

    def write(self, data: bytes) -> None:
        with self.lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def send(self, message: dict[str, Any]) -> None:
        if "rubbish" in self.faults:
            self.write(b"DEBUG handling a message\n{not json}\n\n")
        if "non-utf8" in self.faults:
            self.write(b"caf\xe9 \xff\xfe\n")
        self.write(json.dumps(message).encode() + b"\n")

    def reply(self, request: dict[str, Any], result: dict[str, Any]) -> None:
        if "_meta" in (request.get("params") or {}) and self.modern(request):
            result = {"resultType": "complete", **result}
        self.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def refuse(self, request: dict[str, Any], code: int, text: str) -> None:
        error = {"code": code, "message": text}
        self.send({"jsonrpc": "2.0", "id": request["id"], "error": error})

    def text(self, request: dict[str, Any], text: str) -> None:
        self.reply(request, {"content": [{"type": "text", "text": text}], "isError": False})

    # Reading.

    def modern(self, request: dict[str, Any]) -> bool:
        meta = (request.get("params") or {}).get("_meta") or {}
        return "io.modelcontextprotocol/protocolVersion" in meta

    def handle(self, message: dict[str, Any]) -> None:
        method = message.get("method", "")
        if "slow" in self.faults:
            time.sleep(self.options.delay)
            self.faults.discard("slow")
        handler = getattr(self, "on_" + method.replace("/", "_"), None)
        if handler is not None:
            handler(message)
        elif "id" in message and method:
            self.refuse(message, -32601, "Method not found")

    def on_server_discover(self, message: dict[str, Any]) -> None:
        self.probes += 1
        if "die-on-probe" in self.faults:
            os._exit(3)
        if "ignore-probe" in self.faults or ("no-ping" in self.faults and self.probes > 1):
            return
        if self.options.era == "legacy":
            self.refuse(message, -32601, "Method not found")
            return
        info = {"name": self.options.name, "version": "1.0"}
        self.reply(
            message,
            {
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {"listChanged": True}},
                "_meta": {"io.modelcontextprotocol/serverInfo": info},
                "ttlMs": 0,
                "cacheScope": "private",
            },
        )

    def on_initialize(self, message: dict[str, Any]) -> None:
        if self.options.era == "modern":
            self.refuse(message, -32601, "Method not found")
            return
        self.reply(
            message,
            {
                "protocolVersion": self.options.protocol,
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": self.options.name, "version": "1.0"},
            },
        )

    def on_notifications_initialized(self, message: dict[str, Any]) -> None:
        if "exit-after-handshake" in self.faults:
            os._exit(0)

    def on_notifications_cancelled(self, message: dict[str, Any]) -> None:
        request_id = message["params"]["requestId"]
        self.cancelled.append(request_id)
        if request_id in self.sleepers:
            self.sleepers[request_id].set()

    def on_ping(self, message: dict[str, Any]) -> None:
        if "no-ping" not in self.faults:
            self.reply(message, {})

    def on_subscriptions_listen(self, message: dict[str, Any]) -> None:
        meta = {"io.modelcontextprotocol/subscriptionId": message["id"]}
        params = {"_meta": meta, "notifications": message["params"]["notifications"]}
        self.subscription = meta
        self.send({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})

    def on_tools_list(self, message: dict[str, Any]) -> None:
        if "exit-on-list" in self.faults and self.seen_before():
            os._exit(4)
        tools: list[Any] = [*TOOLS]
        tools += [_filler(number) for number in range(self.options.tools)]
        tools += [_filler(number, "extra") for number in range(self.extra_tools)]
        if "bad-tool" in self.faults:
            tools.insert(1, {"description": "a tool without a name"})
        self.reply(message, {"tools": tools})

    def on_tools_call(self, message: dict[str, Any]) -> None:
        self.calls += 1
        self.misbehave_on_call()
        if "silent-calls" in self.faults:
            return
        name = message["params"]["name"]
        call = getattr(self, "call_" + name, None)
        if call is None:
            self.refuse(message, -32602, f"Unknown tool {name}")
            return
        call(message, message["params"].get("arguments") or {})
        if "storm" in self.faults:
            for _ in range(1000):
                self.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})

    # Tools.

    def call_echo(self, message: dict[str, Any], arguments: dict[str, Any]) -> None:
        self.text(message, str(arguments.get("text")))

    def call_pid(self, message: dict[str, Any], arguments: dict[str, Any]) -> None:
        self.text(message, str(os.getpid()))

    def call_count(self, message: dict[str, Any], arguments: dict[str, Any]) -> None:
        self.text(message, str(self.calls))

    def call_cancelled(self, message: dict[str, Any], arguments: dict[str, Any]) -> None:
        self.text(message, json.dumps(self.cancelled))

    def call_blob(self, message: dict[str, Any], arguments: dict[str, Any]) -> None:
        self.text(message, "x" * int(arguments["bytes"]))

    def call_environment(self, message: dict[str, Any], arguments: dict[str, Any]) -> None:
        self.text(message, json.dumps(dict(os.environ)))

    def call_crash(self, message: dict[str, Any], arguments: dict[str, Any]) -> None:
        os._exit(int(arguments.get("code", 1)))

    def call_change(self, message: dict[str, Any], arguments: dict[str, Any]) -> None:
        self.extra_tools += 1
        self.text(message, "changed")
        params = {"_meta": self.subscription} if hasattr(self, "subscription") else {}
        self.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": params})

    def call_sleep(self, message: dict[str, Any], arguments: dict[str, Any]) -> None:
        woken = self.sleepers[message["id"]] = threading.Event()

        def sleep() -> None:
            if not woken.wait(float(arguments["seconds"])):
                self.text(message, "slept")

        threading.Thread(target=sleep, daemon=True).start()

    # Faults.

    def misbehave_at_start(self) -> None:
        if "stubborn" in self.faults:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
        if "exit" in self.faults:
            sys.stderr.write("cannot start: the frobnicator is missing\n")
            sys.exit(1)
        if "daemon" in self.faults:
            child = subprocess.Popen(["sleep", "300"], start_new_session=True)
            sys.stderr.write(f"daemon {child.pid}\n")
            sys.stderr.flush()
        if "banner" in self.faults:
            self.write(b"Starting server v1.2.3 ...\n\n\x1b[32mready\x1b[0m\n")
        if "stderr-flood" in self.faults:
            threading.Thread(target=_flood, daemon=True).start()
        while "hang" in self.faults:
            time.sleep(3600)

    def misbehave_on_call(self) -> None:
        if "exit-on-call" in self.faults:
            os._exit(9)
        if "leak" in self.faults:
            self.hoard.append(bytearray(os.urandom(1024) * 20 * 1024))
        if "half-line" in self.faults:
            self.write(b'{"jsonrpc":"2.0","id":')
            self.faults.add("silent-calls")
        while "endless-line" in self.faults:
            self.write(b"x" * (1 << 20))
        if "close-stdout" in self.faults:
            os.close(1)
            time.sleep(3600)
        if "close-stdin" in self.faults:
            os.close(0)
            time.sleep(3600)

    def seen_before(self) -> bool:
        marker = Path(self.options.marker)
        seen = marker.exists()
        marker.touch()
        return seen

    def run(self) -> None:
        self.misbehave_at_start()
        for line in sys.stdin.buffer:
            with contextlib.suppress(ValueError):
                self.handle(json.loads(line))
        while "stubborn" in self.faults:
            time.sleep(3600)


def _flood() -> None:
    line = "x" * 1000 + "\n"
    while True:
        sys.stderr.write(line * 100)


def _tool(name: str, description: str, **properties: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    return {"name": name, "description": description, "inputSchema": schema}


def _filler(number: int, kind: str = "tool") -> dict[str, Any]:
    return _tool(f"{kind}_{number:04d}", f"Filler number {number}.", path="string", limit="integer")


TOOLS = [
    {**_tool("echo", "Give the text back.", text="string"), "annotations": {"readOnlyHint": True}},
    _tool("pid", "The server's process id."),
    {**_tool("count", "How often a tool was called."), "annotations": {"readOnlyHint": True}},
    _tool("cancelled", "Which requests were cancelled."),
    _tool("blob", "A text of so many bytes.", bytes="integer"),
    _tool("environment", "The server's environment."),
    _tool("crash", "Exit with this code.", code="integer"),
    _tool("change", "Add a tool and say so."),
    _tool("sleep", "Wait.", seconds="number"),
]


def main() -> None:
    """Run the server that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m toolcrib.testing.server", description=__doc__)
    parser.add_argument("--name", default="testing")
    parser.add_argument("--era", choices=("legacy", "modern", "dual"), default="dual")
    parser.add_argument("--protocol", default="2025-11-25")
    parser.add_argument("--tools", type=int, default=0)
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--marker", default="")
    parser.add_argument("--fault", action="append", default=[], choices=sorted(FAULTS))
    FaultyServer(parser.parse_args()).run()


if __name__ == "__main__":
    main()
