"""Finds a small picture in a larger one, with a first pass at half the resolution that loses no match.
Limits: smallest picture, least contrast, most candidates; errors for pictures of one color.

The score is the normalised correlation of two pictures: the cosine of the angle between them as vectors, and
angles obey the triangle inequality. So a place that differs from the template by the angle of the threshold
differs from the template's half-size version by at most that angle plus the one between both versions, for
each of the four ways in which it can lie on the coarser grid. Only places within that bound are compared at
full resolution. Fine patterns such as small text lose most of their contrast at half size; the bound then
excludes little, and there is no first pass.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy

from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.vision.decoding import InvalidPicture

SMALLEST_SIDE = 4
SMALLEST_HALVED = 12
"""Pixels: half of a smaller template says too little."""
LEAST_CONTRAST = 2.0
"""Standard deviation of grey; correlation means nothing without contrast."""
LARGEST_SHARE = 0.25
"""Of the picture, which is compared at full resolution after the first pass; beyond that, all of it is."""
MAX_CANDIDATES = 400
LEAST_BOUND = 0.45
"""A first pass with a lower bound excludes too little to pay."""
ROUNDING = 0.02
"""Of scores: pictures have whole numbers."""


@dataclass(frozen=True)
class ImageMatch:
    rect: Rect
    """In pixels of the picture that was searched."""
    score: float


def check_template(template: numpy.ndarray) -> None:
    """Raises `InvalidPicture` for one that cannot be found."""
    height, width = template.shape[:2]
    if min(height, width) < SMALLEST_SIDE:
        raise InvalidPicture(
            f"The picture to find has only {width}x{height} pixels.", f"Use at least {SMALLEST_SIDE} a side."
        )
    if float(_grey(template).std()) < LEAST_CONTRAST:
        raise InvalidPicture("The picture to find has only one colour.", "Include an edge or a text.")


def find_template(
    picture: numpy.ndarray, template: numpy.ndarray, threshold: float, limit: int
) -> list[ImageMatch]:
    """The best matches that do not overlap, best first."""
    if template.shape[0] > picture.shape[0] or template.shape[1] > picture.shape[1]:
        return []
    grey, wanted = _grey(picture), _grey(template)
    found: list[ImageMatch] = []
    for area in _areas(grey, wanted, threshold):
        part = grey[area.y : area.y + area.height, area.x : area.x + area.width]
        scores = cv2.matchTemplate(part, wanted, cv2.TM_CCOEFF_NORMED)
        found += _peaks(scores, area, wanted, threshold, limit * 4)
    found = [_in_colour(match, picture, template) for match in found]
    found = [match for match in found if match.score >= threshold]
    return _without_overlaps(found, limit)


def _grey(pixels: numpy.ndarray) -> numpy.ndarray:
    return numpy.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY))


def _areas(grey: numpy.ndarray, wanted: numpy.ndarray, threshold: float) -> list[Rect]:
    """The parts of the picture in which a match can be."""
    whole = [Rect(0, 0, grey.shape[1], grey.shape[0])]
    if min(wanted.shape) < SMALLEST_HALVED:
        return whole
    coarse = _coarse(wanted)
    bound = half_size_bound(wanted, coarse, threshold) - ROUNDING
    if bound < LEAST_BOUND:
        return whole
    areas = list(_candidate_areas(_half(grey), coarse, wanted, bound, grey))
    share = sum(area.width * area.height for area in areas) / grey.size
    return whole if share > LARGEST_SHARE or len(areas) > MAX_CANDIDATES else areas


def half_size_bound(wanted: numpy.ndarray, coarse: numpy.ndarray, threshold: float) -> float:
    """The lowest score at half size of a place whose score at full size reaches the threshold."""
    full = _unit(wanted.astype(numpy.float64))
    shown = numpy.kron(coarse - coarse.mean(), numpy.ones((2, 2)))
    height, width = shown.shape
    widest = 0.0
    for down in (0, 1):
        for right in (0, 1):
            placed = numpy.zeros_like(full)
            placed[down : down + height, right : right + width] = shown
            cosine = float((_unit(placed) * full).sum())
            widest = max(widest, math.acos(min(1.0, max(-1.0, cosine))))
    angle = widest + math.acos(min(1.0, max(-1.0, threshold)))
    return math.cos(angle) if angle < math.pi else -1.0


def _unit(pixels: numpy.ndarray) -> numpy.ndarray:
    centred = pixels - pixels.mean()
    length = float(numpy.linalg.norm(centred))
    return numpy.asarray(centred / length if length else centred)


def _coarse(wanted: numpy.ndarray) -> numpy.ndarray:
    """At half size: the average of the four ways in which it can lie on the coarser grid."""
    height, width = (wanted.shape[0] - 1) // 2 * 2, (wanted.shape[1] - 1) // 2 * 2
    shifted = [
        _half(wanted[down : down + height, right : right + width]) for down in (0, 1) for right in (0, 1)
    ]
    return numpy.asarray(sum(shifted) / len(shifted), dtype=numpy.float32)


def _half(grey: numpy.ndarray) -> numpy.ndarray:
    """As floats: rounded averages of fine patterns would be far off."""
    even = grey[: grey.shape[0] // 2 * 2, : grey.shape[1] // 2 * 2].astype(numpy.float32)
    size = (even.shape[1] // 2, even.shape[0] // 2)
    return numpy.asarray(cv2.resize(even, size, interpolation=cv2.INTER_AREA))


def _candidate_areas(
    picture: numpy.ndarray,
    wanted: numpy.ndarray,
    template: numpy.ndarray,
    bound: float,
    grey: numpy.ndarray,
) -> Iterator[Rect]:
    """Groups of places that the first pass does not exclude, each with room for the template."""
    scores = cv2.matchTemplate(picture, wanted, cv2.TM_CCOEFF_NORMED)
    possible = (scores >= bound).astype(numpy.uint8)
    count, _, stats, _ = cv2.connectedComponentsWithStats(possible)
    bounds = Rect(0, 0, grey.shape[1], grey.shape[0])
    for number in range(1, min(count, MAX_CANDIDATES + 2)):
        x, y, width, height = (int(stats[number, column]) for column in range(4))
        area = Rect(
            2 * x - 1, 2 * y - 1, 2 * width + template.shape[1], 2 * height + template.shape[0]
        ).intersection(bounds)
        if area.width >= template.shape[1] and area.height >= template.shape[0]:
            yield area


def _peaks(
    scores: numpy.ndarray, area: Rect, wanted: numpy.ndarray, threshold: float, limit: int
) -> Iterator[ImageMatch]:
    height, width = wanted.shape
    for _ in range(limit):
        _, score, _, (x, y) = cv2.minMaxLoc(scores)
        if not score >= threshold:
            return
        yield ImageMatch(Rect(area.x + x, area.y + y, width, height), float(score))
        top, left = max(0, y - height // 2), max(0, x - width // 2)
        scores[top : y + height // 2 + 1, left : x + width // 2 + 1] = -1


def _in_colour(match: ImageMatch, picture: numpy.ndarray, template: numpy.ndarray) -> ImageMatch:
    """The lower of the scores in grey and in colour: shapes of other colours are other pictures."""
    rect = match.rect
    part = picture[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width]
    score = float(cv2.matchTemplate(part, template, cv2.TM_CCOEFF_NORMED)[0, 0])
    return ImageMatch(rect, min(match.score, score))


def _without_overlaps(found: list[ImageMatch], limit: int) -> list[ImageMatch]:
    kept: list[ImageMatch] = []
    for match in sorted(found, key=lambda candidate: -candidate.score):
        if all(not _is_same_place(match.rect, other.rect) for other in kept):
            kept.append(match)
        if len(kept) == limit:
            break
    return kept


def _is_same_place(one: Rect, other: Rect) -> bool:
    return abs(one.x - other.x) <= one.width // 2 and abs(one.y - other.y) <= one.height // 2
