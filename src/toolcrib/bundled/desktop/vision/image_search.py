"""Finds a picture on the screen, also one that was cut out of a scaled screenshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolcrib.bundled.desktop.backend import Window
from toolcrib.bundled.desktop.geometry import PictureSpace, Rect
from toolcrib.bundled.desktop.vision.views import CapturedView

if TYPE_CHECKING:
    import numpy

MAX_SCALES = 4


@dataclass(frozen=True)
class FoundImage:
    rect: Rect
    """On the screen."""
    score: float
    scale: float
    """Of the screenshot that the picture seems to come from."""
    window: Window | None


def find_image(
    views: Sequence[CapturedView],
    template: numpy.ndarray,
    threshold: float,
    limit: int,
    scales: Sequence[float],
) -> list[FoundImage]:
    """The best matches at the first scale that has any. Blocks."""
    for scale in scales[:MAX_SCALES]:
        found = [match for view in views for match in _find(view, template, threshold, limit, scale)]
        if found:
            return sorted(found, key=lambda match: -match.score)[:limit]
    return []


def _find(
    view: CapturedView, template: numpy.ndarray, threshold: float, limit: int, scale: float
) -> list[FoundImage]:
    from toolcrib.bundled.desktop.pictures import scaled
    from toolcrib.bundled.desktop.vision.templates import find_template

    pixels = scaled(view.screenshot.pixels, scale)
    space = PictureSpace(view.screenshot.origin, scale)
    found = []
    for match in find_template(pixels, template, threshold, limit):
        start = space.to_screen(match.rect.x, match.rect.y)
        end = space.to_screen(match.rect.x + match.rect.width, match.rect.y + match.rect.height)
        rect = Rect(start.x, start.y, end.x - start.x, end.y - start.y)
        found.append(FoundImage(rect, match.score, scale, view.window))
    return found
