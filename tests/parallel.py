"""Runs the tests in several processes (`--jobs`), which are forked once the tests are collected.

Each process gets the next part of the tests in the order of their files. The parts get smaller at the end, so
that all processes end at about the same time. A test whose process ends is reported as failed, and another
process takes the rest of its part.
"""

from __future__ import annotations

import gc
import os
import random
import signal
import traceback
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from tempfile import TemporaryFile
from typing import Any

import pytest

LARGEST_PART = 30
SHARES = 4
"""A part is at most this share of what is left for one process."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--jobs", type=int, default=1, help="processes that run tests")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    jobs = session.config.option.jobs
    if jobs < 2 or len(session.items) < 2 or session.testsfailed or session.config.option.collectonly:
        return None
    Workers(session, jobs).run()
    return True


@dataclass
class Worker:
    """A process that runs tests, as its parent sees it."""

    pid: int
    connection: Connection
    left: list[int] = field(default_factory=list)
    """The tests that it has and did not finish."""
    reason: str = ""
    """Why it ended, if it could say so."""


class Workers:
    """Hands the tests of a session to processes, and reports what they report."""

    def __init__(self, session: pytest.Session, jobs: int) -> None:
        self._session = session
        self._jobs = jobs
        self._next = 0
        self._workers: dict[Connection, Worker] = {}

    def run(self) -> None:
        try:
            for _ in range(self._jobs):
                self._start([])
            while self._workers:
                ready = wait(list(self._workers))
                for worker in [found for found in self._workers.values() if found.connection in ready]:
                    self._receive(worker)
        finally:
            for worker in self._workers.values():
                os.kill(worker.pid, signal.SIGKILL)
                os.waitpid(worker.pid, 0)
        self._raise_if_stopped()

    def _start(self, tests: list[int]) -> None:
        """Fork a process that begins with these tests."""
        ours, theirs = Pipe()
        gc.freeze()
        pid = os.fork()
        if pid == 0:
            for connection in (ours, *self._workers):
                connection.close()
            _work(self._session, theirs)
        theirs.close()
        self._workers[ours] = worker = Worker(pid, ours)
        if tests:
            self._send(worker, tests)
        self._send(worker, self._part())

    def _part(self) -> list[int]:
        """The tests that a process gets next; none if it may end."""
        if self._session.shouldstop or self._session.shouldfail:
            return []
        left = len(self._session.items) - self._next
        size = min(LARGEST_PART, max(1, left // (self._jobs * SHARES)), left)
        self._next += size
        return list(range(self._next - size, self._next))

    def _send(self, worker: Worker, tests: list[int]) -> None:
        worker.left += tests
        with suppress(OSError):  # It has ended, which is found when its connection is read.
            worker.connection.send(tests)

    def _receive(self, worker: Worker) -> None:
        try:
            kind, data = worker.connection.recv()
        except (EOFError, OSError):
            self._end(worker)
            return
        hook, config = self._session.config.hook, self._session.config
        if kind == "more":
            self._send(worker, self._part())
        elif kind == "done":
            worker.left.remove(data)
        elif kind == "broken":
            worker.reason = data
        else:
            report = hook.pytest_report_from_serializable(config=config, data=data)
            hook.pytest_runtest_logreport(report=report)

    def _end(self, worker: Worker) -> None:
        """Report the test during which a process ended, and let another one run the rest."""
        del self._workers[worker.connection]
        worker.connection.close()
        _, status = os.waitpid(worker.pid, 0)
        if not worker.left:
            return
        item = self._session.items[worker.left[0]]
        ended = f"The process of the test ended with {os.waitstatus_to_exitcode(status)}."
        report = pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="failed",
            longrepr=worker.reason or ended,
            when="call",
        )
        item.ihook.pytest_runtest_logreport(report=report)
        if not (self._session.shouldstop or self._session.shouldfail):
            self._start(worker.left[1:])

    def _raise_if_stopped(self) -> None:
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)


class Reporter:
    """Sends the reports of a process to its parent."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config = config
        self._connection = connection

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._connection.send(("report", data))


def _work(session: pytest.Session, connection: Connection) -> None:
    """Run tests until there are no more; ends the process."""
    config = session.config
    code = 1
    try:
        _separate(config)
        config.pluginmanager.register(Reporter(config, connection))
        tests = _received(connection)
        current = next(tests, None)
        while current is not None:
            following = next(tests, None)
            item = session.items[current]
            after = None if following is None else session.items[following]
            item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
            connection.send(("done", current))
            current = following
        code = 0
    except (KeyboardInterrupt, BrokenPipeError, EOFError):
        pass
    except BaseException:  # noqa: BLE001 - the end of a forked process
        with suppress(OSError):
            connection.send(("broken", traceback.format_exc()))
    finally:
        os._exit(code)


def _separate(config: pytest.Config) -> None:
    """Share no file of captured output, no random numbers and no terminal with the parent."""
    random.seed()
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    for stream in (capture._global_capturing.out, capture._global_capturing.err):
        if hasattr(stream, "tmpfile"):
            with TemporaryFile() as own:  # Modules may have kept the old object, such as `sys.stderr`.
                os.dup2(own.fileno(), stream.tmpfile.fileno(), inheritable=False)
    terminal: Any = config.pluginmanager.getplugin("terminalreporter")
    terminal._tw._file = open(os.devnull, "w")  # noqa: SIM115, PTH123 - until the process ends


def _received(connection: Connection) -> Iterator[int]:
    """The tests that the parent sends; the next part is asked for before the last test of one begins."""
    while tests := connection.recv():
        connection.send(("more", None))
        yield from tests
