"""What the actions of a macro do on the desktop: input, waits, conditions, loops, assignments, method calls.
Has the list of tools that a macro can call with their arguments, the most rounds of a loop, and how long to
wait.

Methods are called as the tools of the same name; arguments are texts. Scripts and the management of macros
are not among them: approving a macro must not approve more than it shows.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from fnmatch import fnmatch
from typing import Any, cast

from toolcrib.bundled.desktop.backend import Element, Window
from toolcrib.bundled.desktop.click_targets import (
    Aim,
    aim,
    check_count,
    click_at,
    drag_to,
    read_button,
    scroll_at,
)
from toolcrib.bundled.desktop.desktop_entries import command_of
from toolcrib.bundled.desktop.elements import acting
from toolcrib.bundled.desktop.elements.pointing import ClickKind
from toolcrib.bundled.desktop.elements.selector import attribute
from toolcrib.bundled.desktop.failures import AmbiguousApplication, ApplicationNotFound
from toolcrib.bundled.desktop.input_actions import InputAction, InputTarget, Position, perform, point_of
from toolcrib.bundled.desktop.keys import chord_of
from toolcrib.bundled.desktop.macros.expressions import Value, evaluate, text_of, unknown_variable
from toolcrib.bundled.desktop.macros.model import (
    AssignAction,
    CompoundCondition,
    ForEachLoop,
    LoopAction,
    MacroAction,
    MacroCondition,
    MethodCall,
    VariableCondition,
    WaitAction,
    WaitCondition,
)
from toolcrib.bundled.desktop.macros.scope import ELEMENT_PATIENCE, LONGEST_WAIT, MacroScope
from toolcrib.bundled.desktop.modality import check_element
from toolcrib.bundled.desktop.opening import open_program
from toolcrib.bundled.desktop.window_lookup import choose_application, choose_window
from toolcrib.serverkit.context import ToolFailure
from toolcrib.suggestions import did_you_mean

POLL = 0.25
PAUSE = 0.05
OPEN_PATIENCE = 15.0
MAX_TIMES = 100
MAX_ROUNDS = 1_000
Args = Mapping[str, str]
Item = dict[str, str]
"""What the variables of a round are set to, by the end of their names."""
_CLICKS: dict[str, ClickKind] = {"": "single", "single": "single", "double": "double", "right": "right"}


async def act(scope: MacroScope, action: MacroAction) -> dict[str, Any]:
    """Do it; what a conditional or loop found out decides where the walk continues. Raises `ToolFailure`."""
    if action.conditional is not None:
        condition = scope.variables.fill_record(action.conditional.condition)
        return {"holds": await holds(scope, condition)}
    if action.loop is not None:
        return {"items": await _rounds(scope, action.loop)}
    if action.assign is not None:
        scope.variables.assign(action.assign.variable, await _value(scope, action.assign))
    elif action.wait is not None:
        await wait(scope, scope.variables.fill_record(action.wait))
    elif action.input is not None:
        async with scope.settling():
            await _perform_input(scope, scope.variables.fill_json(action.input))
    elif action.method_call is not None:
        async with scope.settling():
            await _call_method(scope, scope.variables.fill_record(action.method_call))
    return {}


async def begin_round(scope: MacroScope, loop: LoopAction, number: int, items: Sequence[Item]) -> bool:
    """Whether a loop has this round, counted from 1; then its variables are set. Raises `ToolFailure`."""
    if loop.while_condition is None:
        if number > len(items):
            return False
        for ending, value in items[number - 1].items():
            scope.variables.assign(f"{loop.foreach.item_variable if loop.foreach else ''}{ending}", value)
        return True
    is_next = await holds(scope, scope.variables.fill_record(loop.while_condition))
    if is_next and number > MAX_ROUNDS:
        raise ToolFailure(f"The loop was stopped after {MAX_ROUNDS} rounds.")
    return is_next


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
        return [window for window in windows if fnmatch(window.title.casefold(), wanted)]
    return [window for window in windows if wanted in window.title.casefold()]


async def element_exists(scope: MacroScope, selector: str) -> bool:
    """Whether a visible element matches; False too if the application is not running."""
    try:
        _, found = await scope.find(selector)
    except ApplicationNotFound:
        return False
    return any(element.visible for element in found.matches)


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


async def _rounds(scope: MacroScope, loop: LoopAction) -> list[Item]:
    """The items of all rounds, collected before the first; none for a loop with a condition."""
    if loop.count is not None:
        if not 0 <= loop.count <= MAX_ROUNDS:
            raise ToolFailure(f"A loop has at most {MAX_ROUNDS} rounds.")
        return [{}] * loop.count
    items = await _items(scope, scope.variables.fill_record(loop.foreach)) if loop.foreach is not None else []
    if len(items) > MAX_ROUNDS:
        raise ToolFailure(f"The loop has {len(items)} items; at most {MAX_ROUNDS} are allowed.")
    return items


async def _items(scope: MacroScope, loop: ForEachLoop) -> list[Item]:
    if loop.element_selector is not None:
        return await _elements(scope, loop.element_selector)
    if loop.window_pattern is not None:
        found = matching_windows(await scope.backend.windows.list(), loop.window_pattern)
        return [{"": str(window.id), "_title": window.title} for window in found]
    return [{"": value} for value in read_values(loop.values or "")]


async def _elements(scope: MacroScope, selector: str) -> list[Item]:
    """Their ids, which stay bound to the elements that were found, with their names and roles."""
    _, found = await scope.find(selector)
    snapshot = scope.snapshots.add(found.tree)
    visible = [element for element in found.matches if element.visible]
    return [
        {"": snapshot.id_of(element), "_name": element.name, "_role": element.role} for element in visible
    ]


def read_values(text: str) -> list[str]:
    """A JSON list of texts or numbers, or texts separated by commas."""
    if not text.lstrip().startswith("["):
        return [value.strip() for value in text.split(",") if value.strip()]
    try:
        found = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ToolFailure(f"The values of the loop are not a valid list: {error}.") from None
    return [value if isinstance(value, str) else json.dumps(value) for value in found]


async def _value(scope: MacroScope, action: AssignAction) -> Value:
    if action.literal is not None:
        return scope.variables.fill(action.literal)
    if action.expression is not None:
        return evaluate(action.expression, scope.variables)
    if action.parameter is not None:
        if action.parameter not in scope.variables:
            raise unknown_variable(action.parameter, scope.variables)
        return scope.variables[action.parameter]
    if action.element_attribute is None:
        raise ToolFailure("An assignment needs a value.")
    wanted = scope.variables.fill_record(action.element_attribute)
    _, element = await scope.only_element(wanted.element_selector)
    return attribute(element, wanted.attribute)


async def _perform_input(scope: MacroScope, action: dict[str, Any]) -> None:
    """Refused unless it reaches the macro's application, if it runs in one."""
    owner = await scope.process() if scope.application else None

    async def place(position: Position) -> Aim:
        return await aim(scope.backend, scope.pictures, *point_of(position), application=owner)

    async def window() -> Window:
        return await scope.window()

    await perform(InputTarget(scope.backend, place, window), cast("InputAction", action))
    if "type_text" in action:
        await scope.typed(await scope.window(), action["type_text"]["text"])


