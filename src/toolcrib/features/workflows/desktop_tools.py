"""What desktop nodes share: how their settings become the arguments of a desktop tool, and what tools return.
Has common help texts, and the error if something is not on the screen.

The tools are those of the bundled server, or of another with tools of the same names. Other servers return
lists as JSON text and name some fields differently, so results are read field by field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from pydantic import ConfigDict, Field, ValidationError

from toolcrib.errors import CallFailed
from toolcrib.features.workflows.tool_content import ToolContent, call_tool
from toolcrib.graph.node_settings import NodeResult, NodeSettings, rare
from toolcrib.graph.node_type import NodeCall, NodeContext

MOST_MATCHES = 100
Scope = Annotated[str | None, Field(title="Only in this program", description="The name of the program.")]
Required = Annotated[
    bool,
    Field(
        title="Fail if it is not found",
        description="Then the step is tried again as set below, or goes on at “on error”.",
    ),
]


def _extra_last(schema: dict[str, Any]) -> None:
    """Forms show the settings of the node itself first."""
    properties = schema["properties"]
    properties["extra"] = properties.pop("extra")


class DesktopSettings(NodeSettings):
    model_config = ConfigDict(json_schema_extra=_extra_last)

    extra: dict[str, Any] = rare(
        default_factory=dict,
        title="More arguments",
        description="For desktop servers whose tools take more than these.",
    )


D = TypeVar("D", bound=DesktopSettings)


@dataclass(frozen=True)
class DesktopTool(Generic[D]):
    """The desktop tool of a node: `arguments` names the setting of each of its arguments.

    A setting with its default value is left out of a call, so that other servers need not know it; those in
    `always` are not.
    """

    name: str
    settings: type[D]
    arguments: Mapping[str, str]
    always: frozenset[str] = frozenset()

    def use(self, settings: D) -> NodeCall:
        fields = self.settings.model_fields
        values = {argument: getattr(settings, setting) for argument, setting in self.arguments.items()}
        sent = {
            argument: value.model_dump() if isinstance(value, NodeSettings) else value
            for argument, value in values.items()
            if self.arguments[argument] in self.always
            or value not in (None, fields[self.arguments[argument]].get_default(call_default_factory=True))
        }
        return self.call(settings, **sent)

    def call(self, settings: DesktopSettings, **arguments: Any) -> NodeCall:
        return NodeCall(tool=self.name, arguments={**arguments, **settings.extra}, desktop=True)

    def read(self, use: NodeCall, **given: Any) -> D | None:
        """The settings of a call; None if it is not one of this tool, or cannot be made with settings."""
        if not use.desktop or use.tool != self.name:
            return None
        names = self.arguments
        known = {names[name]: value for name, value in use.arguments.items() if name in names}
        extra = {name: value for name, value in use.arguments.items() if name not in names}
        try:
            return self.settings.model_validate({**known, **given, **({"extra": extra} if extra else {})})
        except ValidationError:
            return None


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
    """A window on the desktop: what every desktop server says of one, so not all that ours does."""

    id: int | str | None = None
    title: str = ""
    app: str = Field(default="", description="The name of its program.")
    pid: int | None = None
    active: bool = False
    x: float | None = None
    y: float | None = None
    width: float | None = None
    height: float | None = None


class FoundOnScreen(NodeResult):
    found: bool = Field(description="Whether there is a match.")
    count: int = Field(description="The number of matches.")
    x: float | None = Field(description="The middle of the selected match, in screen pixels.")
    y: float | None = Field(description="The same, from the top.")
    matches: list[ScreenMatch] = Field(description="All matches, the best first.")


async def find(context: NodeContext, use: NodeCall) -> list[ScreenMatch]:
    return read_matches(await call_tool(context, use))


def chosen_match(matches: Sequence[ScreenMatch], index: int, required: bool, what: str) -> ScreenMatch | None:
    """The match of this number, if there is one; raises `NotOnScreen` without any, if one is required."""
    if not matches and required:
        raise NotOnScreen(f"{what} is not on the screen.", hint="Take a screenshot to see why.")
    return matches[index] if index < len(matches) else None


def found(matches: Sequence[ScreenMatch], chosen: ScreenMatch | None) -> dict[str, Any]:
    """The fields of `FoundOnScreen`."""
    place = {"x": chosen.x if chosen else None, "y": chosen.y if chosen else None}
    return {"found": bool(matches), "count": len(matches), "matches": list(matches), **place}


def read_matches(content: ToolContent) -> list[ScreenMatch]:
    """The places that find_text or find_image found, best first."""
    found = (_match(row) for row in _rows(content.data, "matches"))
    return [match for match in found if match is not None][:MOST_MATCHES]


def read_windows(content: ToolContent) -> list[DesktopWindow]:
    return [_window(row) for row in _rows(content.data, "windows")]


def _rows(data: Any, name: str) -> Iterator[Mapping[str, Any]]:
    rows = data.get(name) if isinstance(data, Mapping) else data
    return (row for row in rows if isinstance(row, Mapping)) if isinstance(rows, list) else iter(())


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
        (value for value in values if isinstance(value, int | float) and not isinstance(value, bool)), None
    )


def _text(row: Mapping[str, Any], *names: str) -> str:
    return next((row[name] for name in names if isinstance(row.get(name), str)), "")


def _id(row: Mapping[str, Any], *names: str) -> int | str | None:
    values = (row.get(name) for name in names)
    return next(
        (value for value in values if isinstance(value, int | str) and not isinstance(value, bool)), None
    )
