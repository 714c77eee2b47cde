"""A gRPC server in a process of its own, on the display of the tests; and a plain client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from tests.bundled.desktop.shared_display import SharedDisplay
from toolcrib.bundled.desktop.grpc.schema import OPERATIONS, SERVICE, message_class, service, v1

DEADLINE = 30.0


@dataclass
class Served:
    """A running `toolcrib desktop serve --grpc`."""

    process: subprocess.Popen[str]
    address: str
    token: str | None

    def end(self) -> int:
        self.process.terminate()
        return self.process.wait(30)


@dataclass
class Servers:
    environment: dict[str, str]
    home: Path
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def launch(self, *options: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "toolcrib",
                "--home",
                str(self.home),
                "desktop",
                "serve",
                "--grpc",
                *options,
            ],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def start(self, *options: str) -> Served:
        process = self.launch("--json", *options)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.stderr.read() if process.stderr else ""
        said = json.loads(line)
        token = Path(said["token_file"]).read_text() if said["token_file"] else None
        return Served(process, said["address"], token)

    def end(self) -> None:
        for process in self.started:
            process.kill()
            process.communicate()


@pytest.fixture(scope="module")
def servers(shared_display: SharedDisplay, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    home = tmp_path_factory.mktemp("home")
    # The packages of the checkout, on the tests' display instead of the user's.
    made = Servers({**os.environ, **shared_display.usable().target.environment}, home)
    yield made
    made.end()


@pytest.fixture(scope="module")
def served(servers: Servers) -> Served:
    return servers.start("--address", "127.0.0.1:0")


class Failed(Exception):
    """The status of a call, with its ErrorInfo."""

    def __init__(self, error: Any) -> None:
        super().__init__(error.details())
        self.code = error.code()
        trailing = dict(error.trailing_metadata() or ())
        self.info = error_details_pb2.ErrorInfo()
        for detail in status_pb2.Status.FromString(trailing.get("grpc-status-details-bin", b"")).details:
            detail.Unpack(self.info)


class Client:
    """Calls methods by name, as a program in another language would."""

    def __init__(self, address: str, token: str | None, credentials: Any = None) -> None:
        self.channel = (
            grpc.secure_channel(address, credentials) if credentials else grpc.insecure_channel(address)
        )
        self._metadata = [("authorization", f"Bearer {token}")] if token else []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        owner = OPERATIONS if name.endswith(("Operation", "Operations")) else SERVICE
        method = service(owner).methods_by_name[name]
        kind = self.channel.unary_stream if method.server_streaming else self.channel.unary_unary
        request_class = message_class(method.input_type)
        stub = kind(
            f"/{owner}/{name}",
            request_serializer=request_class.SerializeToString,
            response_deserializer=message_class(method.output_type).FromString,
        )

        def call(**fields: Any) -> Any:
            try:
                return stub(request_class(**fields), timeout=DEADLINE, metadata=self._metadata)
            except grpc.RpcError as error:
                raise Failed(error) from None

        return call

    def finish(self, operation: Any) -> Any:
        """A long-running operation when it is done."""
        while not operation.done:
            operation = self.WaitOperation(name=operation.name)
        return operation

    def find(self, pid: int, **selector: Any) -> Any:
        """The first element that comes to match."""
        from toolcrib.bundled.desktop.grpc.schema import types

        parent = f"applications/{pid}"
        until(lambda: self.ListWindows(parent=parent).windows)
        waiting = self.WaitElement(
            parent=parent, selector=types.ElementSelector(**selector), timeout=DEADLINE
        )
        done = self.finish(waiting)
        assert not done.HasField("error"), done.error
        found = v1.WaitElementResponse()
        done.response.Unpack(found)
        return found.element


def until(look: Callable[[], Any]) -> Any:
    """The first true value, under a deadline; what it looks at has no event."""
    deadline = time.monotonic() + DEADLINE
    while not (found := look()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[Client]:
    made = Client(served.address, served.token)
    yield made
    made.channel.close()
