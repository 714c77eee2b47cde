"""Recognises in a server's output what its sandbox refused, and names the setting that allows it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from toolcrib.serverkit.sandbox.layout import Layout, State

MOST_HINTS = 100
LONGEST_LINE = 16 * 1024
_SIGNS = re.compile(
    rb"EACCES|EROFS|ENOENT|EPERM|ermission denied|ead-only file system|o such file|ot permitted|ot found"
    rb"|emoryError|ut of memory|annot allocate memory|bad_alloc|esource temporarily unavailable|EAGAIN"
    rb"|EFBIG|ile too large"
)
_PATH = re.compile(r"(?<![\w./~-])/(?:[^\s'\"`:;,()<>\\\[\]{}]+)")
_NO_MEMORY = re.compile(r"MemoryError|[Oo]ut of memory|annot allocate memory|bad_alloc")
_TOO_LARGE = re.compile(r"EFBIG|[Ff]ile too large")
_NO_PROCESS = re.compile(r"(fork|spawn|clone|thread)\S* .{0,80}(EAGAIN|esource temporarily unavailable)")


class SandboxHints:
    """Finds each cause once."""

    def __init__(self, layout: Layout, *, memory: int, processes: int, disk: int = 0) -> None:
        self._layout = layout
        self._memory = memory
        self._processes = processes
        self._disk = disk
        self._given: set[str] = set()

    def of(self, output: bytes) -> list[str]:
        """What to write to the log after this output."""
        if len(self._given) >= MOST_HINTS or not _SIGNS.search(output):
            return []
        text = output[:LONGEST_LINE].decode("utf-8", "replace")
        found = [hint for hint in self._causes(text) if hint not in self._given]
        self._given.update(found)
        return found

    def _causes(self, text: str) -> Iterator[str]:
        for path in dict.fromkeys(_PATH.findall(text)):
            if hint := self._about(Path(path.rstrip("."))):
                yield hint
        if self._memory and _NO_MEMORY.search(text):
            yield _hint(f"A process may use {self._memory} MB", "To allow more, raise sandbox.memory")
        if self._disk and _TOO_LARGE.search(text):
            yield _hint(f"A file may have {self._disk} MB", "To allow more, raise sandbox.disk")
        if _NO_PROCESS.search(text):
            limit = f"It may have {self._processes} processes"
            yield _hint(limit, "To allow more, raise sandbox.processes")

    def _about(self, path: Path) -> str:
        if not os.path.lexists(path) or self._is_replaced(path):
            return ""
        if not self._layout.is_real(path):
            return _hint(f"{path} is hidden", "To allow it, add it to sandbox.readable or sandbox.writable")
        if self._layout.state(path) == State.READ and os.access(path, os.W_OK):
            return _hint(f"{path} is read-only", "To allow changes, add it to sandbox.writable")
        return ""

    def _is_replaced(self, path: Path) -> bool:
        """Whether it is a temporary file of the sandbox, with the same name as one outside."""
        within = [each for each in self._layout.private if path.is_relative_to(each)]
        return any(os.path.lexists(self._layout.private[each] / path.relative_to(each)) for each in within)


def _hint(what: str, how: str) -> str:
    return f"[sandbox] {what}. {how} of the server's entry."
