"""Checks after a node or a run (text, picture or window on the screen, a condition): what must hold, the tool
call that shows it, and the reason if it fails.

`evidence` says which call is needed, `judge` decides purely from its result, `run_check` does both.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from pydantic import Field, ValidationError

from toolcrib.features.workflows.desktop_tools import read_matches, read_windows
from toolcrib.features.workflows.tool_content import ToolContent, call_tool
from toolcrib.graph.conditions import Condition, describe, holds
from toolcrib.graph.node_settings import NodeSettings, draft, resolved
from toolcrib.graph.node_type import NodeCall, NodeContext
from toolcrib.graph.problems import InvalidSettings
from toolcrib.graph.references import Values
from toolcrib.schema.workflows import Check, CheckType

SHOWN_TITLES = 5


class ScreenCheck(NodeSettings):
    """What must be on the screen: a text, a picture in base64, or a window title with `*` and `?`."""

    value: str = Field(min_length=1, max_length=4_000_000)
    app_name: str | None = None


class ConditionCheck(NodeSettings):
    value: Condition
    app_name: None = None


TypedCheck = ScreenCheck | ConditionCheck


@dataclass(frozen=True, kw_only=True)
class CheckOutcome:
    type: CheckType
    passed: bool
    reason: str
    on_fail: Literal["fail", "warn"]

    @property
    def fails(self) -> bool:
        return not self.passed and self.on_fail == "fail"


def read_check(check: Check, values: Values | None = None) -> TypedCheck:
    """The typed check; without values, references are left as they are. Raises `ValidationError`."""
    model: type[TypedCheck] = ConditionCheck if check.type == "condition" else ScreenCheck
    given = {"value": check.value, "app_name": check.app_name}
    return draft(model, given) if values is None else resolved(model, given, values)


def evidence(kind: CheckType, check: TypedCheck) -> NodeCall | None:
    """The desktop call whose result decides; None if none is needed."""
    if isinstance(check, ConditionCheck):
        return None
    tool, argument = _CALLS[kind]
    wanted = {argument: check.value} if argument else {}
    scope = {"app_name": check.app_name} if check.app_name is not None else {}
    return NodeCall(tool=tool, arguments={**wanted, **scope}, desktop=True)


def judge(kind: CheckType, check: TypedCheck, shown: ToolContent | None) -> tuple[bool, str]:
    """Whether the check passes, and why."""
    if isinstance(check, ConditionCheck):
        return holds(check.value), describe(check.value)
    if shown is None:
        return False, "nothing was looked at"
    if kind == "window_title":
        return _judge_titles(check.value, [window.title for window in read_windows(shown)])
    found = bool(read_matches(shown))
    what = "the picture" if kind == "image_found" else repr(check.value[:100])
    return found != (kind == "text_absent"), f"{what} is {'' if found else 'not '}on the screen"


_CALLS = {
    "text_present": ("find_text", "text"),
    "text_absent": ("find_text", "text"),
    "image_found": ("find_image", "template_image_base64"),
    "window_title": ("list_windows", ""),
}
"""The tool that shows it, and the argument that gets the value."""


def _judge_titles(pattern: str, titles: list[str]) -> tuple[bool, str]:
    for title in titles:
        if fnmatchcase(title.casefold(), pattern.casefold()):
            return True, f"the window {title!r} is open"
    shown = ", ".join(map(repr, titles[:SHOWN_TITLES])) or "none"
    return False, f"no window title matches {pattern!r}; open: {shown}"


async def run_check(check: Check, context: NodeContext, values: Values) -> CheckOutcome:
    """Look at the screen if the check needs it, and decide; raises `InvalidSettings` for wrong values."""
    try:
        typed = read_check(check, values)
    except ValidationError as error:
        raise InvalidSettings(f"The check {check.type}", error) from None
    use = evidence(check.type, typed)
    shown = await call_tool(context, use) if use is not None else None
    passed, reason = judge(check.type, typed, shown)
    return CheckOutcome(type=check.type, passed=passed, reason=reason, on_fail=check.on_fail)
