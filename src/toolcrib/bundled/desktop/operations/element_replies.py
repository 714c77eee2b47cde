"""Elements as a model sees them: lists in pages of limited length, and what an action did."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from toolcrib.bundled.desktop.backend import Element, ElementRef
from toolcrib.bundled.desktop.elements import acting
from toolcrib.bundled.desktop.elements.observing import Report
from toolcrib.bundled.desktop.elements.outline import fit, line, reduce, shorten, shown_states
from toolcrib.bundled.desktop.elements.search import ElementSearch
from toolcrib.bundled.desktop.elements.snapshots import Snapshots, TreeSnapshot, describe
from toolcrib.bundled.desktop.failures import InvalidPageToken
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.operations.table import Reply, with_changes
from toolcrib.bundled.desktop.pages import checked_size, make_token, read_token

MAX_TEXT = 500
SHOWN_TITLE = 80
SMALLEST_BUDGET, LARGEST_BUDGET = 100, 20_000
"""Tokens of one reply."""
KEPT = 8
MAX_INDENT = 12
MAX_DIALOG = 60
BUTTONS = {"push button", "toggle button", "link"}
MAY_BE_IGNORED = "Programs can ignore a click on what has just appeared: click again if it is still there."
HIGHLIGHT = 4
"""Pixels around a button that look different while the pointer is over it."""


@dataclass(frozen=True)
class ElementData:
    id: str
    role: str
    name: str
    value: str | None
    states: list[str]
    bounds: Rect | None


@dataclass(frozen=True)
class ElementList:
    application: int | None
    space: str
    elements: list[ElementData]
    more: int
    next_page_token: str
    complete: bool


@dataclass(frozen=True)
class ActionResult:
    element: ElementData
    method: str
    verified: bool | None
    changes: list[str]


@dataclass(frozen=True)
class ElementListing:
    """What one search found, so that its pages are of the same moment."""

    application: int | None
    """None for a search in several."""
    entries: Sequence[tuple[Element, str, int]]
    """Elements with their ids and depths."""
    searched: int
    """How many elements were looked at."""
    complete: bool
    hint: str = ""
    """Why there are so few, or what limits them."""
    blocked: Mapping[str, str] = field(default_factory=dict)
    """By ids: the title of the dialog in front; in an outline only for the outermost elements."""


class Listings:
    """The last searches."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, ElementListing] = OrderedDict()
        self._count = 0

    def add(self, listing: ElementListing) -> int:
        self._count += 1
        self._kept[self._count] = listing
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return self._count

    def continued(self, page_token: str) -> tuple[ElementListing, int, int]:
        """The list of a token, its number and where to go on."""
        start, number = read_token(page_token, "elements")
        if number not in self._kept:
            raise InvalidPageToken("The list of this page_token is too old.", "Search again without it.")
        return self._kept[number], number, start


def make_listing(
    snapshots: Snapshots, results: Sequence[ElementSearch], *, outline: bool, hint: str = ""
) -> ElementListing:
    """The matches in their order, or what is visible as an indented outline."""
    entries: list[tuple[Element, str, int]] = []
    blocked: dict[str, str] = {}
    for result in results:
        found = _outlined(result) if outline else [(element, 0) for element in result.matches]
        if found:  # a snapshot without ids would only push out an older one
            snapshot = snapshots.add(result.tree)
            entries += [(element, snapshot.id_of(element), depth) for element, depth in found]
            blocked |= {
                snapshot.id_of(element): result.blocked[element.ref]
                for element, _ in found
                if element.ref in result.blocked and not (outline and element.parent in result.blocked)
            }
    only = results[0].tree.application if len(results) == 1 else None
    searched = sum(len(result.tree.elements) for result in results)
    complete = all(result.tree.complete for result in results)
    return ElementListing(only, entries, searched, complete, hint, blocked)


def _outlined(result: ElementSearch) -> list[tuple[Element, int]]:
    texts = {element.ref: element for element in result.matches}
    return [(texts.get(node.element.ref, node.element), node.depth) for node in reduce(result.tree.elements)]


