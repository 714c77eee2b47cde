"""Performs input actions in the form of the gRPC interface: click, type, press, move, drag, scroll, hover,
hold. Decides the longest text, the longest duration of an action, and what is refused (gestures)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.click_targets import (
    Aim,
    check_count,
    click_at,
    drag_to,
    middle_of_active,
    read_button,
    scroll_at,
)
from toolcrib.bundled.desktop.failures import InvalidFormat, MissingField, NotSupported, OutOfRange
from toolcrib.bundled.desktop.geometry import Point
from toolcrib.bundled.desktop.keys import chord_of, read_modifiers

LONGEST = 30.0
"""Seconds that an action may be stretched to."""
STEP = 0.02
MAX_CHARACTERS = 20_000


class Position(TypedDict, total=False):
    """A point, or the middle of an element."""

    x: float
    y: float
    element: str


class _Positioned(TypedDict):
    position: Position


class MouseClick(_Positioned, total=False):
    click_type: str
    click_count: int


class _Text(TypedDict):
    text: str


class TextInput(_Text, total=False):
    use_ime: bool
    char_delay: float


class _Key(TypedDict):
    key: str


class KeyPress(_Key, total=False):
    modifiers: list[str]
    hold_duration: float


class MouseMove(_Positioned, total=False):
    duration: float


class _Path(TypedDict):
    start_position: Position
    end_position: Position


class MouseDrag(_Path, total=False):
    duration: float
    button: str


class ScrollInput(TypedDict, total=False):
    position: Position
    horizontal: float
    vertical: float
    duration: float


class MouseButton(_Positioned, total=False):
    button: str
    modifiers: list[str]


class InputAction(TypedDict, total=False):
    click: MouseClick
    type_text: TextInput
    press_key: KeyPress
    move_mouse: MouseMove
    drag: MouseDrag
    scroll: ScrollInput
    hover: MouseMove
    gesture: dict[str, Any]
    button_down: MouseButton
    button_up: MouseButton
    show_animation: bool
    animation_duration: float


@dataclass(frozen=True)
class InputTarget:
    """What an action needs to know of its surroundings."""

    backend: Backend
    aim: Callable[[Position], Awaitable[Aim]]
    """Turns a position of the action into a place on the screen."""
    window: Callable[[], Awaitable[Window]]
    """The window that keys go to, active."""


def point_of(position: Position) -> tuple[float, float]:
    """The coordinates of a position; raises `MissingField` without them."""
    if "x" not in position or "y" not in position:
        raise MissingField("A position needs x and y.")
    return position["x"], position["y"]


def kind_of(action: Mapping[str, Any]) -> str:
    """Which kind of input it is; raises `ToolFailure` unless it is exactly one."""
    given = [kind for kind in _HANDLERS if kind in action]
    if len(given) != 1:
        raise MissingField("An action needs exactly one kind of input.", f"One of {', '.join(_HANDLERS)}.")
    return given[0]


async def perform(target: InputTarget, action: InputAction) -> None:
    """Do it; returns when it is done."""
    kind = kind_of(action)
    details: Any = action[kind]  # type: ignore[literal-required]
    await _HANDLERS[kind](target, details)


async def _click(target: InputTarget, click: MouseClick) -> None:
    count = click.get("click_count") or 1
    check_count(count)
    button = read_button(click.get("click_type"), "click_type")
    await click_at(target.backend, await target.aim(click["position"]), button, count)


async def _type_text(target: InputTarget, typed: TextInput) -> None:
    text, delay = typed["text"], _seconds("char_delay", typed.get("char_delay", 0.0))
    if len(text) > MAX_CHARACTERS or delay * len(text) > LONGEST:
        raise OutOfRange(f"At most {MAX_CHARACTERS} characters and {LONGEST:g} s of typing are possible.")
    window = await target.window()
    for part in text if delay else [text]:
        await target.backend.input.type_text(part, window.id)
        await asyncio.sleep(delay)


async def _press_key(target: InputTarget, press: KeyPress) -> None:
    duration = _seconds("hold_duration", press.get("hold_duration", 0.0))
    window = await target.window()
    if not duration:
        await target.backend.input.press(chord_of(press["key"], press.get("modifiers")), window.id)
        return
    keys = [*read_modifiers(press.get("modifiers")), press["key"].strip()]
    await target.backend.input.hold(keys=keys)
    try:
        await asyncio.sleep(duration)
    finally:
        await target.backend.input.release(keys=keys)


async def _move_mouse(target: InputTarget, move: MouseMove) -> None:
    """At once: where the pointer comes from is not known, so a duration has no effect."""
    place = await target.aim(move["position"])
    await target.backend.input.move(place.point)


async def _hover(target: InputTarget, hover: MouseMove) -> None:
    place = await target.aim(hover["position"])
    place.check()
    await target.backend.input.move(place.point)
    await asyncio.sleep(_seconds("duration", hover.get("duration", 0.0)))


async def _drag(target: InputTarget, drag: MouseDrag) -> None:
    button, duration = read_button(drag.get("button")), _seconds("duration", drag.get("duration", 0.0))
    start, end = await target.aim(drag["start_position"]), await target.aim(drag["end_position"])
    start.check()
    if not duration:
        await drag_to(target.backend, start, end.point, button)
        return
    await target.backend.input.hold(button=button, at=start.point)
    try:
        await _glide(target.backend, start.point, end.point, duration)
    finally:
        await target.backend.input.release(button=button, at=end.point)


async def _glide(backend: Backend, start: Point, end: Point, duration: float) -> None:
    steps = max(2, round(duration / STEP))
    for step in range(1, steps + 1):
        await backend.input.move(start.towards(end, step / steps))
        await asyncio.sleep(duration / steps)


async def _scroll(target: InputTarget, scroll: ScrollInput) -> None:
    position = scroll.get("position")
    place = await target.aim(position) if position is not None else await middle_of_active(target.backend)
    await scroll_at(target.backend, place, -scroll.get("vertical", 0.0), scroll.get("horizontal", 0.0))


async def _gesture(target: InputTarget, gesture: dict[str, Any]) -> None:
    raise NotSupported(
        "Touchpad gestures cannot be made on this desktop.", "Scroll, or use the program's own zoom keys."
    )


async def _button_down(target: InputTarget, held: MouseButton) -> None:
    place = await target.aim(held["position"])
    place.check()
    await target.backend.input.hold(
        keys=read_modifiers(held.get("modifiers")), button=read_button(held.get("button")), at=place.point
    )


async def _button_up(target: InputTarget, held: MouseButton) -> None:
    place = await target.aim(held["position"])
    await target.backend.input.release(
        keys=read_modifiers(held.get("modifiers")), button=read_button(held.get("button")), at=place.point
    )


def _seconds(field: str, value: float) -> float:
    if not 0 <= value <= LONGEST:
        raise InvalidFormat(f"{field} is 0 to {LONGEST:g} seconds.")
    return value


_HANDLERS: Mapping[str, Callable[[InputTarget, Any], Awaitable[None]]] = {
    "click": _click,
    "type_text": _type_text,
    "press_key": _press_key,
    "move_mouse": _move_mouse,
    "drag": _drag,
    "scroll": _scroll,
    "hover": _hover,
    "gesture": _gesture,
    "button_down": _button_down,
    "button_up": _button_up,
}
