"""A display of our own (`--headless`): Xvfb with a window manager, a session bus and accessibility. Decides
the time to start and stop, largest size, required packages, home folders of its programs, and restarts of the
window manager.

All its programs are in one process group with a keeper, a shell that waits for the end of a pipe. When we
close, or die in any way, the keeper ends the group and removes the folder: no process and no socket is
left. What programs save in their home is never removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from toolcrib.bundled.desktop.backend import SetupProblem
from toolcrib.bundled.desktop.backends.x11.target import ACCESSIBLE, DisplayTarget
from toolcrib.bundled.desktop.deadline import wait_until
from toolcrib.config.paths import close_to_others, make_private
from toolcrib.errors import UsageError
from toolcrib.serverkit.context import ToolFailure

START_PATIENCE = 15.0
"""Seconds for a program of the display to say that it is ready."""
STOP_PATIENCE = 2.0
POLL = 0.02
LARGEST = 16384
WINDOW_MANAGER_RESTARTS = 5
HOME = "home"
MOST_HOMES = 100
PROGRAM_LOCKS = (".config/*/Singleton*", ".config/libreoffice/*/.lock", ".mozilla/firefox/*/lock")
"""Files by which browsers and LibreOffice recognise that they are running; they stay when one is killed, and
another host name or a reused process id then blocks the next start."""
OPENBOX_SETTINGS = Path(__file__).with_name("openbox.xml")
BUS_LAUNCHERS = ("/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher")
_PACKAGES = {"Xvfb": "xvfb", "openbox": "openbox", "dbus-daemon": "dbus"}
_PASSED = ("PATH", "TERM", "LANG", "TZ", "XDG_DATA_DIRS")
_SIZE = re.compile(r"(\d{2,5})x(\d{2,5})")
_KEEPER = """
read -r line; trap '' TERM HUP INT; kill -TERM 0
[ "$line" = stopped ] || sleep 1
rm -rf --one-file-system -- "$1"; kill -KILL 0
"""
"""Not what programs have mounted in the folder, such as files of another machine."""
FAMILY_WILD, FAMILY_LOCAL = 0xFFFF, 256


def parse_size(text: str) -> tuple[int, int]:
    """`1280x800` as numbers; raises `UsageError`."""
    found = _SIZE.fullmatch(text)
    size = (int(found[1]), int(found[2])) if found else (0, 0)
    if not found or max(size) > LARGEST:
        raise UsageError(f"{text!r} is not the size of a display.", hint="Such as 1280x800.")
    return size


def probe() -> list[SetupProblem]:
    """What a display of our own lacks on this machine."""
    if sys.platform != "linux":
        return [SetupProblem("A display of its own needs Linux.", "Leave out --headless.")]
    problems = [
        SetupProblem(f"{program} is not installed.", f"Install the package {package}.")
        for program, package in _PACKAGES.items()
        if shutil.which(program) is None
    ]
    if _bus_launcher() is None:
        problems.append(
            SetupProblem("The accessibility service is not installed.", "Install the package at-spi2-core.")
        )
    return problems


class HeadlessDisplay:
    """Running between `start` and `close`; both block and may be called from any thread."""

    def __init__(self, size: tuple[int, int], homes: Path | None, wanted: str) -> None:
        self._size = size
        # Not below TMPDIR: the path of a socket has at most 107 bytes.
        self._folder = Path(tempfile.mkdtemp(prefix="toolcrib-desktop-", dir="/tmp"))
        self._homes = homes
        self._wanted = wanted
        self.home = self._folder / HOME
        """Where programs keep their settings and, unless told otherwise, save files."""
        self._programs: list[subprocess.Popen[bytes]] = []
        self._keeper: subprocess.Popen[bytes] | None = None
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self.target = DisplayTarget("")

    @classmethod
    def start(cls, size: tuple[int, int], homes: Path | None = None, wanted: str = HOME) -> HeadlessDisplay:
        """Start everything; raises `ToolFailure` with what is missing.

        The programs' home is the folder `wanted` in `homes`, or another one there while a second display
        uses that. Without `homes` it is removed with the display.
        """
        problems = probe()
        if problems:
            raise ToolFailure(
                " ".join(problem.message for problem in problems),
                " ".join(problem.hint for problem in problems),
            )
        display = cls(size, homes, wanted)
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
        self._end_applications({program.pid for program in programs})
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
        """It alone holds the lock of the home, so that this is free when the last program has ended."""
        held = None
        if self._homes is not None:
            self.home, held = take_home(self._homes, self._wanted)
        try:
            self._keeper = subprocess.Popen(
                ["/bin/sh", "-c", _KEEPER, "keeper", str(self._folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=() if held is None else (held,),
                cwd="/",
                process_group=0,
            )
        finally:
            if held is not None:
                os.close(held)

    def _end_applications(self, own: set[int]) -> None:
        """Let programs write their settings before the display goes, as a browser does with its sign-ins."""
        keeper = self._keeper
        if keeper is None:
            return
        own |= {keeper.pid}
        for process in _members(keeper.pid) - own:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
        wait_until(lambda: _members(keeper.pid) <= own, STOP_PATIENCE, POLL)

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
        (self._folder / "run").mkdir(mode=0o700)
        self.home.mkdir(mode=0o700, exist_ok=True)
        language = passed.get("LANG", "")
        return {
            **passed,
            "LANG": language if "utf" in language.lower() else "C.UTF-8",
            "DISPLAY": display,
            "XAUTHORITY": str(self._folder / "Xauthority"),
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self._folder / "run"),
            "GDK_BACKEND": "x11",
            "QT_QPA_PLATFORM": "xcb",
            **ACCESSIBLE,
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


def take_home(folder: Path, wanted: str = HOME) -> tuple[Path, int]:
    """A home in this folder that no other display uses, and the descriptor whose lock keeps it so.

    Displays never share one: a browser hands its addresses to an instance with the same home, whose windows
    are on the other display.
    """
    make_private(folder)
    close_to_others(folder, closed=True)
    for name in dict.fromkeys([wanted, HOME, *(f"{HOME}-{number}" for number in range(2, MOST_HOMES))]):
        held = os.open(folder / f".{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not _lock(held):
            os.close(held)
            continue
        os.pwrite(held, f"{os.getpid()}\n".encode().ljust(20), 0)
        home = folder / name
        make_private(home)
        close_to_others(home, closed=True)
        for pattern in PROGRAM_LOCKS:
            for left in home.glob(pattern):
                left.unlink(missing_ok=True)
        return home, held
    raise ToolFailure(f"{folder} has no free home for programs.", "Stop some of the desktop servers.")


def _lock(held: int) -> bool:
    """Waits for a display whose server has ended: its programs are about to."""
    if _locked_now(held):
        return True
    owner = os.pread(held, 20, 0).strip()
    if not owner.isdigit() or Path(f"/proc/{int(owner)}").exists():
        return False
    return wait_until(lambda: _locked_now(held), START_PATIENCE, POLL)


def _locked_now(held: int) -> bool:
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _members(group: int) -> set[int]:
    """The living processes of a group."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, member_of, *_ = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(member_of) == group and state != "Z":
                found.add(int(folder.name))
    return found


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
