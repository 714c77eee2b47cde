"""The tools for displays."""

from __future__ import annotations

from typing import TypedDict

from toolcrib.bundled.desktop.backend import Display
from toolcrib.bundled.desktop.failures import DisplayNotFound
from toolcrib.bundled.desktop.pages import paginate
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.bundled.desktop.tools.offer import LOOKING, Offer, answer
from toolcrib.bundled.desktop.tools.windows import Bounds
from toolcrib.serverkit.context import ToolContext
from toolcrib.serverkit.server import ToolServer


class DisplayData(TypedDict):
    name: str
    display_id: int
    output: str
    frame: Bounds
    is_main: bool
    scale: float


class DisplayList(TypedDict):
    space: str
    displays: list[DisplayData]
    more: int
    next_page_token: str


class DisplayTools:
    def __init__(self, session: DesktopSession) -> None:
        self._session = session

    async def list_displays(
        self, context: ToolContext, page_size: int = 0, page_token: str = ""
    ) -> DisplayList:
        backend = await self._session.backend(context)
        page = paginate(list(await backend.displays.list()), page_size, page_token, "displays")
        data: DisplayList = {
            "space": "screen",
            "displays": [_data(each) for each in page.items],
            "more": page.more,
            "next_page_token": page.next_page_token,
        }
        lines = [_line(each) for each in page.items]
        if page.more:
            lines.append(f"… {page.more} more; continue with page_token {page.next_page_token}.")
        return answer(data, "\n".join(lines))

    async def get_display(self, name: str, context: ToolContext) -> DisplayData:
        backend = await self._session.backend(context)
        listed = await backend.displays.list()
        wanted = name.strip().removeprefix("displays/")
        for each in listed:
            if wanted in (str(each.id), each.name) or (wanted == "main" and each.primary):
                return answer(_data(each), _line(each))
        known = ", ".join(f"displays/{each.id} ({each.name})" for each in listed)
        raise DisplayNotFound(f"There is no display {name!r}.", f"There are: {known}.")


def offer_tools(server: ToolServer, session: DesktopSession, wanted: frozenset[str] | None) -> None:
    tools, offer = DisplayTools(session), Offer(server, wanted)
    offer(tools.list_displays, "List displays", **LOOKING)
    offer(tools.get_display, "Get a display", **LOOKING)


def _data(display: Display) -> DisplayData:
    rect = display.rect
    return {
        "name": f"displays/{display.id}",
        "display_id": display.id,
        "output": display.name,
        "frame": {"x": rect.x, "y": rect.y, "width": rect.width, "height": rect.height},
        "is_main": display.primary,
        "scale": display.scale,
    }


def _line(display: Display) -> str:
    rect = display.rect
    main = " main" if display.primary else ""
    return (
        f"{display.id} {display.name!r} {rect.width}x{rect.height} at {rect.x},{rect.y}"
        f" scale {display.scale:g}{main}"
    )
