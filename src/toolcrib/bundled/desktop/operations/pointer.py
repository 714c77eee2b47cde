"""The tools that click and scroll at a position."""

from __future__ import annotations

from typing import TypedDict

from toolcrib.bundled.desktop.aiming import (
    Aim,
    aim,
    check_count,
    click_at,
    middle_of_active,
    read_button,
    scroll_at,
)
from toolcrib.bundled.desktop.elements.observing import Report, observe
from toolcrib.bundled.desktop.failures import MissingField
from toolcrib.bundled.desktop.geometry import Space
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.bundled.desktop.tools.offer import ACTING, Offer, answer, with_changes
from toolcrib.serverkit.context import ToolContext
from toolcrib.serverkit.server import ToolServer


class PointerResult(TypedDict):
    space: str
    x: int
    y: int
    window: int | None
    changes: list[str]


class PointerTools:
    def __init__(self, session: DesktopSession) -> None:
        self._session = session

    async def click(
        self,
        x: float,
        y: float,
        context: ToolContext,
        button: str = "left",
        click_count: int = 1,
        space: Space = "screen",
        reference: int | str | None = None,
    ) -> PointerResult:
        chosen = read_button(button)
        check_count(click_count)
        backend = await self._session.backend(context)
        target = await aim(backend, self._session.pictures, x, y, space, reference)
        async with observe(backend, target.observed) as report:
            await click_at(backend, target, chosen, click_count)
        return _answered(target, report, "Clicked")

    async def scroll(
        self,
        delta_y: float,
        context: ToolContext,
        x: float | None = None,
        y: float | None = None,
        delta_x: float = 0.0,
        space: Space = "screen",
        reference: int | str | None = None,
    ) -> PointerResult:
        backend = await self._session.backend(context)
        if x is None and y is None:
            target = await middle_of_active(backend)
        elif x is None or y is None:
            raise MissingField("Give both x and y, or neither.")
        else:
            target = await aim(backend, self._session.pictures, x, y, space, reference)
        async with observe(backend, target.observed) as report:
            await scroll_at(backend, target, delta_y, delta_x)
        return _answered(target, report, "Scrolled")


def offer_tools(server: ToolServer, session: DesktopSession, wanted: frozenset[str] | None) -> None:
    tools, offer = PointerTools(session), Offer(server, wanted)
    offer(tools.click, "Click at a position", **ACTING)
    offer(tools.scroll, "Scroll", **ACTING)


def _answered(target: Aim, report: Report, verb: str) -> PointerResult:
    window = target.window
    data: PointerResult = {
        "space": "screen",
        "x": target.point.x,
        "y": target.point.y,
        "window": window.id if window is not None else None,
        "changes": report.changes,
    }
    where = f" in {window.title[:80]!r}" if window is not None else ""
    return answer(
        data,
        with_changes(f"{verb} at {target.point.x},{target.point.y}{where}.", report.changes, report.nothing),
    )
