"""Check boxes, switches and radio buttons: whether they are on, and which state a value means."""

from __future__ import annotations

import time

from toolcrib.bundled.desktop.backend import Backend, Element
from toolcrib.bundled.desktop.elements.snapshots import describe
from toolcrib.bundled.desktop.failures import InvalidFormat

TOGGLES = frozenset({"check box", "check menu item", "switch", "toggle button"})
RADIOS = frozenset({"radio button", "radio menu item"})
"""Only another one of their group turns these off."""
PATIENCE = 2.0
"""Seconds for a program to report the new state."""
_ON = {"true", "on", "checked", "yes", "1"}
_OFF = {"false", "off", "unchecked", "no", "0"}
_STATES = {"checked", "pressed"}
_MIXED = "indeterminate"


def is_switch(element: Element) -> bool:
    return element.role in TOGGLES or element.role in RADIOS


def state_of(element: Element) -> bool | None:
    """None for a mixed state."""
    return None if _MIXED in element.states else bool(element.states & _STATES)


def wanted_state(element: Element, value: str) -> bool:
    """Raises `InvalidFormat` if the text names no state, or one that the element cannot be set to."""
    word = value.strip().casefold()
    if word not in _ON | _OFF:
        raise InvalidFormat(f"{describe(element)} is either true or false, not {value[:60]!r}.")
    if word in _OFF and element.role in RADIOS:
        raise InvalidFormat(f"{describe(element)} cannot be turned off.", "Turn another one of its group on.")
    return word in _ON


async def after_click(backend: Backend, element: Element) -> Element | None:
    """The element once it reports another state than before, or after a moment; None if it has gone."""
    deadline = time.monotonic() + PATIENCE
    with backend.events.listen() as changes:
        while True:
            now = await backend.accessibility.read(element.ref)
            if now is None or state_of(now) is not state_of(element) or time.monotonic() > deadline:
                return now
            await changes.next(0.1)