async def _call_method(scope: MacroScope, call: MethodCall) -> None:
    name, args = method_name(call.method), call.args
    if name not in METHODS:
        hint = did_you_mean(name, [*METHODS, "execute_macro"])
        raise ToolFailure(f"A macro cannot call {call.method!r}.", hint)
    function, known = METHODS[name]
    for key in args:
        if key not in known:
            raise ToolFailure(f"{name} has no argument {key!r}.", f"It has: {', '.join(known)}.")
    await function(scope, args)


def method_name(method: str) -> str:
    """`ClickElement` and `click_element` are the same."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", method.strip()).casefold()


async def _target(scope: MacroScope, args: Args) -> tuple[int, Element]:
    """The element to act on; raises `ClickRefused` if it is behind a modal dialog."""
    process, element = await _named(scope, args)
    await check_element(scope.backend, process, element)
    return process, element


async def _named(scope: MacroScope, args: Args) -> tuple[int, Element]:
    if element := args.get("element") or args.get("element_id"):
        return await scope.element(element)
    if selector := args.get("selector"):
        patience = _number(args, "timeout", ELEMENT_PATIENCE)
        return await scope.only_element(selector, args.get("application", ""), patience)
    raise ToolFailure("Neither selector nor element is given.")


async def _click_element(scope: MacroScope, args: Args) -> None:
    word = (args.get("click") or args.get("click_type", "")).removeprefix("CLICK_TYPE_").casefold()
    if word not in _CLICKS:
        raise ToolFailure(f"A click is single, double or right, not {word!r}.")
    process, element = await _target(scope, args)
    await acting.click(scope.backend, process, element, _CLICKS[word])


async def _write_element_value(scope: MacroScope, args: Args) -> None:
    process, element = await _target(scope, args)
    outcome = await acting.write(scope.backend, process, element, _needed(args, "value"))
    if outcome.verified is False:
        now = "did not take" if outcome.value is None else f"contains {outcome.value[:200]!r} instead of"
        raise ToolFailure(f"The element {now} the value.")


async def _perform_element_action(scope: MacroScope, args: Args) -> None:
    _, element = await _target(scope, args)
    if not await scope.backend.accessibility.act(element.ref, _needed(args, "action")):
        offered = ", ".join(await scope.backend.accessibility.actions(element.ref))
        raise ToolFailure(f"The action {args['action']!r} failed.", f"Offered: {offered or 'none'}.")


async def _type_text(scope: MacroScope, args: Args) -> None:
    text = _needed(args, "text")
    window = await scope.window(args.get("application", ""))
    await scope.backend.input.type_text(text, window.id)
    await scope.typed(window, text)


async def _press_key(scope: MacroScope, args: Args) -> None:
    times = min(max(1, round(_number(args, "times", 1))), MAX_TIMES)
    modifiers = [modifier for modifier in args.get("modifiers", "").split(",") if modifier.strip()]
    chord = chord_of(_needed(args, "key"), modifiers)
    window = await scope.window(args.get("application", ""))
    await scope.backend.input.press(chord, window.id, times=times)


async def _click(scope: MacroScope, args: Args) -> None:
    count = round(_number(args, "click_count", 1))
    check_count(count)
    button = read_button(args.get("button"))
    await click_at(scope.backend, await _place(scope, args), button, count)


async def _drag(scope: MacroScope, args: Args) -> None:
    start, end = await _place(scope, args), await _place(scope, args, "to_x", "to_y")
    start.check()
    await drag_to(scope.backend, start, end.point, read_button(args.get("button")))


async def _scroll(scope: MacroScope, args: Args) -> None:
    place = await _place(scope, args)
    await scroll_at(scope.backend, place, _number(args, "down", 0.0), _number(args, "right", 0.0))


async def _place(scope: MacroScope, args: Args, x: str = "x", y: str = "y") -> Aim:
    """A place in the application's window, which is brought to the front."""
    window = await scope.window(args.get("application", ""))
    return await aim(scope.backend, scope.pictures, _number(args, x), _number(args, y), "window", window.id)


