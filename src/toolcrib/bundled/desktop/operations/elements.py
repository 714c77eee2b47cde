"""Tools for elements: find, get, click, fill, act. Decides how many tokens a reply may have, its pages, the
text after an action ("has this value already"), clicks (single, double, right), and errors for none or
several matches.

For a model, a search gives an outline in pages of limited length. On the wire of gRPC an element has another
shape and lists are complete, so searches of programs are in `grpc/methods/elements.py`.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, cast

from toolcrib.bundled.desktop.backend import Backend, Element, ElementTree
from toolcrib.bundled.desktop.chromium_programs import BARE, NO_ELEMENTS, lacks_switch
from toolcrib.bundled.desktop.coordinates import rect_to_screen
from toolcrib.bundled.desktop.elements import acting
from toolcrib.bundled.desktop.elements.observing import Report, read_before
from toolcrib.bundled.desktop.elements.outline import DEFAULT_BUDGET, fit, line, reduce, shorten, shown_states
from toolcrib.bundled.desktop.elements.pointing import ClickKind
from toolcrib.bundled.desktop.elements.search import POLL, ElementSearch, search, wait_for
from toolcrib.bundled.desktop.elements.selector import Selector, parse_selector
from toolcrib.bundled.desktop.elements.snapshots import Snapshots, TreeSnapshot, describe
from toolcrib.bundled.desktop.failures import (
    AmbiguousElement,
    ElementNotFound,
    InvalidFormat,
    InvalidPageToken,
    MissingField,
)
from toolcrib.bundled.desktop.geometry import Point, Rect, Space
from toolcrib.bundled.desktop.lists import checked_size, make_token, read_token
from toolcrib.bundled.desktop.modality import check_element, windows_of_elements
from toolcrib.bundled.desktop.operations.table import (
    ACTING,
    LOOKING,
    Desktop,
    Reply,
    operation,
    with_changes,
)
from toolcrib.bundled.desktop.records import read_enum
from toolcrib.bundled.desktop.resources import ALL, split_name
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.bundled.desktop.window_lookup import MAX_TITLE, applications_of, choose_application, window_at
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.threads import in_thread

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

LONGEST_WAIT = 60.0
MAX_APPLICATIONS = 20
"""Searched at once for `applications/-`."""
CLICKS = {"single": "single", "double": "double", "right": "right", "left": "single"}
FOCUS = "focus"
SelectorArgument = dict[str, Any] | str


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
    tree = report.after or ElementTree(application, ())
    # The last is the innermost; Qt also calls the chosen tab focused.
    focused = [candidate for candidate in reversed(tree.elements) if "focused" in candidate.states]
    if report.active.application != application or not focused:
        return f"Keys go to {title}."
    if any(outer.ref == element.ref for inner in focused for outer in (inner, *tree.around(inner))):
        return ""
    named = next((candidate for candidate in focused if candidate.role != "page tab"), focused[0])
    return f"Keys go to {describe(named)} in {title}."


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


class RegionArgument(TypedDict):
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class ElementActed:
    """What gRPC answers to an action, with its own shape of elements."""

    success: bool
    element: Any


@dataclass(frozen=True)
class ElementActions:
    actions: list[str]


@dataclass(frozen=True)
class ElementDetails(ElementData):
    application: int
    description: str
    attributes: dict[str, str]
    actions: list[str]


def make_listings(session: DesktopSession) -> Listings:
    return Listings()


@operation("Find elements", LOOKING)
async def find_elements(
    desktop: Desktop,
    parent: str | None = None,
    selector: SelectorArgument | None = None,
    wait: float = 0.0,
    visible_only: bool = False,
    page_size: int = 0,
    page_token: str = "",
    max_tokens: int = DEFAULT_BUDGET,
    force_refresh: bool = False,
) -> Reply[ElementList]:
    if page_token:
        listing, number, start = desktop.session.part(make_listings).continued(page_token)
        return show_page(listing, number, start, page_size, max_tokens)
    backend = await desktop.backend()
    wanted = parse_selector(selector) if selector is not None else None
    results = await _search(backend, parent, wanted, min(max(0.0, wait), LONGEST_WAIT))
    if visible_only:
        results = [_keep(result, lambda element: element.visible) for result in results]
    hint = await _why_few(results, waited=wait > 0)
    return _first_page(desktop, results, page_size, max_tokens, outline=wanted is None, hint=hint)


@operation("Find elements in a region", LOOKING)
async def find_region_elements(
    desktop: Desktop,
    region: RegionArgument,
    parent: str | None = None,
    selector: SelectorArgument | None = None,
    space: Space = "screen",
    reference: int | str | None = None,
    page_size: int = 0,
    page_token: str = "",
    max_tokens: int = DEFAULT_BUDGET,
    force_refresh: bool = False,
) -> Reply[ElementList]:
    if page_token:
        listing, number, start = desktop.session.part(make_listings).continued(page_token)
        return show_page(listing, number, start, page_size, max_tokens)
    backend = await desktop.backend()
    rect = Rect(region["x"], region["y"], region["width"], region["height"])
    area = await rect_to_screen(backend, desktop.session.pictures, rect, space, reference)
    if area.is_empty:
        raise InvalidFormat("The region is empty.", "Give a width and a height above 0.")
    wanted = parse_selector(selector) if selector is not None else None
    owner = parent if parent is not None else await _owner_at(backend, area.centre)
    results = [_within(result, area) for result in await _search(backend, owner, wanted, 0.0)]
    return _first_page(desktop, results, page_size, max_tokens, outline=False)


@operation("Get an element", LOOKING)
async def get_element(desktop: Desktop, name: str) -> Reply[ElementDetails]:
    snapshot, found, actions = await _with_actions(desktop, name)
    if not desktop.for_model:
        return Reply(desktop.element(snapshot, found, actions))
    element_id = split_name(name, "elements")[1]
    data = ElementDetails(
        **vars(element_data(found, element_id)),
        application=snapshot.tree.application,
        description=found.description,
        attributes=dict(found.attributes),
        actions=actions,
    )
    offered = f"Actions: {', '.join(actions)}." if actions else "It has no actions."
    return Reply(data, f"{line(found, element_id)}\n{offered}")


@operation("", LOOKING)
async def get_element_actions(desktop: Desktop, name: str) -> ElementActions:
    return ElementActions((await _with_actions(desktop, name.removesuffix("/actions")))[2])


@operation("Click an element", ACTING)
async def click_element(
    desktop: Desktop,
    element_id: str | None = None,
    selector: SelectorArgument | None = None,
    parent: str | None = None,
    click_type: str = "single",
) -> Reply[ActionResult]:
    kind = cast("ClickKind", read_enum("click_type", click_type, "CLICK_TYPE", CLICKS, "single"))

    async def click(backend: Backend, process: int, found: Element) -> acting.ActionOutcome:
        return await acting.click(backend, process, found, kind)

    return await _act(desktop, (element_id, selector, parent), click, "Clicked")


@operation("Fill in an element", ACTING)
async def write_element_value(
    desktop: Desktop,
    value: str,
    element_id: str | None = None,
    selector: SelectorArgument | None = None,
    parent: str | None = None,
) -> Reply[ActionResult]:
    async def write(backend: Backend, process: int, found: Element) -> acting.ActionOutcome:
        return await acting.write(backend, process, found, value)

    return await _act(desktop, (element_id, selector, parent), write, "Wrote to")


@operation("Perform an element's action", ACTING)
async def perform_element_action(
    desktop: Desktop,
    action: str,
    element_id: str | None = None,
    selector: SelectorArgument | None = None,
    parent: str | None = None,
) -> Reply[ActionResult]:
    async def perform(backend: Backend, process: int, found: Element) -> acting.ActionOutcome:
        return await _perform(desktop, backend, found, action)

    return await _act(desktop, (element_id, selector, parent), perform, f"Performed {action} on")


def _first_page(
    desktop: Desktop,
    results: Sequence[ElementSearch],
    page_size: int,
    budget: int,
    *,
    outline: bool,
    hint: str = "",
) -> Reply[ElementList]:
    listing = make_listing(desktop.session.snapshots, results, outline=outline, hint=hint)
    return show_page(listing, desktop.session.part(make_listings).add(listing), 0, page_size, budget)


async def _act(
    desktop: Desktop,
    target: tuple[str | None, SelectorArgument | None, str | None],
    operation: Callable[[Backend, int, Element], Awaitable[acting.ActionOutcome]],
    verb: str,
) -> Reply[Any]:
    backend = await desktop.backend()
    snapshot, found, before = await find_target(desktop, backend, *target)
    process = snapshot.tree.application
    await check_element(backend, process, found, before or (snapshot.tree if desktop.for_model else None))
    async with desktop.observing(process, before) as report:
        outcome = await operation(backend, process, found)
    if desktop.for_model:
        return acted(snapshot, found, outcome, report, verb)
    now = await backend.accessibility.read(found.ref) or found
    return Reply(ElementActed(outcome.verified is not False, desktop.element(snapshot, now)))


async def _with_actions(desktop: Desktop, name: str) -> tuple[TreeSnapshot, Element, list[str]]:
    desktop.check_name(name, "elements")
    backend = await desktop.backend()
    snapshots = desktop.session.snapshots
    snapshot, found = await snapshots.resolve(backend, split_name(name, "elements")[1])
    return snapshot, found, list(await backend.accessibility.actions(found.ref))


async def find_target(
    desktop: Desktop,
    backend: Backend,
    element_id: str | None,
    selector: SelectorArgument | None,
    parent: str | None,
) -> tuple[TreeSnapshot, Element, ElementTree | None]:
    """The one element that is meant, read just now; and the tree if that was read as well."""
    if element_id is not None:
        return await _named(desktop, backend, split_name(element_id, "elements")[1], parent)
    if selector is None:
        raise MissingField(
            "Neither element_id nor selector is given.", "Give the id that find_elements returned."
        )
    return await _selected(desktop, backend, parse_selector(selector), parent)


async def _named(
    desktop: Desktop, backend: Backend, element_id: str, parent: str | None
) -> tuple[TreeSnapshot, Element, ElementTree | None]:
    snapshots = desktop.session.snapshots
    if not desktop.for_model:
        snapshot, found = await snapshots.resolve(backend, element_id)
        if await desktop.process(parent) not in (None, snapshot.tree.application):
            raise ElementNotFound(f"There is no {parent}/elements/{element_id}.")
        return snapshot, found, None
    application = snapshots.find(element_id)[0].tree.application
    reading = asyncio.ensure_future(read_before(backend, application))
    try:
        snapshot, found = await snapshots.resolve(backend, element_id)
        return snapshot, found, await reading
    finally:
        reading.cancel()


async def _selected(
    desktop: Desktop, backend: Backend, selector: Selector, parent: str | None
) -> tuple[TreeSnapshot, Element, ElementTree | None]:
    snapshots = desktop.session.snapshots
    results = await _search(backend, desktop.scope(parent), selector, 0.0)
    found_in = [(snapshots.add(result.tree), result) for result in results if result.matches]
    candidates = [(snapshot, element) for snapshot, result in found_in for element in result.meant]
    candidates = [candidate for candidate in candidates if candidate[1].visible] or candidates
    if len(candidates) == 1:
        snapshot, element = candidates[0]
        return snapshot, element, None if selector.needs_places else snapshot.tree
    problem = f"{len(candidates) or 'No'} elements match the selector, so nothing was done."
    choices = "\n".join(
        f"{line(element, snapshot.id_of(element))}{_in_window(snapshot.tree, element)}"
        for snapshot, element in candidates[:10]
    )
    if choices:
        raise AmbiguousElement(problem, f"Give the id of one of these:\n{choices}")
    raise ElementNotFound(problem, "Call find_elements.")


async def _search(
    backend: Backend, parent: str | None, selector: Selector | None, patience: float
) -> list[ElementSearch]:
    """What is found in one application, or in all for `applications/-`."""
    if parent is None or parent.strip().removeprefix("applications/") != ALL:
        process = await choose_application(backend, parent)
        return [await wait_for(backend, process, selector, patience)]
    deadline = time.monotonic() + patience
    with backend.events.listen() as changes:
        while True:
            found = await _search_all(backend, parent, selector)
            visible = any(element.visible for result in found for element in result.matches)
            if visible or time.monotonic() > deadline:
                return found
            await changes.next(POLL)


async def _search_all(backend: Backend, parent: str, selector: Selector | None) -> list[ElementSearch]:
    processes = (await applications_of(backend, parent))[:MAX_APPLICATIONS]
    results = await asyncio.gather(
        *(search(backend, process, selector) for process in processes), return_exceptions=True
    )
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, ToolFailure):
            raise result
    found = [result for result in results if isinstance(result, ElementSearch)]
    if not found:
        raise ElementNotFound("No application offers elements.", "Open one, or use take_screenshot.")
    return found


async def _why_few(results: Sequence[ElementSearch], *, waited: bool) -> str:
    """Why an application offers hardly any elements, as far as that is known."""
    trees = [result.tree for result in results]
    if len(trees) != 1 or any(element.role not in BARE for element in trees[0].elements):
        return ""
    if await in_thread(lacks_switch, trees[0].application):
        return NO_ELEMENTS
    if trees[0].elements:
        return ""
    return "Use take_screenshot." if waited else "It may show them later: use `wait`, or take_screenshot."


async def _owner_at(backend: Backend, point: Point) -> str | None:
    """The application of the topmost window at a point."""
    window = window_at(await backend.windows.list(), point)
    return None if window is None or window.application is None else str(window.application)


def _keep(result: ElementSearch, wanted: Callable[[Element], bool]) -> ElementSearch:
    return dataclasses.replace(
        result, matches=tuple(element for element in result.matches if wanted(element))
    )


def _in_window(tree: ElementTree, element: Element) -> str:
    top = windows_of_elements(tree).get(element.ref)
    name = next((element.name for element in tree.elements if element.ref == top), "")
    return f" in {name[:MAX_TITLE]!r}" if name and top != element.ref else ""


def _within(result: ElementSearch, area: Rect) -> ElementSearch:
    """The visible matches whose middle is in an area, without those that only arrange others."""
    mattering = {node.element.ref for node in reduce(result.tree.elements)}
    return _keep(
        result,
        lambda element: (
            element.rect is not None and element.ref in mattering and area.contains(element.rect.centre)
        ),
    )


async def _perform(desktop: Desktop, backend: Backend, element: Element, action: str) -> acting.ActionOutcome:
    """Programs can also ask for `focus`, which every element has; a refusal is no error for them."""
    offered = list(await backend.accessibility.actions(element.ref))
    named = {_normal(name): name for name in offered}
    wanted = _normal(action)
    aliases = ("click", "press", "activate") if wanted in ("press", "click") else ()
    chosen = next((named[name] for name in (wanted, *aliases) if name in named), None)
    if chosen is None and not desktop.for_model and wanted == FOCUS:
        return acting.ActionOutcome("action", await backend.accessibility.focus(element.ref))
    if chosen is None:
        known = f"It offers: {', '.join(offered)}." if offered else "It offers none."
        raise InvalidFormat(f"{describe(element)} has no action {action!r}.", known)
    done = await backend.accessibility.act(element.ref, chosen)
    if not done and desktop.for_model:
        raise ToolFailure(f"{describe(element)} refused the action {chosen!r}.", "It may be disabled.")
    return acting.ActionOutcome("action", None if done else False)


def _normal(action: str) -> str:
    return action.strip().casefold().removeprefix("ax")
