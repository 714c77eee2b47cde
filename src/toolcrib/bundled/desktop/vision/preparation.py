"""Prepares pictures for OCR: dark text on a light ground, large enough, in parts for several threads. Decides
how much small letters are enlarged."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass

import cv2
import numpy

CELL = 4
"""Pixels: the ground is judged in squares of this size, so that its edges stay apart from the letters."""
GROUND = 7
"""Cells: most of a square of this size is ground, whatever is written there."""
DARK = 115
LETTER_HEIGHT = 11
"""Pixels of a lower-case letter from which enlarging no longer helps."""
LARGEST_SCALE = 2.0
MIN_LETTERS = 8
MAX_BANDS = 4
BAND_HEIGHT = 160
MARGIN, OVERLAP = 20, 40
"""Pixels that bands share at a cut between two lines, which are read better with some space around them; and
where a line is in the way of the cut, so that it is whole in one of the bands."""
RULE = 40
"""Pixels from which a straight line is a border or an underline, not a part of a letter."""
IMBALANCE = 0.15
"""The share of the text by which a band may be too long, to be cut between two lines."""


@dataclass(frozen=True)
class Band:
    """A horizontal part of a picture; words count if their middle is between `top` and `bottom`."""

    pixels: numpy.ndarray
    start: int
    """The first row of its pixels."""
    top: int
    bottom: int


def even_ground(pixels: numpy.ndarray) -> numpy.ndarray:
    """In grey, with dark areas inverted. An engine would otherwise read everything twice."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
    height, width = grey.shape
    cells = (max(1, width // CELL), max(1, height // CELL))
    ground = cv2.medianBlur(cv2.resize(grey, cells, interpolation=cv2.INTER_AREA), GROUND)
    dark = numpy.where(ground < DARK, 255, 0).astype(numpy.uint8)
    mask = cv2.resize(dark, (width, height), interpolation=cv2.INTER_NEAREST)
    return numpy.asarray(cv2.bitwise_xor(grey, mask))


def find_ink(grey: numpy.ndarray) -> numpy.ndarray:
    """Not 0 where it is darker than around it."""
    return numpy.asarray(
        cv2.adaptiveThreshold(
            grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, blockSize=15, C=20
        )
    )


def text_scale(ink: numpy.ndarray) -> float:
    """How much to enlarge a picture so that its letters are large enough."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(ink)
    widths, heights = stats[1:, cv2.CC_STAT_WIDTH], stats[1:, cv2.CC_STAT_HEIGHT]
    letters = heights[(heights >= 5) & (heights <= 40) & (widths >= 2) & (widths <= 2 * heights)]
    if len(letters) < MIN_LETTERS:
        return LARGEST_SCALE
    return float(min(max(LETTER_HEIGHT / numpy.median(letters), 1.0), LARGEST_SCALE))


def split(grey: numpy.ndarray, ink: numpy.ndarray) -> list[Band]:
    """As many bands as processors, with the same amount of text in each: they take equally long to read."""
    height = grey.shape[0]
    count = max(1, min(MAX_BANDS, _processors(), height // BAND_HEIGHT))
    cuts = _cuts(ink, count) if count > 1 else []
    edges = [(0, 0), *cuts, (height, 0)]
    bands = []
    for (top, above), (bottom, below) in itertools.pairwise(edges):
        start, end = max(0, top - above), min(height, bottom + below)
        bands.append(Band(grey[start:end], start, top, bottom))
    return bands


def _cuts(ink: numpy.ndarray, count: int) -> list[tuple[int, int]]:
    """Rows at which bands begin, and how many pixels they share there."""
    text = _without_rules(ink)
    rows = numpy.count_nonzero(text, axis=1)
    before = numpy.concatenate(([0], numpy.cumsum(rows)[:-1]))
    total = int(rows.sum())
    blank = numpy.flatnonzero((rows == 0) & (numpy.roll(rows, 1) == 0))
    cuts = {_cut(blank, before, total * number // count, total) for number in range(1, count)}
    return sorted(cut for cut in cuts if 0 < cut[0] < len(rows))


def _cut(blank: numpy.ndarray, before: numpy.ndarray, wanted: int, total: int) -> tuple[int, int]:
    """The row between two lines with nearly this much text above it; through a line if none is near."""
    if len(blank):
        nearest = int(blank[numpy.argmin(numpy.abs(before[blank] - wanted))])
        if abs(int(before[nearest]) - wanted) <= IMBALANCE * total:
            return nearest, MARGIN
    return int(numpy.searchsorted(before, wanted)), OVERLAP


def _without_rules(ink: numpy.ndarray) -> numpy.ndarray:
    for shape in ((RULE, 1), (1, RULE)):
        kernel = cv2.getStructuringElement(cv2.MORPH_RECT, shape)
        ink = cv2.subtract(ink, cv2.morphologyEx(ink, cv2.MORPH_OPEN, kernel))
    return ink


def enlarge(grey: numpy.ndarray, scale: float) -> numpy.ndarray:
    if scale == 1:
        return numpy.ascontiguousarray(grey)
    return numpy.asarray(cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC))


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
