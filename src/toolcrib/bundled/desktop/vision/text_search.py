"""Finds text on the screen: in the accessibility tree first, which knows exact places, else by OCR. Decides
the order of matches, their confidence, and the most applications searched."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from toolcrib.bundled.desktop.backend import Backend, Element, ElementTree, Window
from toolcrib.bundled.desktop.elements.search import ElementSearch, search
from toolcrib.bundled.desktop.elements.selector import Selector
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.vision.reading import TextReader
from toolcrib.bundled.desktop.vision.text import MatchMode, contains, find_phrases, find_ranges, normalise
from toolcrib.bundled.desktop.vision.views import CapturedView, crop, look_at_window
from toolcrib.bundled.desktop.window_lookup import window_at

Source = Literal["accessibility", "ocr"]
TITLE_ROLES = frozenset(
    {"application", "frame", "window", "dialog", "alert", "file chooser", "document web", "document frame"}
)
"""Their names are titles, which are not where the element is."""
LARGEST_LINE = 60
"""Pixels: text of a higher element may be anywhere in it."""
VAGUE = 0.5
"""The confidence of a match whose place within its element is not known."""
MAX_APPLICATIONS = 12
MAX_RANGES = 100


@dataclass(frozen=True)
class TextMatch:
    text: str
    rect: Rect
    source: Source
    confidence: float
    window: Window | None = None
    element: Element | None = None
    tree: ElementTree | None = None
    covered: bool = False


async def find_in_elements(
    backend: Backend,
    windows: Sequence[Window],
    within: Sequence[Window],
    wanted: str,
    mode: MatchMode,
    area: Rect | None,
) -> tuple[list[TextMatch], bool]:
    """Matches inside some of the windows; and whether all their applications answered in time."""
    processes = list(dict.fromkeys(window.application for window in reversed(within) if window.application))
    results = await asyncio.gather(
        *(_search(backend, process, wanted, mode) for process in processes[:MAX_APPLICATIONS])
    )
    found: list[TextMatch] = []
    for result in results:
        owners = Owners(result.tree, windows, within)
        for element in _innermost(result):
            match = _element_match(element, result.tree, owners, area, wanted)
            if match is not None:
                found.append(match)
    return found, all(result.tree.complete for result in results)


class Owners:
    """Which window of an application an element is in."""

    def __init__(self, tree: ElementTree, windows: Sequence[Window], within: Sequence[Window]) -> None:
        self._tree = tree
        self._own = [window for window in windows if window.application == tree.application]
        self._within = {window.id for window in within}

    def of(self, element: Element, rect: Rect) -> tuple[bool, Window | None]:
        """Whether it is in one of the accepted windows, and in which; None for an open menu."""
        title = self._title(element)
        titled = [candidate for candidate in self._own if candidate.title == title] or self._own
        window = window_at(titled, rect.centre)
        if window is not None:
            return window.id in self._within, window
        return not all(candidate.minimised for candidate in titled), None

    def _title(self, element: Element) -> str:
        """The name of the frame or dialog around it."""
        around = [outer for outer in self._tree.around(element) if outer.role != "application"]
        return (around[-1] if around else element).name


async def find_in_pictures(
    reader: TextReader, views: Sequence[CapturedView], wanted: str, mode: MatchMode, languages: str
) -> tuple[list[TextMatch], bool]:
    """Matches in these pictures; and whether all of them were read completely."""
    found: list[TextMatch] = []
    complete = True
    for view in views:
        reading = await reader.read(view.screenshot.pixels, languages)
        complete = complete and reading.complete
        for phrase in find_phrases(reading.lines, wanted, mode):
            rect = phrase.rect.moved(view.screenshot.origin.x, view.screenshot.origin.y)
            found.append(TextMatch(phrase.text, rect, "ocr", phrase.confidence, view.window))
    return found, complete


async def locate_within(
    backend: Backend, reader: TextReader, match: TextMatch, wanted: str, mode: MatchMode, languages: str
) -> list[TextMatch]:
    """Where in a high element, such as an editor, the text is; the match itself if that is not known."""
    if match.confidence != VAGUE or match.window is None:
        return [match]
    if placed := await _placed_in_text(backend, match, wanted):
        return placed
    view = crop(await look_at_window(backend, match.window), match.rect)
    inner: MatchMode = "contains" if mode == "contains" else "exact"
    found, _ = await find_in_pictures(reader, [view], wanted, inner, languages)
    return [replace(place, element=match.element, tree=match.tree) for place in found] or [match]


async def _placed_in_text(backend: Backend, match: TextMatch, wanted: str) -> list[TextMatch]:
    """Where the program says that the text is, as far as that is in sight."""
    element = match.element
    if element is None or not element.text:
        return []
    ranges = list(find_ranges(element.text, wanted))[:MAX_RANGES]
    rects = await asyncio.gather(*(backend.accessibility.text_rect(element, *span) for span in ranges))
    return [
        replace(match, text=element.text[start:end], rect=rect, confidence=1.0)
        for (start, end), rect in zip(ranges, rects, strict=True)
        if rect is not None and match.rect.contains(rect.centre)
    ]


def merge(matches: Sequence[TextMatch], others: Sequence[TextMatch]) -> list[TextMatch]:
    """All of the first, and those of the others that are elsewhere."""
    added = [other for other in others if all(_apart(other.rect, known.rect) for known in matches)]
    return [*matches, *added]


def arrange(matches: Sequence[TextMatch], windows: Sequence[Window], wanted: str) -> list[TextMatch]:
    """Those that a click reaches first, then exact ones, from top to bottom."""
    plain = normalise(wanted)
    marked = [replace(match, covered=_is_covered(match, windows)) for match in matches]
    return sorted(
        marked,
        key=lambda match: (
            match.covered,
            match.confidence == VAGUE,
            normalise(match.text) != plain,
            match.rect.y,
            match.rect.x,
        ),
    )


async def _search(backend: Backend, process: int, wanted: str, mode: MatchMode) -> ElementSearch:
    plain = normalise(wanted)

    def test(element: Element) -> bool:
        texts = (element.name, element.text) if element.role not in TITLE_ROLES else ()
        return any(contains(text, plain, mode) for text in texts if text)

    return await search(backend, process, Selector(test, needs_places=False))


def _innermost(result: ElementSearch) -> list[Element]:
    """Without those that contain another match."""
    parents = {element.ref: element.parent for element in result.tree.elements}
    around = set()
    for element in result.matches:
        parent = element.parent
        while parent is not None and parent not in around:
            around.add(parent)
            parent = parents.get(parent)
    return [element for element in result.matches if element.ref not in around]


def _element_match(
    element: Element, tree: ElementTree, owners: Owners, area: Rect | None, wanted: str
) -> TextMatch | None:
    if not element.visible or element.rect is None or element.rect.is_empty:
        return None
    accepted, window = owners.of(element, element.rect)
    if not accepted:
        return None
    shown = element.rect if window is None else element.rect.intersection(window.rect)
    if area is not None:
        shown = shown.intersection(area)
    if shown.is_empty:
        return None
    plain = normalise(wanted)
    text = next(
        candidate
        for candidate in (element.name, element.text, "")
        if candidate is not None and plain in normalise(candidate)
    )
    vague = shown.height > LARGEST_LINE and normalise(text) != plain
    return TextMatch(text, shown, "accessibility", VAGUE if vague else 1.0, window, element, tree)


def _is_covered(match: TextMatch, windows: Sequence[Window]) -> bool:
    if match.window is None:
        return False
    top = window_at(windows, match.rect.centre)
    return top is not None and top.id != match.window.id


def _apart(one: Rect, other: Rect) -> bool:
    return one.intersection(other).is_empty
