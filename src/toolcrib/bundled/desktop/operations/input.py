"""Tools for keys, text and any other input action, and a record of the last ones. Decides which window gets
the keys, how often a key may repeat, the check that text arrived, and that typed text is not kept."""

from __future__ import annotations

import copy
import re
import secrets
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from toolcrib.bundled.desktop.backend import Backend, ElementTree, Window
from toolcrib.bundled.desktop.click_targets import Aim, aim
from toolcrib.bundled.desktop.elements.pointing import locate
from toolcrib.bundled.desktop.failures import InvalidFormat, OutOfRange, TargetChanged, WindowNotFound
from toolcrib.bundled.desktop.geometry import Space
from toolcrib.bundled.desktop.input_actions import (
    MAX_CHARACTERS,
    InputAction,
    InputTarget,
    Position,
    kind_of,
    perform,
    point_of,
)
from toolcrib.bundled.desktop.keys import chord_of
from toolcrib.bundled.desktop.lists import filtered
from toolcrib.bundled.desktop.operations.table import (
    ACTING,
    LOOKING,
    Desktop,
    Reply,
    more_line,
    operation,
    with_changes,
)
from toolcrib.bundled.desktop.records import read_enum
from toolcrib.bundled.desktop.resources import ResourceMissing, application_name, split_name, timestamp
from toolcrib.bundled.desktop.session import DesktopSession, approved_window
from toolcrib.bundled.desktop.window_lookup import choose_window, window_at

MAX_TIMES = 100
VERIFY_ATTEMPTS = 8
KEPT, LISTED = 500, 200
"""Records, and those that a model can list."""
STATES = {state: state for state in ("pending", "executing", "completed", "failed")}
_ID = re.compile(r"[a-zA-Z0-9][\w-]{0,62}")


class InputMissing(ResourceMissing):
    reason = "INPUT_NOT_FOUND"


class InputExists(InvalidFormat):
    reason = "INPUT_EXISTS"


class InputArgument(TypedDict):
    action: InputAction


@dataclass(frozen=True)
class TypingResult:
    window: int
    characters: int
    verified: bool | None
    changes: list[str]


@dataclass(frozen=True)
class KeyResult:
    window: int
    keys: str
    times: int
    changes: list[str]


@dataclass
class InputRecord:
    """An input action that was performed, or is being performed."""

    name: str
    action: dict[str, Any]
    state: str
    create_time: str
    complete_time: str | None = None
    error: str = ""


@dataclass(kw_only=True)
class InputResult(InputRecord):
    changes: list[str]


@dataclass(frozen=True)
class InputList:
    inputs: list[InputRecord]
    more: int
    next_page_token: str


def make_records(session: DesktopSession) -> deque[InputRecord]:
    return deque(maxlen=KEPT)


@operation("Type text", ACTING)
async def type_text(desktop: Desktop, text: str, window: int | str | None = None) -> Reply[TypingResult]:
    if len(text) > MAX_CHARACTERS:
        raise OutOfRange(f"At most {MAX_CHARACTERS} characters can be typed at once.", "Use the clipboard.")
    backend = await desktop.backend()
    target = await focus_target(backend, window)
    async with desktop.observing(target.application) as report:
        await backend.input.type_text(text, target.id)
    verified = await _arrived(backend, report.after, text)
    said = f"Typed {len(text)} characters into {target.title!r}."
    if verified is False:
        said += " But the focused field does not contain all of it: read it before you go on."
    data = TypingResult(target.id, len(text), verified, report.changes)
    return Reply(data, with_changes(said, report.changes, report.nothing))


@operation("Press keys", ACTING)
async def press_key(
    desktop: Desktop,
    key: str,
    modifiers: list[str] | None = None,
    window: int | str | None = None,
    times: int = 1,
) -> Reply[KeyResult]:
    chord = chord_of(key, modifiers)
    backend = await desktop.backend()
    target = await focus_target(backend, window)
    count = min(max(1, times), MAX_TIMES)
    async with desktop.observing(target.application) as report:
        await backend.input.press(chord, target.id, times=count)
    text = with_changes(f"Pressed {chord} in {target.title!r}.", report.changes, report.nothing)
    return Reply(KeyResult(target.id, chord, count, report.changes), text)


@operation("Perform an input action", ACTING)
async def create_input(
    desktop: Desktop,
    input: InputArgument,  # noqa: A002
    parent: str | None = None,
    input_id: str | None = None,
    space: Space = "screen",
    reference: int | str | None = None,
) -> Reply[InputResult]:
    """Pointer input for an application is refused if another one's window would receive it."""
    action = input.get("action", {})
    kind = kind_of(action)
    backend = await desktop.backend()
    process = await desktop.process(parent)
    record = _enter(desktop, process, action, input_id)
    try:
        async with desktop.observing(process or await _active(backend)) as report:
            record.state = "executing"
            await perform(_target(desktop, backend, process, space, reference), action)
    except BaseException as error:
        record.state, record.error = "failed", getattr(error, "message", type(error).__name__)
        raise
    else:
        record.state = "completed"
    finally:
        record.complete_time = timestamp(time.time())
    text = with_changes(f"{record.name}: {kind} done.", report.changes, report.nothing)
    return Reply(InputResult(**vars(record), changes=report.changes), text)


