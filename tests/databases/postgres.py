"""A PostgreSQL server for tests: in a temporary folder, on a loopback port, as an unprivileged user.

Import the fixtures where they are needed: `from tests.databases.postgres import postgres, postgres_url`.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

UNPRIVILEGED = ("postgres", "nobody")
"""Accounts to run the server as if the tests run as root, which PostgreSQL refuses."""
START_SECONDS = 60.0
_SETTINGS = (
    "listen_addresses=127.0.0.1",
    "max_connections=200",
    "shared_buffers=32MB",
)
_FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
"""What is lost in a power cut does not matter in a test."""


def programs() -> Path | None:
    """The folder of PostgreSQL's programs, newest version first."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda file: int(file.parts[-3]))
    if found:
        return found[-1].parent
    initdb = shutil.which("initdb")
    return Path(initdb).resolve().parent if initdb else None


@dataclass
class PostgresProcess:
    """A running server; it can be stopped and started again."""

    folder: Path
    port: int
    programs: Path
    account: pwd.struct_passwd | None
    durable: bool = False
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def url(self, database: str = "postgres", schema: str = "") -> str:
        """The address of a database, and of one schema in it."""
        options = f"?options=-csearch_path%3D{schema}" if schema else ""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}{options}"

    def create(self) -> None:
        self._run(
            str(self.programs / "initdb"), "-D", str(self.folder / "data"), "-U", "postgres", "--auth=trust",
            "--encoding=UTF8", "--locale=C", "--no-sync",
        )  # fmt: skip

    def start(self) -> None:
        speed = () if self.durable else _FAST
        settings = (f"port={self.port}", f"unix_socket_directories={self.folder}", *_SETTINGS, *speed)
        options = [part for one in settings for part in ("-c", one)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self.programs / "postgres"), "-D", str(self.folder / "data"), *options],
                stdout=log, stderr=log, cwd=self.folder, **self._identity(),
            )  # fmt: skip
        self._wait()

    def stop(self, *, kill: bool = False) -> None:
        """End it at once: connections are closed, what was committed stays."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signal.SIGQUIT if kill else signal.SIGINT)
        try:
            process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    @contextlib.contextmanager
    def frozen(self, only: Sequence[int] = ()) -> Iterator[None]:
        """All its processes, or only these, stand still: it accepts connections and answers nothing."""
        assert self._process is not None
        main = self._process.pid
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        stopped = only or [main, *map(int, children)]
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                psycopg.connect(self.url(), connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                assert self._process is not None
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError((self.folder / "log").read_text(errors="replace")[-2000:]) from None
                time.sleep(0.05)

    def _run(self, *command: str) -> None:
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, **self._identity())

    def _identity(self) -> dict[str, Any]:
        if self.account is None:
            return {}
        return {"user": self.account.pw_uid, "group": self.account.pw_gid, "extra_groups": []}


@contextlib.contextmanager
def running_postgres(*, durable: bool = False) -> Iterator[PostgresProcess]:
    """A new server with an empty database; `durable` flushes every commit to the disk, as usual."""
    found = programs()
    assert found is not None, "PostgreSQL is not installed; scripts/test-needs.sh installs it"
    folder = Path(tempfile.mkdtemp(prefix="toolcrib-postgres-"))
    server = PostgresProcess(folder, _free_port(), found, _account(), durable)
    if server.account is not None:
        os.chown(folder, server.account.pw_uid, server.account.pw_gid)
    try:
        server.create()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _account() -> pwd.struct_passwd | None:
    if os.geteuid() != 0:
        return None
    for name in UNPRIVILEGED:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise AssertionError("PostgreSQL does not run as root, and there is no other account.")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresProcess]:
    """One server for all tests of a process; do not stop it."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def postgres_url(postgres: PostgresProcess) -> Iterator[str]:
    """The URL of an empty schema."""
    schema = f"test_{secrets.token_hex(6)}"
    yield postgres.url(schema=schema)
    drop_schema(postgres, schema)


def drop_schema(server: PostgresProcess, schema: str) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE'.encode())