async def _focus_window(scope: MacroScope, args: Args) -> None:
    """A window that is being opened is waited for."""
    title = _needed(args, "window")
    if not title.isdecimal():
        patience = _number(args, "timeout", ELEMENT_PATIENCE)
        await wait(scope, WaitAction(condition=WaitCondition(window_title=title, timeout=patience)))
    window = choose_window(await scope.backend.windows.list(), title)
    if not window.active:
        await scope.backend.windows.focus(window.id)


async def _open_application(scope: MacroScope, args: Args) -> None:
    name = _needed(args, "id")
    command = await command_of(scope.backend, name)
    timeout = min(_number(args, "timeout", OPEN_PATIENCE), 60.0)
    if (await open_program(scope.backend, command, timeout)).window is None:
        raise ToolFailure(f"{name} was started but shows no window.")


_TARGET = ("selector", "element", "element_id", "application", "timeout")
METHODS: dict[str, tuple[Callable[[MacroScope, Args], Awaitable[None]], tuple[str, ...]]] = {
    "click_element": (_click_element, (*_TARGET, "click", "click_type")),
    "write_element_value": (_write_element_value, (*_TARGET, "value")),
    "perform_element_action": (_perform_element_action, (*_TARGET, "action")),
    "type_text": (_type_text, ("text", "application")),
    "press_key": (_press_key, ("key", "modifiers", "times", "application")),
    "click": (_click, ("x", "y", "button", "click_count", "application")),
    "drag": (_drag, ("x", "y", "to_x", "to_y", "button", "application")),
    "scroll": (_scroll, ("x", "y", "down", "right", "application")),
    "focus_window": (_focus_window, ("window", "timeout")),
    "open_application": (_open_application, ("id", "timeout")),
}
"""Functions and the arguments that they take."""


def _needed(args: Args, name: str) -> str:
    if name not in args:
        raise ToolFailure(f"The argument {name!r} is missing.")
    return args[name]


def _number(args: Args, name: str, default: float | None = None) -> float:
    text = args.get(name)
    if text is None and default is not None:
        return default
    try:
        return float(text or "")
    except ValueError:
        raise ToolFailure(f"The argument {name!r} must be a number.") from None
