"""Loads the program once and forks for each command, so that a test does not pay for its imports.

A forked command is a process like any other, with its own environment, streams and signals; only the imports
are shared. Each request is one byte with five descriptors: a file with the arguments, environment and folder
as JSON, the three streams, and a pipe that gets the process id and then the exit code.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import json
import os
import pkgutil
import selectors
import signal
import socket
import sys
import termios
import threading
from contextlib import suppress
from typing import NoReturn

from toolcrib import plugins

OTHERS = (
    "encodings.idna",
    "encodings.utf_8_sig",
    "mcp",
    "onnxruntime",
    "platformdirs",
    "rich.console",
    "uvloop",
)
"""Packages that commands import inside of functions."""


def load() -> None:
    """Import the whole program and what its commands import later."""
    import toolcrib

    for module in pkgutil.walk_packages(toolcrib.__path__, "toolcrib."):
        if "__main__" not in module.name:
            importlib.import_module(module.name)
    for name in OTHERS:
        with suppress(ImportError):
            importlib.import_module(name)
    assert threading.active_count() == 1, "a process with threads cannot be forked safely"
    gc.collect()
    gc.freeze()  # Otherwise a collection in a child copies every page.


class ForkServer:
    """Forks for each request and reports how each child ended."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._running: dict[int, int] = {}
        """Process ids, with the pipes that get their exit codes."""
        self._ended, wakeup = socket.socketpair()
        self._ended.setblocking(False)
        wakeup.setblocking(False)
        self._wakeup = wakeup
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakeup.fileno(), warn_on_full_buffer=False)

    def serve(self) -> None:
        """Until the tests end, which closes the socket."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._requests, selectors.EVENT_READ, self._fork)
            selector.register(self._ended, selectors.EVENT_READ, self._reap)
            while all(key.data() for key, _ in selector.select()):
                pass

    def _fork(self) -> bool:
        message, descriptors, *_ = socket.recv_fds(self._requests, 1, 5)
        if not message:
            return False
        pid = os.fork()
        if pid == 0:
            self._become(*descriptors)
        *taken, status = descriptors
        for descriptor in taken:
            os.close(descriptor)
        os.write(status, f"{pid}\n".encode())
        self._running[pid] = status
        return True

    def _reap(self) -> bool:
        with suppress(BlockingIOError):
            self._ended.recv(4096)
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self._report(*ended)
        return True

    def _report(self, pid: int, status: int) -> None:
        pipe = self._running.pop(pid)
        with suppress(BrokenPipeError):
            os.write(pipe, f"{os.waitstatus_to_exitcode(status)}\n".encode())
        os.close(pipe)

    def _become(self, request: int, *streams: int) -> NoReturn:
        """The child: put everything in place as for a new process, then run the program."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for kept in (self._requests, self._ended, self._wakeup):
            kept.close()
        for status in self._running.values():
            os.close(status)
        with open(request, encoding="utf-8") as file:
            asked = json.load(file)
        run(asked, *streams)


def run(asked: dict[str, object], stdin: int, stdout: int, stderr: int, status: int) -> NoReturn:
    """Run the program on these streams, in this process, and end it."""
    for number, stream in enumerate((stdin, stdout, stderr)):
        os.dup2(stream, number)
    os.closerange(min(stdin, stdout, stderr, status), max(stdin, stdout, stderr, status) + 1)
    if asked["on_terminal"]:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(str(asked["cwd"]))
    os.environ.clear()
    os.environ.update(asked["environment"])  # type: ignore[call-overload]
    sys.argv = list(asked["arguments"])  # type: ignore[call-overload]
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    plugins._entry_points.cache_clear()  # A package may have come with the path.
    _open_streams()
    os._exit(_exit_code())


def _open_streams() -> None:
    """The standard streams as Python opens them in its UTF-8 mode."""
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr


def _exit_code() -> int:
    from toolcrib.cli import main

    code: object = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    except BaseException:  # noqa: BLE001 - as the interpreter does
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    return code if isinstance(code, int) else 1


if __name__ == "__main__":
    load()
    ForkServer(socket.socket(fileno=int(sys.argv[1]))).serve()