def show_page(
    listing: ElementListing, number: int, start: int, page_size: int, budget: int
) -> Reply[ElementList]:
    """One page, at most as long as the budget allows."""
    rest = listing.entries[start:]
    wanted = rest[: checked_size(page_size, len(rest) or 1)]
    candidates = (
        " " * min(depth, MAX_INDENT) + line(element, name) + _blocked(listing, name)
        for element, name, depth in wanted
    )
    lines = fit(candidates, min(max(budget, SMALLEST_BUDGET), LARGEST_BUDGET))
    more = len(rest) - len(lines)
    token = make_token(start + len(lines), number, "elements") if more else ""
    data = ElementList(
        application=listing.application,
        space="screen",
        elements=[element_data(element, name) for element, name, _ in wanted[: len(lines)]],
        more=more,
        next_page_token=token,
        complete=listing.complete,
    )
    return Reply(data, "\n".join([*lines, *_notes(listing, more, token)]))


def _blocked(listing: ElementListing, element_id: str) -> str:
    dialog = listing.blocked.get(element_id)
    return "" if dialog is None else f" (blocked by the dialog {dialog[:MAX_DIALOG]!r})"


def _notes(listing: ElementListing, more: int, token: str) -> list[str]:
    notes = []
    if not listing.searched:
        notes.append("The application offers no elements.")
    elif not listing.entries:
        notes.append(f"None of {listing.searched} elements matches.")
    if more:
        notes.append(f"… {more} more; narrow the selector, or continue with page_token {token}.")
    if listing.hint:
        notes.append(listing.hint)
    if not listing.complete:
        notes.append("Incomplete: the application did not answer in time.")
    return notes


def element_data(element: Element, element_id: str) -> ElementData:
    return ElementData(
        id=element_id,
        role=element.role,
        name=element.name,
        value=None if element.text is None else shorten(element.text, MAX_TEXT),
        states=shown_states(element),
        bounds=element.rect,
    )


def acted(
    snapshot: TreeSnapshot, element: Element, outcome: acting.ActionOutcome, report: Report, verb: str
) -> Reply[ActionResult]:
    """The reply to an action on an element."""
    element_id = snapshot.id_of(element)
    shown = element_data(outcome.element or element, element_id)
    data = ActionResult(shown, outcome.method, outcome.verified, report.changes)
    said = _said(line(outcome.element or element, element_id), outcome, verb)
    if outcome.method != "pointer":
        said = " ".join(
            part for part in (said, _where_keys_go(element, snapshot.tree.application, report)) if part
        )
    ignored = outcome.method == "pointer" and element.role in BUTTONS and _is_highlight(element, report)
    nothing = f"{report.nothing} {MAY_BE_IGNORED}" if ignored else report.nothing
    return Reply(data, with_changes(said, report.changes, nothing))


def _where_keys_go(element: Element, application: int, report: Report) -> str:
    """Nothing if it is the element or something in it."""
    if report.active is None:
        return "No window has the focus now."
    title = f"the window {report.active.title[:SHOWN_TITLE]!r}"
    elements = report.after.elements if report.after is not None else ()
    # The last is the innermost; Qt also calls the chosen tab focused.
    focused = [candidate for candidate in reversed(elements) if "focused" in candidate.states]
    if report.active.application != application or not focused:
        return f"Keys go to {title}."
    parents = {candidate.ref: candidate.parent for candidate in elements}
    if any(_is_inside(candidate.ref, element.ref, parents) for candidate in focused):
        return ""
    named = next((candidate for candidate in focused if candidate.role != "page tab"), focused[0])
    return f"Keys go to {describe(named)} in {title}."


def _is_inside(
    ref: ElementRef | None, container: ElementRef, parents: Mapping[ElementRef, ElementRef | None]
) -> bool:
    while ref is not None and ref != container:
        ref = parents.get(ref)
    return ref is not None


def _is_highlight(element: Element, report: Report) -> bool:
    """Whether nothing else than the element looks different."""
    if report.pixels is None or element.rect is None:
        return report.pixels is None
    return report.pixels.intersection(element.rect.grown(HIGHLIGHT)) == report.pixels


def _said(element: str, outcome: acting.ActionOutcome, verb: str) -> str:
    if outcome.method == "none":
        return f"{element} has this value already, so nothing was done."
    said = f"{verb} {element} by {outcome.method}."
    if outcome.unconfirmed is not None:
        point = outcome.unconfirmed
        said = f"{said[:-1]} at {point.x},{point.y}; the program does not say what is there."
    if outcome.verified is not False:
        return said
    if outcome.value is None:
        return f"{said} But its state is the same: look at it again before another click."
    return f"{said} But it contains {outcome.value[:200]!r} now."