@operation("List input actions", LOOKING)
async def list_inputs(
    desktop: Desktop,
    parent: str | None = None,
    page_size: int = 0,
    page_token: str = "",
    filter: str = "",  # noqa: A002
) -> Reply[InputList]:
    """The newest first for a model, which filters by a state alone."""
    process = await desktop.process(parent)
    prefix = "" if process is None else f"{application_name(process)}/"
    chosen = [record for record in desktop.session.part(make_records) if record.name.startswith(prefix)]
    if desktop.for_model:
        state = read_enum("filter", filter, "STATE", STATES, "")
        chosen = [record for record in reversed(chosen[-LISTED:]) if state in ("", record.state)]
    else:
        chosen = filtered(chosen, filter, {"state": lambda record: f"STATE_{record.state.upper()}"})
    page = desktop.page(chosen, page_size, page_token, "inputs", process, filter)
    lines = [
        f"{record.name} {kind_of(record.action)} {record.state} {record.create_time}" for record in page.items
    ]
    data = InputList(list(page.items), page.more, page.next_page_token)
    return Reply(data, "\n".join([*lines, *more_line(page)] or ["No inputs."]))


@operation("", LOOKING)
async def get_input(desktop: Desktop, name: str) -> InputRecord:
    desktop.check_name(name, "inputs")
    for record in desktop.session.part(make_records):
        if record.name == name:
            return record
    raise InputMissing(f"There is no {name}.")


def _enter(desktop: Desktop, process: int | None, action: InputAction, input_id: str | None) -> InputRecord:
    records = desktop.session.part(make_records)
    chosen = input_id or secrets.token_hex(6)
    name = f"{application_name(process)}/inputs/{chosen}"
    taken = any(record.name == name for record in records)
    if taken or _ID.fullmatch(chosen) is None:
        refused = InputExists if taken and not desktop.for_model else InvalidFormat
        raise refused(
            f"input_id {chosen!r} is taken or not valid.", "Use lower-case letters, digits and hyphens."
        )
    record = InputRecord(name, _without_text(action), "pending", timestamp(time.time()))
    records.append(record)
    return record


def _target(
    desktop: Desktop, backend: Backend, process: int | None, space: Space, reference: int | str | None
) -> InputTarget:
    async def place(position: Position) -> Aim:
        if "element" in position:
            return await _at_element(desktop, backend, process, position["element"])
        pictures = desktop.session.pictures
        return await aim(backend, pictures, *point_of(position), space, reference, process)

    async def window() -> Window:
        if process is None:
            return await focus_target(backend, reference if space == "window" else None)
        own = [candidate for candidate in await backend.windows.list() if candidate.application == process]
        if not own:
            raise WindowNotFound(f"The application {process} has no window.")
        active = next((candidate for candidate in own if candidate.active), own[-1])
        return await focus_target(backend, active.id)

    return InputTarget(backend, place, window)


async def _at_element(desktop: Desktop, backend: Backend, process: int | None, name: str) -> Aim:
    """Its middle as it is now; its window is brought to the front and must not move any more."""
    snapshots = desktop.session.snapshots
    snapshot, element = await snapshots.resolve(backend, split_name(name, "elements")[1])
    owner = snapshot.tree.application
    if process not in (None, owner):
        raise InvalidFormat(f"The element {name!r} is not in the application {process}.")
    found = await locate(backend, owner, element)
    return Aim(found.point, window_at(await backend.windows.list(), found.point), found.window, owner)


async def focus_target(backend: Backend, window: int | str | None) -> Window:
    """The window that gets the keys, active; the active one if none is named and the user approved it."""
    listed = await backend.windows.list()
    if window is not None:
        found = choose_window(listed, window)
        return found if found.active else await backend.windows.focus(found.id)
    active = next((candidate for candidate in listed if candidate.active), None)
    if active is None:
        raise WindowNotFound("No window is active.", "Name the window that the keys are for.")
    if approved_window.get() not in (None, active.id):
        raise TargetChanged(
            "Another window became active after the user was asked, so nothing was done.",
            "Look at the windows again, and call the tool with the window that you mean.",
        )
    return active


async def _arrived(backend: Backend, tree: ElementTree | None, text: str) -> bool | None:
    """Whether the focused field contains what was typed; None if its contents cannot be read."""
    focused = (
        next((element for element in tree.elements if {"focused", "editable"} <= element.states), None)
        if tree
        else None
    )
    if focused is None:
        return None
    with backend.events.listen() as changes:
        for _ in range(VERIFY_ATTEMPTS):
            now = await backend.accessibility.read(focused.ref)
            if now is None or now.text is None:
                return None
            if text.replace("\r\n", "\n").strip() in now.text:
                return True
            await changes.next(0.1)
    return False


async def _active(backend: Backend) -> int:
    active = (candidate.application for candidate in await backend.windows.list() if candidate.active)
    return next(active, None) or 0


def _without_text(action: InputAction) -> dict[str, Any]:
    """What was typed may be confidential and is not kept."""
    kept: dict[str, Any] = copy.deepcopy(dict(action))
    typed = kept.get("type_text")
    if isinstance(typed, Mapping):
        kept["type_text"] = {**typed, "text": f"({len(typed['text'])} characters)"}
    return kept
