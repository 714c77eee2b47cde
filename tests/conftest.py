"""What every test gets: a home of its own, no keyring, and a test that fails when a task fails unheard."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import httpcore2
import hypothesis
import pytest

import toolcrib
from tests.loop_clock import LoopClock
from tests.namespaces import run_as_root

pytest_plugins = ("tests.changed", "tests.needs", "tests.parallel")
DEADLINE = 60.0
os.environ["TOOLCRIB_DATABASE_KEY"] = f"tckey_{'5' * 64}"  # all hosts of the tests share their databases
os.environ["TOOLCRIB_LOCAL_MODELS"] = "off"  # what listens on the usual ports is no part of a test
os.environ["TOOLCRIB_TRUST_CONFIG"] = "1"  # whoever writes the config file in a test also starts the host

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A run in the background of a shell ignores Ctrl-C, and so would every program that the tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# An example that took long was not slow: the machine had something else to do.
hypothesis.settings.register_profile("toolcrib", deadline=None)
hypothesis.settings.load_profile("toolcrib")


_load_certificates = httpcore2.default_ssl_context
"""Reads the system's certificates, which takes every new HTTP client 50 ms, also one that never uses TLS."""


@cache
def _certificates_of(file: str | None, folder: str | None, trust_env: bool) -> ssl.SSLContext:
    return _load_certificates(_trust_env=trust_env)


def _certificates(*, _trust_env: bool = True) -> ssl.SSLContext:
    """Once for each setting of the environment."""
    return _certificates_of(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"), _trust_env)


httpcore2.default_ssl_context = _certificates


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the garbage collector away from the collected tests, which live until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that needs root in a namespace where this is another user."""
    mark = pyfuncitem.get_closest_marker("as_root")
    if mark is None or os.geteuid() == 0:
        return None
    if sys.platform != "linux":
        pytest.skip("Without root, this test needs a user namespace of Linux.")
    run_as_root(pyfuncitem, *mark.args, **mark.kwargs)
    return True


@pytest.fixture(autouse=True)
def _no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    monkeypatch.delenv("TOOLCRIB_HOME", raising=False)


class Crib:
    """A home in a temporary folder, with servers to be added before or after it is opened."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.document: dict[str, Any] = {"mcpServers": {}}

    def server(self, name: str, *faults: str, args: tuple[str, ...] = (), **keys: Any) -> None:
        """Add the testing server, with these faults."""
        options = [part for fault in faults for part in ("--fault", fault)]
        command = ["-m", "toolcrib.testing.server", "--name", name, *options, *args]
        self.entry(name, {"command": sys.executable, "args": command, **keys})

    def entry(self, name: str, raw: dict[str, Any]) -> None:
        """Add any entry."""
        self.document["mcpServers"][name] = raw
        self.write()

    def setting(self, **settings: Any) -> None:
        """Change host settings."""
        self.document.setdefault("toolcrib", {}).update(settings)
        self.write()

    def write(self) -> None:
        """Save the config file as an editor would."""
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "mcp.json").write_text(json.dumps(self.document, indent=2))

    @asynccontextmanager
    async def open(self, **options: Any) -> AsyncIterator[toolcrib.Host]:
        """Open the host on this home."""
        self.write()
        async with toolcrib.open_host(self.home, **options) as host:
            yield host


@pytest.fixture
def crib(tmp_path: Path) -> Crib:
    """A home with no servers yet."""
    return Crib(tmp_path / "home")


@pytest.fixture
def until() -> Callable[..., Any]:
    """Waits for a condition under a deadline, looking each time something was published."""

    async def wait(host: toolcrib.Host, condition: Callable[[], bool], deadline: float = DEADLINE) -> None:
        with host.events.subscribe() as events:
            async with asyncio.timeout(deadline):
                while not condition():
                    await events.next()

    return wait


@pytest.fixture
async def clock() -> LoopClock:
    """A hand on the clock of the running loop."""
    return LoopClock(asyncio.get_running_loop())


@pytest.fixture(autouse=True)
def _no_unheard_failures(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    yield
    unheard = [
        record.getMessage()
        for record in caplog.get_records("call")
        if record.name == "asyncio" and "never retrieved" in record.getMessage()
    ]
    assert not unheard
