"""Plain aligned columns that adapt to the terminal; whole and unadorned when piped."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence

from toolcrib.cli.colours import paint
from toolcrib.cli.output import say_exactly
from toolcrib.cli.safe_text import cut, one_line, width

GAP = "  "
LEAST = 12
"""Columns that a cell keeps when the terminal is narrow."""

Colour = Callable[[int, str], str]
"""The colour of a cell, from its column and text."""


def show_table(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    colour: Colour = lambda column, text: "",
    right: Sequence[int] = (),
) -> None:
    """Print rows under headers, the columns numbered in `right` aligned there; on a terminal, cut to fit."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(width(row[column]) for row in [list(headers), *cells]) for column in range(len(headers))]
    if sys.stdout.isatty():
        widths = _fitted(widths, shutil.get_terminal_size().columns)
    _show(list(headers), widths, lambda column, text: "bold", right)
    for row in cells:
        _show(row, widths, colour, right)


def _show(row: list[str], widths: list[int], colour: Colour, right: Sequence[int]) -> None:
    shown = []
    for column, text in enumerate(row):
        fitting = cut(text, widths[column]) if sys.stdout.isatty() else text
        padding = " " * (widths[column] - width(fitting))
        painted = paint(fitting, colour(column, text), sys.stdout)
        shown.append(padding + painted if column in right else painted + padding)
    say_exactly(GAP.join(shown).rstrip())


def _fitted(widths: list[int], columns: int) -> list[int]:
    """Narrower columns where the line would not fit: the last one gives first, then the widest."""
    fitted = list(widths)
    excess = sum(fitted) + len(GAP) * (len(fitted) - 1) - columns
    for column in (len(fitted) - 1, fitted.index(max(fitted[:-1], default=0))):
        if excess <= 0:
            break
        given = min(excess, max(fitted[column] - LEAST, 0))
        fitted[column] -= given
        excess -= given
    return fitted
