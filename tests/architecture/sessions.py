"""Runs the commands of a page as its reader does: in a terminal, one block after the other, on one home."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.architecture.documented import SHELL, Block, programs

DEADLINE = 100.0
PROMPTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\[y\] once.*\[Esc\] stop\s*$", re.DOTALL), "y"),
    (re.compile(r"\[y/n\]:? ?$", re.IGNORECASE), "y\n"),
    (re.compile(r"^› ?$", re.MULTILINE), "/exit\n"),
    (re.compile(r"(?:hidden|token|passphrase|value|key|password)[^\n]*: ?$", re.IGNORECASE), "secret-1234\n"),
)
"""What a terminal asks, and what the reader answers."""
_STAYING = {"up", "serve"}
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]")


@dataclass
class Reader:
    """A person with a terminal, a home and a folder."""

    folder: Path
    left_running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        kept = {key: os.environ[key] for key in ("LANG", "TMPDIR") if key in os.environ}
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        ours = {"HOME": str(self.folder), "TOOLCRIB_HOME": str(self.folder / "home"), "BROWSER": "true"}
        return {**kept, **ours, "TOOLCRIB_KEYRING": "off", "PATH": path, "TERM": "xterm", "NO_COLOR": "1"}

    def follow(self, block: Block) -> None:
        """Save a file, or take the steps that come before a block, then its own."""
        if block.file:
            (self.folder / block.file).write_text(block.text)
        if block.info not in SHELL or block.not_run:
            return
        names = re.findall(r"^([A-Z]+)=", block.before, re.MULTILINE)
        lines: list[str] = []
        for line in (*block.before.splitlines(), *(typed(command, names) for command in block.commands)):
            if stays(line):
                self._run(lines)
                self._start(line)
                lines = []
            else:
                lines.append(line)
        self._run(lines)

    def leave(self) -> None:
        """End what still runs, in order."""
        for process in self.left_running:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=DEADLINE)

    def _start(self, line: str) -> None:
        """In another terminal, until its first output."""
        process = subprocess.Popen(
            ["bash", "-c", f"exec {line}"],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.left_running.append(process)
        assert process.stdout is not None
        first = process.stdout.readline()
        assert process.poll() is None, f"{line}\n{first.decode()}"

    def _run(self, lines: Sequence[str]) -> None:
        if not lines:
            return
        code, output = in_terminal(["bash", "-eo", "pipefail", "-c", "\n".join(lines)], self)
        assert code == 0, f"exit code {code}\n{output}"


def typed(line: str, names: Sequence[str]) -> str:
    """A command with variables for placeholders, a free port, and an end of what a client would send."""
    for name in names:
        line = re.sub(rf"(?<![$\w]){name}\b", f"${name}", line)
    line = re.sub(r"--port \d+", "--port 0", line)
    speaks = "--stdio" in line or "toolcrib.bundled." in line
    return re.sub(r"\s+#.*|$", " </dev/null", line, count=1) if speaks else line


def stays(line: str) -> bool:
    """Whether a command runs until it is stopped."""
    words = next(programs(line))
    return words[:1] == ["toolcrib"] and words[1] in _STAYING and "--stdio" not in words


def in_terminal(command: Sequence[str], reader: Reader) -> tuple[int, str]:
    """Run a command in a terminal of its own, and answer what it asks."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command,
        cwd=reader.folder,
        env=reader.environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown, answered, until = "", 0, time.monotonic() + DEADLINE
    try:
        while data := _read(ours, until):
            shown += data
            said = _COLOURS.sub("", shown[answered:])
            answer = next((answer for prompt, answer in PROMPTS if prompt.search(said)), None)
            if answer is not None:
                answered = len(shown)
                os.write(ours, answer.encode())
        return process.wait(timeout=10), _COLOURS.sub("", shown)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise AssertionError(f"it did not end:\n{_COLOURS.sub('', shown)}") from None
    finally:
        os.close(ours)


def _read(terminal: int, until: float) -> str:
    """What was written next; nothing at the end, or when the time is over."""
    ready, _, _ = select.select([terminal], [], [], max(0.0, until - time.monotonic()))
    if not ready:
        return ""
    try:
        return os.read(terminal, 65536).decode(errors="replace")
    except OSError:  # all programs in it have ended
        return ""
