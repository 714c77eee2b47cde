"""Prints: data to stdout, everything else to stderr, with colors and aligned tables on a terminal. Colors of
server states, when colors are off, tick and cross, how wide tables are cut, and JSON output.

Text of servers is printed without escape sequences and control characters: always on stderr, and on stdout if
it is a terminal.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from toolcrib.cli.safe_text import cut, one_line, stripped, width
from toolcrib.errors import ToolcribError

GAP = "  "
NARROWEST = 12
"""Characters that a cell keeps on a narrow terminal."""
Colour = Callable[[int, str], str]
"""The colour of a cell, by its column and text."""
_UNSAFE = re.compile(r"[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_STATE_COLOURS = {
    "ready": "green",
    "starting": "yellow",
    "degraded": "yellow",
    "backoff": "yellow",
    "failed": "red",
    "needs-auth": "red",
    "needs-config": "red",
    "needs-trust": "yellow",
    "disabled": "dim",
}


def print_json(value: Any) -> None:
    """Print one JSON document, indented on a terminal."""
    say_exactly(as_json(value, indent=2 if sys.stdout.isatty() else None))


def as_json(value: Any, indent: int | None = None) -> str:
    """JSON with characters escaped that terminals or line-based parsers would misread."""
    try:
        text = _dumped(value, indent)
    except (ValueError, RecursionError):
        text = _dumped(_finite(value), indent)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _dumped(value: Any, indent: int | None) -> str:
    separators = (",", ": ") if indent else (",", ":")
    return json.dumps(
        value, ensure_ascii=False, indent=indent, separators=separators, default=str, allow_nan=False
    )


def _finite(value: Any) -> Any:
    """The value as every client gets it: without numbers that JSON does not have."""
    from toolcrib.serverkit.encoding import Unencodable, encode  # only odd results need it

    try:
        return json.loads(encode(value))
    except (Unencodable, ValueError, RecursionError) as error:
        raise ToolcribError(
            f"The result cannot be written as JSON: {error}.", hint="Try it without --json."
        ) from None


def say(text: str = "") -> None:
    """Print a line to stdout."""
    say_exactly(stripped(text) if sys.stdout.isatty() else text)


def say_exactly(text: str) -> None:
    """Print a line to stdout unchanged: our own text, colours included."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """Print a line to stderr."""
    sys.stderr.write(f"{stripped(text)}\n")
    sys.stderr.flush()


def label(word: str, colour: str, text: str) -> None:
    """Print a line to stderr that begins with a coloured word: `error: …`."""
    sys.stderr.write(f"{paint(word, colour, sys.stderr)} {stripped(text)}\n")
    sys.stderr.flush()


def counted(number: int, noun: str) -> str:
    """`1 tool`, `2 tools`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def mark(ok: bool | None) -> str:
    """A tick, a cross or an exclamation mark; words if the encoding lacks them."""
    sign, word, colour = {
        True: ("✓", "ok", "green"),
        False: ("✗", "FAILED", "red"),
        None: ("!", "!", "yellow"),
    }[ok]
    try:
        sign.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        sign = word
    return paint(sign, colour, sys.stdout)


def paint(text: str, colour: str, stream: TextIO) -> str:
    """The text in a colour if the stream is a terminal and colours are allowed."""
    if not text or colour not in _CODES or not _shows_colours(stream):
        return text
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


def _shows_colours(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def state_colour(state: str) -> str:
    """The colour of a server's state."""
    return _STATE_COLOURS.get(state, "")


def show_table(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    colour: Colour = lambda column, text: "",
    right: Sequence[int] = (),
) -> None:
    """Print rows under headers; columns in `right` are right-aligned. On a terminal, cells are cut to fit."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(width(row[column]) for row in [list(headers), *cells]) for column in range(len(headers))]
    if sys.stdout.isatty():
        import shutil

        widths = _fitted(widths, shutil.get_terminal_size().columns)
    _show_row(list(headers), widths, lambda column, text: "bold", right)
    for row in cells:
        _show_row(row, widths, colour, right)


def _show_row(row: list[str], widths: list[int], colour: Colour, right: Sequence[int]) -> None:
    shown = []
    for column, text in enumerate(row):
        fitting = cut(text, widths[column]) if sys.stdout.isatty() else text
        padding = " " * (widths[column] - width(fitting))
        painted = paint(fitting, colour(column, text), sys.stdout)
        shown.append(padding + painted if column in right else painted + padding)
    say_exactly(GAP.join(shown).rstrip())


def _fitted(widths: list[int], columns: int) -> list[int]:
    """Narrower columns if the line is too long: first the last one, then the widest."""
    fitted = list(widths)
    excess = sum(fitted) + len(GAP) * (len(fitted) - 1) - columns
    for column in (len(fitted) - 1, fitted.index(max(fitted[:-1], default=0))):
        if excess <= 0:
            break
        cut_off = min(excess, max(fitted[column] - NARROWEST, 0))
        fitted[column] -= cut_off
        excess -= cut_off
    return fitted
