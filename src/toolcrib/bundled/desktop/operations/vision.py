"""Tools that find text and images on the screen. Decides the most results, the longest text to find, limits
of the threshold, and how matches look to a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolcrib.bundled.desktop.backend import ElementTree, Window
from toolcrib.bundled.desktop.elements.snapshots import Snapshots, TreeSnapshot
from toolcrib.bundled.desktop.failures import OutOfRange
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.operations.table import LOOKING, Desktop, Reply, operation
from toolcrib.bundled.desktop.vision.decoding import decode_picture
from toolcrib.bundled.desktop.vision.finding import FoundImage, Method, TextSearch
from toolcrib.bundled.desktop.vision.finding import find_image as search_image
from toolcrib.bundled.desktop.vision.text import MatchMode, normalise
from toolcrib.bundled.desktop.vision.text_search import TextMatch
from toolcrib.bundled.desktop.vision.views import Region, find_place, look
from toolcrib.bundled.desktop.window_lookup import window_at
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.threads import in_thread

if TYPE_CHECKING:
    import numpy

MAX_TEXT = 1000
MAX_RESULTS = 100
SHOWN_TEXT = 120


@dataclass(frozen=True)
class TextMatchData:
    text: str
    x: int
    y: int
    bounds: Rect
    source: str
    confidence: float
    element: str | None
    window: int | None
    covered: bool


@dataclass(frozen=True)
class MatchCount:
    found: bool
    count: int
    space: str


@dataclass(frozen=True)
class TextMatches(MatchCount):
    matches: list[TextMatchData]
    searched: list[str]
    complete: bool


@dataclass(frozen=True)
class ImageMatchData:
    x: int
    y: int
    bounds: Rect
    confidence: float
    scale: float
    window: int | None
    covered: bool


@dataclass(frozen=True)
class ImageMatches(MatchCount):
    matches: list[ImageMatchData]


@operation("Find text", LOOKING)
async def find_text(
    desktop: Desktop,
    text: str,
    app_name: str | None = None,
    match_mode: MatchMode = "contains",
    window: int | str | None = None,
    region: Region | None = None,
    method: Method = "auto",
    max_results: int = 20,
    language: str = "eng",
) -> Reply[TextMatches]:
    if not normalise(text) or len(text) > MAX_TEXT:
        raise OutOfRange(f"The text to find has 1 to {MAX_TEXT} characters.", "Give a part of a line.")
    backend = await desktop.backend()
    place = await find_place(backend, app_name, window, region)
    search = TextSearch(backend, desktop.session.pictures, place, text, match_mode, language)
    matches = await search.run(method)
    limit = min(max(1, max_results), MAX_RESULTS)
    return _text_answer(desktop.session.snapshots, search, matches, limit)


@operation("Find an image", LOOKING)
async def find_image(
    desktop: Desktop,
    template_image_base64: str,
    threshold: float = 0.88,
    max_results: int = 3,
    app_name: str | None = None,
    window: int | str | None = None,
    region: Region | None = None,
    screenshot: str | None = None,
) -> Reply[ImageMatches]:
    if not 0.1 <= threshold <= 1:
        raise OutOfRange(f"The threshold {threshold} is not between 0.1 and 1.", "0.88 is usual.")
    backend = await desktop.backend()
    template = await in_thread(_decoded, template_image_base64)
    place = await find_place(backend, app_name, window, region)
    views = await look(backend, desktop.session.pictures, place)
    pictures = desktop.session.pictures
    scales = [pictures.space(screenshot).scale] if screenshot else [1.0, *pictures.scales()]
    limit = min(max(1, max_results), MAX_RESULTS)
    found = await in_thread(search_image, views, template, threshold, limit, list(dict.fromkeys(scales)))
    if not found and all(_is_larger(template, view.rect) for view in views):
        size = f"{template.shape[1]}x{template.shape[0]}"
        raise ToolFailure(f"The picture to find has {size} pixels, more than the place.", "Cut out a part.")
    return _image_answer(found, await backend.windows.list())


def _decoded(encoded: str) -> numpy.ndarray:
    from toolcrib.bundled.desktop.vision.templates import check_template

    template = decode_picture(encoded)
    check_template(template)
    return template


def _is_larger(template: numpy.ndarray, place: Rect) -> bool:
    height, width = template.shape[:2]
    return bool(height > place.height or width > place.width)


def _text_answer(
    snapshots: Snapshots, search: TextSearch, matches: Sequence[TextMatch], limit: int
) -> Reply[TextMatches]:
    kept: dict[int, TreeSnapshot] = {}
    shown = [_text_data(match, snapshots, kept) for match in matches[:limit]]
    data = TextMatches(bool(matches), len(matches), "screen", shown, search.searched, search.complete)
    lines = [_text_line(match) for match in shown]
    if not shown:
        lines.append(f"{search.text!r} was not found by {' and '.join(search.searched)}.")
    if len(matches) > limit:
        lines.append(f"… {len(matches) - limit} more; narrow the search, or raise max_results.")
    if not search.complete:
        lines.append("Incomplete: not everything answered in time.")
    return Reply(data, "\n".join([*lines, *search.notes]))


def _text_data(match: TextMatch, snapshots: Snapshots, kept: dict[int, TreeSnapshot]) -> TextMatchData:
    middle = match.rect.centre
    return TextMatchData(
        text=match.text[:SHOWN_TEXT],
        x=middle.x,
        y=middle.y,
        bounds=match.rect,
        source=match.source,
        confidence=round(match.confidence, 2),
        element=_element_id(match, match.tree, snapshots, kept),
        window=match.window.id if match.window is not None else None,
        covered=match.covered,
    )


def _element_id(
    match: TextMatch, tree: ElementTree | None, snapshots: Snapshots, kept: dict[int, TreeSnapshot]
) -> str | None:
    if match.element is None or tree is None:
        return None
    if tree.application not in kept:
        kept[tree.application] = snapshots.add(tree)
    return kept[tree.application].id_of(match.element)


def _text_line(match: TextMatchData) -> str:
    parts = [repr(match.text), f"at {match.x},{match.y}", f"({match.source}, {match.confidence:g})"]
    if match.element:
        parts.append(f"element {match.element}")
    if match.covered:
        parts.append(f"covered: focus window {match.window} before you click")
    return " ".join(parts)


def _image_answer(found: Sequence[FoundImage], windows: Sequence[Window]) -> Reply[ImageMatches]:
    shown = [_image_data(match, windows) for match in found]
    lines = [
        f"At {match.x},{match.y} ({match.confidence:g})"
        + (f" covered: focus window {match.window} before you click" if match.covered else "")
        for match in shown
    ]
    data = ImageMatches(bool(shown), len(shown), "screen", shown)
    return Reply(data, "\n".join(lines) or "The picture was not found.")


def _image_data(match: FoundImage, windows: Sequence[Window]) -> ImageMatchData:
    middle = match.rect.centre
    top = window_at(windows, middle)
    window = match.window or top
    return ImageMatchData(
        x=middle.x,
        y=middle.y,
        bounds=match.rect,
        confidence=round(match.score, 3),
        scale=round(match.scale, 6),
        window=window.id if window is not None else None,
        covered=window is not None and top is not None and top.id != window.id,
    )
