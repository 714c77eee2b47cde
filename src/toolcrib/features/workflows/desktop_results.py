"""Reads what desktop tools return, of the bundled server and of others with tools of the same names.

Other servers return lists as JSON text and name some fields differently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field

from toolcrib.errors import CallFailed
from toolcrib.features.workflows.tool_content import ToolContent
from toolcrib.graph.node_settings import NodeResult

MOST_MATCHES = 100


class NotOnScreen(CallFailed):
    """What a node looks for is not on the screen."""

    kind = "not_on_screen"


class ScreenMatch(NodeResult):
    """A place on the screen."""

    x: float = Field(description="The middle, in screen pixels.")
    y: float = Field(description="The same, from the top.")
    text: str = Field(default="", description="The text that was found.")
    confidence: float | None = Field(default=None, description="From 0 to 1.")
    width: float | None = None
    height: float | None = None
    window: int | str | None = Field(default=None, description="The window that it is in.")
    covered: bool = Field(default=False, description="Whether another window is in front of it.")


class DesktopWindow(NodeResult):
    """A window on the desktop."""

    id: int | str | None = None
    title: str = ""
    app: str = Field(default="", description="The name of its program.")
    pid: int | None = None
    active: bool = False
    x: float | None = None
    y: float | None = None
    width: float | None = None
    height: float | None = None


def read_matches(content: ToolContent) -> list[ScreenMatch]:
    """The places that find_text or find_image found, best first."""
    found = (_match(each) for each in _rows(content.data, "matches"))
    return [each for each in found if each is not None][:MOST_MATCHES]


def read_windows(content: ToolContent) -> list[DesktopWindow]:
    return [_window(each) for each in _rows(content.data, "windows")]


def _rows(data: Any, name: str) -> Iterator[Mapping[str, Any]]:
    rows = data.get(name) if isinstance(data, Mapping) else data
    return (each for each in rows if isinstance(each, Mapping)) if isinstance(rows, list) else iter(())


def _match(row: Mapping[str, Any]) -> ScreenMatch | None:
    centre, box = _object(row, "center"), _object(row, "bounds", "bbox")
    x = _number(row, "screen_x", "x") if "x" in row or "screen_x" in row else _number(centre, "x")
    y = _number(row, "screen_y", "y") if "y" in row or "screen_y" in row else _number(centre, "y")
    if x is None or y is None:
        return None
    return ScreenMatch(
        x=x,
        y=y,
        text=_text(row, "text", "name"),
        confidence=_number(row, "confidence", "score"),
        width=_number(box, "width", "w"),
        height=_number(box, "height", "h"),
        window=_id(row, "window", "window_id"),
        covered=row.get("covered") is True,
    )


def _window(row: Mapping[str, Any]) -> DesktopWindow:
    box = _object(row, "bounds")
    pid = _number(row, "application", "owner_pid", "pid")
    return DesktopWindow(
        id=_id(row, "id", "window_id"),
        title=_text(row, "title", "name"),
        app=_text(row, "bundle_id", "owner_name", "app_name"),
        pid=None if pid is None else int(pid),
        active=row.get("active") is True,
        x=_number(box, "x"),
        y=_number(box, "y"),
        width=_number(box, "width", "w"),
        height=_number(box, "height", "h"),
    )


def _object(row: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    return next((row[name] for name in names if isinstance(row.get(name), Mapping)), {})


def _number(row: Mapping[str, Any], *names: str) -> float | None:
    values = (row.get(name) for name in names)
    return next(
        (each for each in values if isinstance(each, int | float) and not isinstance(each, bool)), None
    )


def _text(row: Mapping[str, Any], *names: str) -> str:
    return next((row[name] for name in names if isinstance(row.get(name), str)), "")


def _id(row: Mapping[str, Any], *names: str) -> int | str | None:
    values = (row.get(name) for name in names)
    return next((each for each in values if isinstance(each, int | str) and not isinstance(each, bool)), None)
