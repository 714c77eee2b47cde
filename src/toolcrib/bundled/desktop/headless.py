"""A display of our own: Xvfb with a window manager, a session bus and accessibility.

All its programs are in one process group with a keeper, a shell that waits for the end of a pipe. When we
close, or die in any way, the keeper ends the group and removes the folder: no process and no socket is
left.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from toolcrib.bundled.desktop.backend import Problem
from toolcrib.bundled.desktop.backends.x11.target import DisplayTarget
from toolcrib.errors import UsageError
from toolcrib.serverkit.context import ToolFailure

START_PATIENCE = 15.0
"""Seconds for a program of the display to say that it is ready."""
STOP_PATIENCE = 2.0
LARGEST = 16384
WINDOW_MANAGER_RESTARTS = 5
OPENBOX_SETTINGS = Path(__file__).with_name("openbox.xml")
BUS_LAUNCHERS = ("/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher")
_PACKAGES = {"Xvfb": "xvfb", "openbox": "openbox", "dbus-daemon": "dbus"}
_PASSED = ("PATH", "TERM", "LANG", "TZ", "XDG_DATA_DIRS")
_SIZE = re.compile(r"(\d{2,5})x(\d{2,5})")
_KEEPER = """
read -r line; trap '' TERM HUP INT; kill -TERM 0
[ "$line" = stopped ] || sleep 1
rm -rf -- "$1"; kill -KILL 0
"""
FAMILY_WILD, FAMILY_LOCAL = 0xFFFF, 256


def parse_size(text: str) -> tuple[int, int]:
    """`1280x800` as numbers; raises `UsageError`."""
    found = _SIZE.fullmatch(text)
    size = (int(found[1]), int(found[2])) if found else (0, 0)
    if not found or max(size) > LARGEST:
        raise UsageError(f"{text!r} is not the size of a display.", hint="Such as 1280x800.")
    return size


def probe() -> list[Problem]:
    """What a display of our own lacks on this machine."""
    problems = [
        Problem(f"{program} is not installed.", f"Install the package {package}.")
        for program, package in _PACKAGES.items()
        if shutil.which(program) is None
    ]
    if _bus_launcher() is None:
        problems.append(
            Problem("The accessibility service is not installed.", "Install the package at-spi2-core.")
        )
    return problems


class HeadlessDisplay:
    """Running between `start` and `close`; both block and may be called from any thread."""

    def __init__(self, size: tuple[int, int]) -> None:
        self._size = size
        # Not below TMPDIR: the path of a socket has at most 107 bytes.
        self._folder = Path(tempfile.mkdtemp(prefix="toolcrib-desktop-", dir="/tmp"))
        self._programs: list[subprocess.Popen[bytes]] = []
        self._keeper: subprocess.Popen[bytes] | None = None
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self.target = DisplayTarget("")

    @classmethod
    def start(cls, size: tuple[int, int]) -> HeadlessDisplay:
        """Start everything; raises `ToolFailure` with what is missing."""
        problems = probe()
        if problems:
            raise ToolFailure(
                " ".join(problem.message for problem in problems), " ".join(each.hint for each in problems)
            )
        display = cls(size)
        try:
            display._start()
        except BaseException:
            display.close()
            raise
        return display

    @property
    def alive(self) -> bool:
        return bool(self._programs) and self._programs[0].poll() is None

    def close(self) -> None:
        """End all programs and remove the folder."""
        self._closing.set()
        with self._lock:
            programs, self._programs = self._programs, []
        for program in reversed(programs):
            program.terminate()
        for program in reversed(programs):
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.wait(STOP_PATIENCE)
        self._end_keeper()
        for program in programs:
            program.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self) -> None:
        self._start_keeper()
        cookie = self._write_cookie()
        number = self._start_x_server()
        self._add_cookie(cookie, FAMILY_LOCAL, socket.gethostname(), number)
        environment = self._environment(f":{number}")
        address = self._start_bus(environment)
        environment["DBUS_SESSION_BUS_ADDRESS"] = address
        launcher = _bus_launcher()
        assert launcher is not None
        self._spawn([launcher, "--launch-immediately", "--a11y=1"], environment)
        threading.Thread(
            target=self._keep_window_manager, args=(environment,), name="desktop-openbox", daemon=True
        ).start()
        assert self._keeper is not None
        self.target = DisplayTarget(f":{number}", cookie, address, environment, self._keeper.pid)

    def _start_keeper(self) -> None:
        self._keeper = subprocess.Popen(
            ["/bin/sh", "-c", _KEEPER, "keeper", str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            process_group=0,
        )

    def _end_keeper(self) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired, BrokenPipeError):
            keeper.communicate(b"stopped\n", STOP_PATIENCE)
        keeper.kill()
        keeper.wait()

    def _write_cookie(self) -> bytes:
        """Let in only clients that know a secret, which is in a file that only the user can read."""
        cookie = secrets.token_bytes(16)
        (self._folder / "Xauthority").touch(mode=0o600)
        self._add_cookie(cookie, FAMILY_WILD)
        return cookie

    def _add_cookie(self, cookie: bytes, family: int, host: str = "", number: str = "") -> None:
        """For any display, which the server and most clients read; python-xlib only takes an exact match."""
        fields = (host.encode(), number.encode(), b"MIT-MAGIC-COOKIE-1", cookie)
        packed = b"".join(struct.pack(">H", len(field)) + field for field in fields)
        with (self._folder / "Xauthority").open("ab") as file:
            file.write(struct.pack(">H", family) + packed)

    def _start_x_server(self) -> str:
        width, height = self._size
        screen = ["-screen", "0", f"{width}x{height}x24"]
        access = ["-nolisten", "tcp", "-auth", str(self._folder / "Xauthority")]
        return self._spawn_and_read(["Xvfb", *screen, *access, "-noreset", "-displayfd"], None, "Xvfb")

    def _start_bus(self, environment: dict[str, str]) -> str:
        listening = f"--address=unix:dir={self._folder / 'run'}"
        command = ["dbus-daemon", "--session", "--nofork", "--nopidfile", listening, "--print-address"]
        return self._spawn_and_read(command, environment, "dbus-daemon", joined=True)

    def _environment(self, display: str) -> dict[str, str]:
        passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
        for name in ("home", "run"):
            (self._folder / name).mkdir(mode=0o700)
        language = passed.get("LANG", "")
        return {
            **passed,
            "LANG": language if "utf" in language.lower() else "C.UTF-8",
            "DISPLAY": display,
            "XAUTHORITY": str(self._folder / "Xauthority"),
            "HOME": str(self._folder / "home"),
            "XDG_RUNTIME_DIR": str(self._folder / "run"),
            "GDK_BACKEND": "x11",
            "QT_QPA_PLATFORM": "xcb",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "NO_AT_BRIDGE": "0",
        }

    def _keep_window_manager(self, environment: dict[str, str]) -> None:
        """Start it again if it ends; a display without one cannot be used."""
        for _ in range(WINDOW_MANAGER_RESTARTS):
            try:
                process = self._spawn(
                    ["openbox", "--sm-disable", "--config-file", str(OPENBOX_SETTINGS)], environment
                )
            except (OSError, ToolFailure):
                return
            process.wait()
            if self._closing.wait(0.2) or not self.alive:
                return

    def _spawn_and_read(
        self, command: Sequence[str], environment: dict[str, str] | None, name: str, *, joined: bool = False
    ) -> str:
        """Start a program that writes one line to a descriptor when it is ready; returns the line."""
        readable, writable = os.pipe()
        try:
            last = [f"{command[-1]}={writable}"] if joined else [command[-1], str(writable)]
            self._spawn([*command[:-1], *last], environment, keep_open=writable)
        finally:
            os.close(writable)
        try:
            return _read_line(readable, name)
        finally:
            os.close(readable)

    def _spawn(
        self, command: Sequence[str], environment: dict[str, str] | None, keep_open: int | None = None
    ) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closing.is_set() or self._keeper is None:
                raise ToolFailure("The display is closing.")
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=() if keep_open is None else (keep_open,),
                process_group=self._keeper.pid,
                cwd="/",
            )
            self._programs.append(process)
        return process


def _bus_launcher() -> str | None:
    return next((path for path in BUS_LAUNCHERS if os.access(path, os.X_OK)), None)


def _read_line(descriptor: int, name: str) -> str:
    deadline = time.monotonic() + START_PATIENCE
    read = b""
    while not read.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            raise ToolFailure(f"{name} was not ready within {START_PATIENCE:g} s.", "Try again later.")
        part = os.read(descriptor, 4096)
        if not part:
            raise ToolFailure(f"{name} ended while it started.", f"Run {name} in a terminal to see why.")
        read += part
    return read.decode().strip()
