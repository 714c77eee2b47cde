"""A keyboard layout without empty keys, and looks at exactly what each key does."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable

import xcffib.xtest

from toolcrib.bundled.desktop.backends.x11.connection import XConnection
from toolcrib.bundled.desktop.backends.x11.key_remapping import (
    Rows,
    read_mapping,
    row_with,
    rows_of,
    write_rows,
)
from toolcrib.bundled.desktop.backends.x11.target import DisplayTarget

PRESS, RELEASE = 2, 3
FILLER = 0x100A000
"""Letters of a script that no test types."""
LAUNCHERS = range(0x1008FF40, 0x1008FF50)


class FullLayout:
    """A client of its own, which fills keys as other programs do."""

    def __init__(self, target: DisplayTarget) -> None:
        self._target = target
        self.connection = XConnection(target.display, target.cookie)
        self._pressed: list[int] = []

    def rows(self) -> Rows:
        return rows_of(self.connection, *read_mapping(self.connection))

    def fill(self, codes: Iterable[int]) -> None:
        rows, filled = self.rows(), list(codes)
        for code in filled:
            rows[code] = row_with((FILLER + code, FILLER + code), len(rows[code]))
        write_rows(self.connection, rows, filled)
        self.connection.sync()

    def fill_empty(self) -> None:
        self.fill(code for code, row in self.rows().items() if not any(row))

    def keys_with(self, keysyms: range) -> set[int]:
        return {code for code, row in self.rows().items() if row[0] in keysyms}

    def described(self) -> str:
        """Everything that the server knows about the keys: also types, levels and actions."""
        command = ["xkbcomp", "-xkb", self._target.display, "-"]
        done = subprocess.run(command, env=self._target.environment, capture_output=True, check=True)
        return done.stdout.decode()

    def changed(self, before: Rows) -> set[int]:
        return {code for code, row in self.rows().items() if row != before[code]}

    def press(self, codes: Iterable[int]) -> None:
        for code in codes:
            self._pressed.append(code)
            self._input(PRESS, code)
        self.connection.sync()

    def close(self) -> None:
        for code in self._pressed:
            self._input(RELEASE, code)
        self.connection.sync()
        self.connection.raw.disconnect()

    def _input(self, kind: int, code: int) -> None:
        extension = self.connection.extension(xcffib.xtest)
        extension.FakeInput(kind, code, 0, self.connection.root, 0, 0, 0)
