"""Tools for displays and the position of the pointer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from toolcrib.bundled.desktop.backend import Display
from toolcrib.bundled.desktop.failures import DisplayNotFound, NotSupported
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.bundled.desktop.operations.table import LOOKING, Desktop, Reply, more_line, operation


@runtime_checkable
class KnowsPointer(Protocol):
    """The displays of a desktop that tell where the pointer is."""

    async def pointer(self) -> Point: ...


@dataclass(frozen=True)
class DisplayRecord:
    name: str
    display_id: int
    output: str
    frame: Rect
    is_main: bool
    scale: float

    @property
    def visible_frame(self) -> Rect:
        """For gRPC; panels are not left out."""
        return self.frame


@dataclass(frozen=True)
class DisplayList:
    space: str
    displays: list[DisplayRecord]
    more: int
    next_page_token: str


@dataclass(frozen=True)
class CursorPosition:
    x: int
    y: int
    display: str


@operation("List displays", LOOKING)
async def list_displays(desktop: Desktop, page_size: int = 0, page_token: str = "") -> Reply[DisplayList]:
    listed = await (await desktop.backend()).displays.list()
    page = desktop.page(list(listed), page_size, page_token, "displays")
    data = DisplayList(
        "screen", [_record(display) for display in page.items], page.more, page.next_page_token
    )
    return Reply(data, "\n".join([*map(_line, page.items), *more_line(page)]))


@operation("Get a display", LOOKING)
async def get_display(desktop: Desktop, name: str) -> Reply[DisplayRecord]:
    desktop.check_name(name, "displays")
    listed = await (await desktop.backend()).displays.list()
    wanted = name.strip().removeprefix("displays/")
    for display in listed:
        if wanted in (str(display.id), display.name) or (wanted == "main" and display.primary):
            return Reply(_record(display), _line(display))
    known = ", ".join(f"displays/{display.id} ({display.name})" for display in listed)
    raise DisplayNotFound(f"There is no display {name!r}.", f"There are: {known}.")


@operation("", LOOKING)
async def capture_cursor_position(desktop: Desktop) -> CursorPosition:
    displays = (await desktop.backend()).displays
    if not isinstance(displays, KnowsPointer):
        raise NotSupported("This desktop does not tell where the pointer is.")
    at = await displays.pointer()
    around = [display for display in await displays.list() if display.rect.contains(at)]
    return CursorPosition(at.x, at.y, f"displays/{around[0].id}" if around else "")


def _record(display: Display) -> DisplayRecord:
    return DisplayRecord(
        name=f"displays/{display.id}",
        display_id=display.id,
        output=display.name,
        frame=display.rect,
        is_main=display.primary,
        scale=display.scale,
    )


def _line(display: Display) -> str:
    rect = display.rect
    main = " main" if display.primary else ""
    return (
        f"{display.id} {display.name!r} {rect.width}x{rect.height} at {rect.x},{rect.y}"
        f" scale {display.scale:g}{main}"
    )
