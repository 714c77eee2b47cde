"""Keys that carry a character of ours, and what they carried before.

They are written to a property of the root window with the window of their owner, before the keys change, so
that those of a crashed process are given back by the next one.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from xcffib.xproto import Atom, PropMode, WindowClass

from toolcrib.bundled.desktop.backends.x11.connection import XConnection, grabbed
from toolcrib.bundled.desktop.backends.x11.key_rows import (
    Rows,
    read_mapping,
    row_with,
    rows_of,
    write_rows,
)

PROPERTY = "_TOOLCRIB_LENT_KEYS"
_RECORD = struct.Struct("=5I")
EMPTY = (0, 0)


@dataclass(frozen=True, slots=True)
class LentKey:
    owner: int
    code: int
    put: int
    """The keysym that it types without Shift since we changed it; 0 if we have not."""
    before: tuple[int, int] = EMPTY
    """What it typed, without and with Shift."""

    @property
    def is_borrowed(self) -> bool:
        """Whether the layout uses it."""
        return self.before != EMPTY

    def is_ours(self, rows: Rows) -> bool:
        """Whether it is as we left it; another layout may be loaded by now."""
        row = rows.get(self.code, [])
        return row[:1] == [self.put] if self.put else tuple(row[:2]) == self.before


def new_owner(connection: XConnection) -> int:
    """A window that exists as long as this process uses the display."""
    owner: int = connection.raw.generate_id()
    depth, visual = 0, 0
    connection.core.CreateWindow(
        depth, owner, connection.root, 0, 0, 1, 1, 0, WindowClass.InputOnly, visual, 0, []
    )
    _store(connection, owner, struct.pack("=I", owner))
    return owner


def read_lent(connection: XConnection) -> list[LentKey]:
    """Of all processes."""
    numbers = connection.read_numbers(connection.root, PROPERTY)
    fields = (numbers[at : at + 5] for at in range(0, len(numbers) - 4, 5))
    return [LentKey(owner, code, put, (plain, shifted)) for owner, code, put, plain, shifted in fields]


def record(connection: XConnection, owner: int, lent: Iterable[LentKey]) -> None:
    """Replace what is written about the keys of this owner."""
    kept = [key for key in read_lent(connection) if key.owner != owner]
    _write(connection, [*kept, *lent])


def put_back(connection: XConnection, lent: Iterable[LentKey]) -> None:
    """Have those that are still ours type again what they did before."""
    mapping, width = read_mapping(connection)
    rows = rows_of(connection, mapping, width)
    ours = [key for key in lent if key.put and key.is_ours(rows)]
    for key in ours:
        rows[key.code] = row_with(key.before, width)
    write_rows(connection, rows, [key.code for key in ours])


def put_back_of_ended(connection: XConnection) -> None:
    """Give back the keys of processes that ended without doing so."""
    if not read_lent(connection):
        return
    with grabbed(connection):
        lent = read_lent(connection)
        living = {owner for owner in {key.owner for key in lent} if _is_living(connection, owner)}
        put_back(connection, _those(lent, lambda key: key.owner not in living))
        _write(connection, _those(lent, lambda key: key.owner in living))


def _those(lent: list[LentKey], wanted: Callable[[LentKey], bool]) -> list[LentKey]:
    return [key for key in lent if wanted(key)]


def _is_living(connection: XConnection, owner: int) -> bool:
    """Whether the owner's window is there, and not one of a later program with the same number."""
    return connection.read_numbers(owner, PROPERTY) == [owner]


def _write(connection: XConnection, lent: list[LentKey]) -> None:
    if lent:
        packed = (_RECORD.pack(key.owner, key.code, key.put, *key.before) for key in lent)
        _store(connection, connection.root, b"".join(packed))
    else:
        connection.core.DeleteProperty(connection.root, connection.atom(PROPERTY))


def _store(connection: XConnection, window: int, data: bytes) -> None:
    connection.core.ChangeProperty(
        PropMode.Replace, window, connection.atom(PROPERTY), Atom.CARDINAL, 32, len(data) // 4, data
    )
