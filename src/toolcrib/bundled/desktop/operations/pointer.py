"""Tools for clicks and scrolls at a position, and the error if only one of x and y is given. Checks and
limits are in `click_targets.py`."""

from __future__ import annotations

from dataclasses import dataclass

from toolcrib.bundled.desktop.click_targets import (
    Aim,
    aim,
    check_count,
    click_at,
    middle_of_active,
    read_button,
    scroll_at,
)
from toolcrib.bundled.desktop.elements.observing import Report
from toolcrib.bundled.desktop.failures import MissingField
from toolcrib.bundled.desktop.geometry import Space
from toolcrib.bundled.desktop.operations.table import ACTING, Desktop, Reply, operation, with_changes


@dataclass(frozen=True)
class PointerResult:
    space: str
    x: int
    y: int
    window: int | None
    changes: list[str]


@operation("Click at a position", ACTING)
async def click(
    desktop: Desktop,
    x: float,
    y: float,
    button: str = "left",
    click_count: int = 1,
    space: Space = "screen",
    reference: int | str | None = None,
) -> Reply[PointerResult]:
    chosen = read_button(button)
    check_count(click_count)
    backend = await desktop.backend()
    target = await aim(backend, desktop.session.pictures, x, y, space, reference)
    async with desktop.observing(target.observed) as report:
        await click_at(backend, target, chosen, click_count)
    return _answered(target, report, "Clicked")


@operation("Scroll", ACTING)
async def scroll(
    desktop: Desktop,
    delta_y: float,
    x: float | None = None,
    y: float | None = None,
    delta_x: float = 0.0,
    space: Space = "screen",
    reference: int | str | None = None,
) -> Reply[PointerResult]:
    backend = await desktop.backend()
    if x is None and y is None:
        target = await middle_of_active(backend)
    elif x is None or y is None:
        raise MissingField("Give both x and y, or neither.")
    else:
        target = await aim(backend, desktop.session.pictures, x, y, space, reference)
    async with desktop.observing(target.observed) as report:
        await scroll_at(backend, target, delta_y, delta_x)
    return _answered(target, report, "Scrolled")


def _answered(target: Aim, report: Report, verb: str) -> Reply[PointerResult]:
    window, point = target.window, target.point
    data = PointerResult("screen", point.x, point.y, window.id if window else None, report.changes)
    where = f" in {window.title[:80]!r}" if window is not None else ""
    said = f"{verb} at {point.x},{point.y}{where}."
    return Reply(data, with_changes(said, report.changes, report.nothing))
