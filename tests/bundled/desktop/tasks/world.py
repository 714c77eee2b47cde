"""What a task starts, and what is known of it without the desktop server: files, processes, X properties."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tests.bundled.desktop.conftest import own_settings
from tests.bundled.desktop.tasks.website import Website
from toolcrib.bundled.desktop.backends.x11 import DisplayTarget

T = TypeVar("T")
PATIENCE = 60.0
COMMAND_PATIENCE = 20.0
POLL = 0.03
BROWSERS = ("chromium", "google-chrome")


class World:
    """The display, the programs of one task, and its folder."""

    def __init__(self, target: DisplayTarget, folder: Path, browser: Browser | None = None) -> None:
        self.target = target
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []
        self._browser = browser

    @property
    def browser(self) -> Browser:
        assert self._browser is not None
        return self._browser

    def start(self, *command: str, **options: Any) -> subprocess.Popen[bytes]:
        """A program with a home of its own: one that was killed would offer to recover its documents."""
        home = self.folder / f"home{len(self.started)}"
        home.mkdir()
        process = start(self.target, command, home, **{"cwd": self.folder, **options})
        self.started.append(process)
        return process

    def home_of(self, process: subprocess.Popen[bytes]) -> Path:
        return self.folder / f"home{self.started.index(process)}"

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def end(self) -> None:
        for process in self.started:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    async def until(self, look: Callable[[], T]) -> T:
        """The first true value; looked for again until the deadline."""
        async with asyncio.timeout(PATIENCE):
            while not (found := await asyncio.to_thread(look)):  # noqa: ASYNC110 - files have no event
                await asyncio.sleep(POLL)
        return found

    async def contains(self, path: Path, text: str) -> None:
        """Wait until a file contains exactly this; editors may add a line break at its end."""
        try:
            await self.until(lambda: path.exists() and _text(path) == text.rstrip("\n"))
        except TimeoutError:
            seen = _text(path) if path.exists() else None
            raise AssertionError(f"{path.name} contains {seen!r} instead of {text!r}") from None

    async def exit_of(self, process: subprocess.Popen[bytes]) -> int:
        return await asyncio.to_thread(process.wait, PATIENCE)

    async def output_of(self, process: subprocess.Popen[bytes]) -> str:
        """What a program wrote until it ended."""
        output, _ = await asyncio.to_thread(process.communicate, None, PATIENCE)
        return output.decode().rstrip("\n")

    # Programs that look at the display by other means than the desktop server

    def run(self, *command: str, given: str | None = None) -> str:
        done = subprocess.run(
            command,
            env=dict(self.target.environment),
            input=given.encode() if given is not None else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=COMMAND_PATIENCE,
            check=False,
        )
        return done.stdout.decode()

    def clipboard(self) -> str:
        return self.run("xclip", "-o", "-selection", "clipboard")

    def window_ids(self, process: subprocess.Popen[bytes]) -> list[int]:
        return self.windows_of(process.pid)

    def windows_of(self, pid: int) -> list[int]:
        """The windows of a process, the newest last."""
        return [each for each in self.all_windows() if self.property(each, "_NET_WM_PID") == str(pid)]

    def windows_titled(self, text: str) -> list[int]:
        return [each for each in self.all_windows() if text in self.title(each)]

    def all_windows(self) -> list[int]:
        listed = self.run("xprop", "-root", "_NET_CLIENT_LIST")
        return [int(each, 16) for each in re.findall(r"0x[0-9a-f]+", listed)]

    def property(self, window: int | str, name: str) -> str:
        """The value of an X property as text; empty if it is not set."""
        found = self.run("xprop", "-id", str(window), "-notype", name)
        return found.partition("=")[2].strip().strip('"')

    def title(self, window: int | str) -> str:
        return self.property(window, "_NET_WM_NAME")

    def place(self, window: int) -> tuple[int, int, int, int]:
        """Left, top, width and height of the inside of a window."""
        found = self.run("xwininfo", "-id", str(window))
        names = ("Absolute upper-left X", "Absolute upper-left Y", "Width", "Height")
        left, top, width, height = (int(re.findall(rf"{name}: +(-?\d+)", found)[0]) for name in names)
        return left, top, width, height

    def move(self, window: int, x: int, y: int) -> None:
        """By the window manager, as wmctrl does."""
        self.run("wmctrl", "-i", "-r", hex(window), "-e", f"0,{x},{y},-1,-1")

    def close_window(self, window: int) -> None:
        self.run("wmctrl", "-i", "-c", hex(window))

    def is_running(self, process: int) -> bool:
        """False for one that has ended and was not yet collected."""
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        return state != "Z"

    async def window_of(self, process: subprocess.Popen[bytes]) -> int:
        return (await self.until(lambda: self.window_ids(process)))[-1]


class Browser:
    """Chromium with one profile, and a website on loopback; both are shared by the tasks that use them."""

    def __init__(self, target: DisplayTarget, folder: Path) -> None:
        self.website = Website()
        self._target = target
        self._profile = folder / "profile"
        self._home = folder / "home"
        self._home.mkdir()
        self._process: subprocess.Popen[bytes] | None = None

    def open(self, page: str, html: str) -> None:
        """Show a page in a new window."""
        self.website.pages[page] = html
        if self._process is None or self._process.poll() is not None:
            # Stays open, because Chromium ends with its last window and could then lose the next page.
            self._process = start(self._target, self._command("about:blank"), self._home)
            self._wait_for_start()
        handing_over = start(self._target, self._command(f"{self.website.address}/{page}"), self._home)
        handing_over.wait(PATIENCE)

    def _wait_for_start(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while not (self._profile / "SingletonSocket").exists():
            assert time.monotonic() < deadline, "Chromium did not start."
            time.sleep(POLL)

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self.website.close()

    def _command(self, address: str) -> list[str]:
        program = next((each for each in BROWSERS if shutil.which(each)), BROWSERS[0])
        return [
            program, "--no-sandbox", "--disable-gpu", "--force-renderer-accessibility", "--no-first-run",
            "--disable-dev-shm-usage", "--disable-background-networking", f"--user-data-dir={self._profile}",
            "--window-size=900,700", "--new-window", address,
        ]  # fmt: skip


def start(
    target: DisplayTarget, command: tuple[str, ...] | list[str], home: Path, **options: Any
) -> subprocess.Popen[bytes]:
    if shutil.which(command[0]) is None:
        raise FileNotFoundError(f"{command[0]} is not installed; see scripts/test-needs.sh")
    return subprocess.Popen(
        command,
        env={**target.environment, **own_settings(home)},
        process_group=target.process_group,
        **{
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
            **options,
        },
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8").rstrip("\n")
