"""Reads and writes rows of the keyboard mapping: the keysyms of each key code.

The core protocol describes only some rows exactly: those with two levels that are the same in every layout.
Others, such as F1 with its five levels, would change if they were written back as they were read, so no
request covers them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolcrib.bundled.desktop.backends.x11.connection import XConnection

LEVELS = 2
Rows = dict[int, list[int]]


def read_mapping(connection: XConnection) -> tuple[bytes, int]:
    """The keysyms of all key codes, and how many there are for each."""
    setup = connection.raw.setup
    reply = connection.core.GetKeyboardMapping(
        setup.min_keycode, setup.max_keycode - setup.min_keycode + 1
    ).reply()
    return bytes(reply.keysyms.buf()), reply.keysyms_per_keycode


def rows_of(connection: XConnection, mapping: bytes, width: int) -> Rows:
    keysyms = list(memoryview(mapping).cast("I"))
    lowest = connection.raw.setup.min_keycode
    return {lowest + at // width: keysyms[at : at + width] for at in range(0, len(keysyms), width)}


def is_exact(row: list[int]) -> bool:
    """Whether the row can be written and is then as before."""
    pair = row[:LEVELS]
    return row[LEVELS : 2 * LEVELS] in (pair, []) and set(row[2 * LEVELS :]) <= {*pair, 0}


def row_with(pair: Iterable[int], width: int) -> list[int]:
    """The row of a key that types these, without and with Shift, in every layout."""
    both = [*pair] * 2
    return [*both, *(0,) * (width - len(both))][:width]


def write_rows(connection: XConnection, rows: Rows, codes: Iterable[int]) -> None:
    """With as few requests as possible: each makes every program read the keyboard mapping again."""
    for first, last in _runs(rows, sorted(codes)):
        width = len(rows[first])
        block = [row_with(rows[code][:LEVELS], width) for code in range(first, last + 1)]
        keysyms = [keysym for row in block for keysym in row]
        connection.core.ChangeKeyboardMapping(len(block), first, width, keysyms)


def _runs(rows: Rows, codes: list[int]) -> Iterator[tuple[int, int]]:
    """Ranges from the first to the last code that hold these, and other keys only if those stay exact."""
    while codes:
        first = last = codes.pop(0)
        while codes and all(is_exact(rows[code]) for code in range(last + 1, codes[0])):
            last = codes.pop(0)
        yield first, last
