"""Whether something is true on the desktop or of the variables of a macro; and waits until it is."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from fnmatch import fnmatch
from typing import Any

from toolcrib.bundled.desktop.backend import Window
from toolcrib.bundled.desktop.choosing import choose_application
from toolcrib.bundled.desktop.failures import AmbiguousApplication, ApplicationNotFound
from toolcrib.bundled.desktop.macros.expressions import text_of, unknown_variable
from toolcrib.bundled.desktop.macros.model import (
    CompoundCondition,
    MacroCondition,
    VariableCondition,
    WaitAction,
    WaitCondition,
)
from toolcrib.bundled.desktop.macros.scope import LONGEST_WAIT, MacroScope
from toolcrib.serverkit.context import ToolFailure

POLL = 0.25
PAUSE = 0.05


async def holds(scope: MacroScope, condition: MacroCondition) -> bool:
    return await _CHECKS[condition.chosen](scope, getattr(condition, condition.chosen))


async def wait(scope: MacroScope, action: WaitAction) -> None:
    """For the duration, then for the condition; raises `ToolFailure` if that does not come in time."""
    await scope.pause(action.duration)
    if action.condition is not None:
        await _wait_until(scope, action.condition)


def matching_windows(windows: Sequence[Window], pattern: str) -> list[Window]:
    """By a part of their titles, or a pattern such as `*.txt - *`."""
    wanted = pattern.casefold()
    if any(sign in pattern for sign in "*?["):
        return [each for each in windows if fnmatch(each.title.casefold(), wanted)]
    return [each for each in windows if wanted in each.title.casefold()]


async def element_exists(scope: MacroScope, selector: str) -> bool:
    """Whether a visible element matches; False too if the application is not running."""
    try:
        _, found = await scope.find(selector)
    except ApplicationNotFound:
        return False
    return any(each.visible for each in found.matches)


async def window_exists(scope: MacroScope, title: str) -> bool:
    return bool(matching_windows(await scope.backend.windows.list(), title))


async def application_running(scope: MacroScope, name: str) -> bool:
    try:
        await choose_application(scope.backend, name)
    except AmbiguousApplication:
        return True
    except ApplicationNotFound:
        return False
    return True


async def _variable_equals(scope: MacroScope, condition: VariableCondition) -> bool:
    if condition.variable not in scope.variables:
        raise unknown_variable(condition.variable, scope.variables)
    return text_of(scope.variables[condition.variable]) == condition.value


async def _compound(scope: MacroScope, compound: CompoundCondition) -> bool:
    """`not` is true if none of its conditions is; evaluation stops at the first that decides."""
    decisive = compound.operator != "and"
    for condition in compound.conditions:
        if await holds(scope, condition) is decisive:
            return compound.operator == "or"
    return compound.operator != "or"


_CHECKS: dict[str, Callable[[MacroScope, Any], Awaitable[bool]]] = {
    "element_exists": element_exists,
    "window_exists": window_exists,
    "application_running": application_running,
    "variable_equals": _variable_equals,
    "compound": _compound,
}
_WAITS: dict[str, Callable[[MacroScope, str], Awaitable[bool]]] = {
    "element_selector": element_exists,
    "window_title": window_exists,
    "application": application_running,
}


async def _wait_until(scope: MacroScope, condition: WaitCondition) -> None:
    """Looks again after each change of the desktop, and without one now and then."""
    check, wanted = _WAITS[condition.chosen], getattr(condition, condition.chosen)
    patience = min(max(0.0, condition.timeout), LONGEST_WAIT)
    deadline = time.monotonic() + patience
    with scope.backend.events.listen() as changes:
        while not await check(scope, wanted):
            if time.monotonic() >= deadline:
                raise ToolFailure(f"{condition.chosen} {wanted!r} did not appear within {patience:g} s.")
            await changes.next(POLL)
            await changes.settled(PAUSE, POLL)
