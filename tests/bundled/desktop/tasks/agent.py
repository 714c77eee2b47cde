"""A scripted agent: calls the tools as a model does, and counts its calls and the size of the replies.

The names of tools and parameters occur here only, so that the tasks do not depend on them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

CallTool = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Calls a tool by name; returns the result of MCP's `tools/call`."""
PATIENCE = 45.0
"""Seconds to wait for a window or an element, also on a busy machine."""
POLL = 0.05
CHARACTERS_PER_TOKEN = 4
LOOK_TOKENS, ACT_TOKENS = 2100, 500
"""The largest replies; the first with a note of how to continue."""


class Refused(Exception):
    """A tool answered with an error; the text is what a model would read."""


class Agent:
    def __init__(self, call_tool: CallTool) -> None:
        self._call_tool = call_tool
        self.calls = 0
        self.characters = 0
        self.longest: dict[str, int] = {}
        """The characters of the longest reply of each tool, without errors."""

    async def call(self, tool: str, **arguments: Any) -> Any:
        given = {name: value for name, value in arguments.items() if value is not None}
        result = await self._call_tool(tool, given)
        text = "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
        self.calls += 1
        self.characters += len(text)
        if result.get("isError"):
            raise Refused(f"{tool}: {text}")
        self.longest[tool] = max(self.longest.get(tool, 0), len(text))
        return result["structuredContent"]

    def check_sizes(self) -> None:
        """Replies to looks and to actions stay within their budgets of tokens."""
        for tool, characters in self.longest.items():
            limit = LOOK_TOKENS if tool.startswith(("find_", "list_")) else ACT_TOKENS
            assert characters <= limit * CHARACTERS_PER_TOKEN, f"{tool} replied with {characters} characters"

    async def refused(self, tool: Awaitable[Any]) -> str:
        """The error of a call that must not succeed."""
        try:
            done = await tool
        except Refused as refusal:
            return str(refusal)
        raise AssertionError(f"This should have been refused: {done}")

    # Windows and applications

    async def windows(self, application: str | None = None) -> list[dict[str, Any]]:
        listed = await self.call("list_windows", parent=application)
        found: list[dict[str, Any]] = listed["windows"]
        return found

    async def window(self, application: str | None = None, title: str = "") -> dict[str, Any]:
        """The topmost window with this in its title, waited for."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for each in await self.windows(application):
                    if title in each["title"]:
                        return each
                await asyncio.sleep(POLL)

    async def focus(self, window: int) -> Any:
        return await self.call("focus_window", window_id=window)

    async def open(self, name: str, *arguments: str) -> Any:
        return await self.call("open_application", id=name, arguments=list(arguments), timeout=PATIENCE)

    # Elements

    async def find_all(
        self, application: str, *, wait: float = PATIENCE, **selector: Any
    ) -> list[dict[str, Any]]:
        await self.window(application)
        found = await self.call("find_elements", parent=application, selector=selector, wait=wait)
        elements: list[dict[str, Any]] = found["elements"]
        return elements

    async def find(self, application: str, **selector: Any) -> dict[str, Any]:
        """The first element that matches, waited for; visible ones come first."""
        found = await self.find_all(application, **selector)
        assert found, f"There is no element {selector}."
        return found[0]

    async def outline(self, application: str) -> list[dict[str, Any]]:
        listed = await self.call("find_elements", parent=application)
        elements: list[dict[str, Any]] = listed["elements"]
        return elements

    async def click_id(self, element: str, click: str | None = None) -> Any:
        return await self.call("click_element", element_id=element, click_type=click)

    async def click(self, application: str, *, click: str | None = None, **selector: Any) -> Any:
        return await self.click_id((await self.find(application, **selector))["id"], click)

    async def tick(self, application: str, name: str) -> None:
        ticked = await self.write(application, "true", role="check box", text=name)
        assert ticked["verified"], ticked

    async def write_id(self, element: str, value: str) -> Any:
        return await self.call("write_element_value", element_id=element, value=value)

    async def write(self, application: str, value: str, **selector: Any) -> Any:
        return await self.write_id((await self.find(application, **selector))["id"], value)

    # Keyboard and clipboard

    async def type(self, text: str, window: int | None = None) -> Any:
        return await self.call("type_text", text=text, window=window)

    async def press(self, chord: str, window: int | None = None, times: int | None = None) -> Any:
        """`chord` is such as `ctrl+s`."""
        return await self.call("press_key", key=chord, window=window, times=times)

    async def clipboard(self) -> str:
        return str((await self.call("get_clipboard"))["text"])

    async def copy(self, text: str) -> Any:
        return await self.call("write_clipboard", text=text)

    # By coordinates, and what the window manager does

    async def scroll(self, down: int, x: float, y: float) -> Any:
        return await self.call("scroll", delta_y=down, x=x, y=y)

    async def click_at(self, x: float, y: float) -> Any:
        return await self.call("click", x=x, y=y)

    async def drag(self, start: tuple[float, float], end: tuple[float, float]) -> Any:
        positions = {"start_position": _point(start), "end_position": _point(end)}
        return await self.call("create_input", parent="applications/-", input={"action": {"drag": positions}})

    async def drag_element(self, start: str, end: str) -> Any:
        positions = {"start_position": {"element": start}, "end_position": {"element": end}}
        return await self.call("create_input", parent="applications/-", input={"action": {"drag": positions}})

    async def move_window(self, window: dict[str, Any], x: int, y: int) -> Any:
        return await self.call("move_window", name=window["name"], x=x, y=y)

    async def resize_window(self, window: dict[str, Any], width: int, height: int) -> Any:
        return await self.call("resize_window", name=window["name"], width=width, height=height)

    async def close_window(self, window: dict[str, Any]) -> Any:
        return await self.call("close_window", name=window["name"])

    async def minimise(self, window: dict[str, Any]) -> Any:
        return await self.call("minimize_window", name=window["name"])


def _point(position: tuple[float, float]) -> dict[str, float]:
    return {"x": position[0], "y": position[1]}
