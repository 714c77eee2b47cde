"""A screenshot of what a call would act on, with the target marked, for the approval question."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from toolcrib.bundled.desktop.backend import Backend, Screenshot
from toolcrib.bundled.desktop.consent.purposes import PURPOSES, Purpose
from toolcrib.bundled.desktop.consent.targets import Target, find_target
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.macros.model import macro_json
from toolcrib.bundled.desktop.macros.store import MacroStore
from toolcrib.bundled.desktop.pictures import encode
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.threads import in_thread

LONGEST_SIDE = 960
"""Pixels of the picture in a question."""
MARGIN = 2
_DETAILS = ("button", "click_type", "click_count", "delta_x", "delta_y")


async def preview(
    session: DesktopSession, tool: str, given: Mapping[str, Any], asked: Target | None = None
) -> dict[str, Any]:
    """What the question shows; without a picture if none can be taken. `asked` is what it is about."""
    purpose = PURPOSES[tool]
    shown: dict[str, Any] = {"kind": "screen", "action": purpose.action, "text": _text(purpose, given)}
    if purpose.kind == "macro":
        found = await in_thread(MacroStore.of_home(session.settings.home).get, str(given.get("macro")))
        shown["text"] = json.dumps(macro_json(found)["actions"], ensure_ascii=False, indent=1)
    if purpose.kind != "window":
        return shown
    backend = await session.backend()
    target = asked or await find_target(session, backend, purpose, given)
    shown |= {"title": target.window.title, "application": target.window.window_class}
    if target.element is not None:
        name = target.element.name
        shown["element"] = f"{target.element.role} “{name}”" if name else target.element.role
    try:
        return {**shown, **await _picture(backend, target)}
    except ToolFailure:  # it is minimised or has just closed; the words still say which window it is
        return shown


async def _picture(backend: Backend, target: Target) -> dict[str, Any]:
    taken = await backend.capture.window(target.window.id)
    picture = await in_thread(encode, taken, "jpeg", LONGEST_SIDE)
    place = _place(taken, target.rect, picture.space.scale)
    return {
        "picture": base64.b64encode(picture.image.data).decode(),
        "width": picture.width,
        "height": picture.height,
        **({} if place is None else {"target": place}),
    }


def _place(taken: Screenshot, rect: Rect | None, scale: float) -> dict[str, int] | None:
    """The target in pixels of the picture; None if it is outside."""
    if rect is None:
        return None
    height, width = taken.pixels.shape[:2]
    inside = rect.moved(-taken.origin.x, -taken.origin.y).intersection(Rect(0, 0, width, height))
    if inside.is_empty:
        return None
    return {
        "x": round(inside.x * scale) - MARGIN,
        "y": round(inside.y * scale) - MARGIN,
        "width": round(inside.width * scale) + 2 * MARGIN,
        "height": round(inside.height * scale) + 2 * MARGIN,
    }


def _text(purpose: Purpose, given: Mapping[str, Any]) -> str:
    """What will be typed or pressed, or the details of a click."""
    if purpose.action == "press":
        keys = "+".join([*map(str, given.get("modifiers") or ()), str(given.get("key") or "")])
        times = given.get("times") or 1
        return keys if times == 1 else f"{keys}, {times} times"
    if purpose.shown:
        return str(given.get(purpose.shown) or "")
    details = {name: given[name] for name in _DETAILS if given.get(name) not in (None, "")}
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in details.items())
