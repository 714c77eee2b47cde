"""Searches for text, by accessibility and OCR, and for pictures, also parts of a scaled screenshot. Decides
which of the two methods is used first, and the most scales that are tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.geometry import PictureSpace, Rect
from toolcrib.bundled.desktop.pictures import Pictures
from toolcrib.bundled.desktop.vision.reading import NoOcr, shared_reader
from toolcrib.bundled.desktop.vision.text import MatchMode
from toolcrib.bundled.desktop.vision.text_search import (
    TextMatch,
    arrange,
    find_in_elements,
    find_in_pictures,
    locate_within,
    merge,
)
from toolcrib.bundled.desktop.vision.views import (
    CapturedView,
    CaptureTarget,
    look,
    region_rect,
    shown_windows,
)
from toolcrib.bundled.desktop.window_lookup import window_at

if TYPE_CHECKING:
    import numpy

Method = Literal["auto", "accessibility", "ocr", "both"]

MAX_SCALES = 4


class TextSearch:
    """One search, with the windows and the area it is limited to."""

    def __init__(
        self,
        backend: Backend,
        pictures: Pictures,
        place: CaptureTarget,
        text: str,
        mode: MatchMode = "contains",
        languages: str = "eng",
    ) -> None:
        self._backend = backend
        self._pictures = pictures
        self._place = place
        self._languages = languages
        self._within: Sequence[Window] = ()
        self._area: Rect | None = None
        self.windows: Sequence[Window] = ()
        self.text = text
        self.mode = mode
        self.searched: list[str] = []
        self.notes: list[str] = []
        self.complete = True

    async def run(self, method: Method = "auto") -> list[TextMatch]:
        """The matches that a click reaches first."""
        await self._narrow()
        found = [] if method == "ocr" else await self._in_elements()
        if method == "accessibility":
            return arrange(found, self.windows, self.text)
        reachable = [match for match in arrange(found, self.windows, self.text) if not match.covered]
        if method == "auto" and (reachable or (found and self._place.window is not None)):
            return arrange(found, self.windows, self.text)
        return arrange(merge(found, await self._in_pictures()), self.windows, self.text)

    async def _narrow(self) -> None:
        place = self._place
        self.windows = await self._backend.windows.list()
        self._within = [window for window in self.windows if not window.minimised]
        owner = place.window
        if place.region is not None:
            self._area, owner = await region_rect(self._backend, self._pictures, place.region, owner)
        if owner is not None:
            self._within = [owner]
        elif place.application is not None:
            self._within = list(reversed(await shown_windows(self._backend, place.application)))

    async def _in_elements(self) -> list[TextMatch]:
        self.searched.append("accessibility")
        found, complete = await find_in_elements(
            self._backend, self.windows, self._within, self.text, self.mode, self._area
        )
        self.complete = self.complete and complete
        located: list[TextMatch] = []
        for match in found:
            located += await self._located(match)
        return located

    async def _located(self, match: TextMatch) -> list[TextMatch]:
        try:
            return await locate_within(
                self._backend, shared_reader(), match, self.text, self.mode, self._languages
            )
        except NoOcr:
            return [match]

    async def _in_pictures(self) -> list[TextMatch]:
        try:
            views = await look(self._backend, self._pictures, self._place)
            found, complete = await find_in_pictures(
                shared_reader(), views, self.text, self.mode, self._languages
            )
        except NoOcr as problem:
            if "accessibility" not in self.searched:
                raise
            self.notes.append(f"Only elements were searched. {problem.message} {problem.hint}")
            return []
        self.searched.append("ocr")
        self.complete = self.complete and complete
        return [_with_window(match, self.windows) for match in found]


def _with_window(match: TextMatch, windows: Sequence[Window]) -> TextMatch:
    """A match in a picture of the screen is in the topmost window there."""
    if match.window is not None:
        return match
    return replace(match, window=window_at(windows, match.rect.centre))


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
