"""The methods that a macro can call, each as its tool does it; arguments are texts.

Scripts and the management of macros are not among them: approving a macro must not approve more than it
shows.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping

from toolcrib.bundled.desktop.aiming import Aim, aim, check_count, click_at, drag_to, read_button, scroll_at
from toolcrib.bundled.desktop.backend import Element
from toolcrib.bundled.desktop.choosing import choose_window
from toolcrib.bundled.desktop.desktop_entries import command_of
from toolcrib.bundled.desktop.elements import acting
from toolcrib.bundled.desktop.elements.pointing import ClickKind
from toolcrib.bundled.desktop.keys import chord_of
from toolcrib.bundled.desktop.macros.conditions import wait
from toolcrib.bundled.desktop.macros.inputs import press_keys, type_text
from toolcrib.bundled.desktop.macros.model import WaitAction, WaitCondition
from toolcrib.bundled.desktop.macros.scope import ELEMENT_PATIENCE, MacroScope
from toolcrib.bundled.desktop.modality import check_element
from toolcrib.bundled.desktop.opening import open_program
from toolcrib.serverkit.context import ToolFailure
from toolcrib.suggestions import did_you_mean

Args = Mapping[str, str]
OPEN_PATIENCE = 15.0
MAX_TIMES = 100
_CLICKS: dict[str, ClickKind] = {"": "single", "single": "single", "double": "double", "right": "right"}


async def call_method(scope: MacroScope, method: str, args: Args) -> None:
    """`ClickElement` and `click_element` are the same. Raises `ToolFailure`."""
    name = method_name(method)
    if name not in METHODS:
        raise ToolFailure(f"A macro cannot call {method!r}.", did_you_mean(name, [*METHODS, "execute_macro"]))
    function, known = METHODS[name]
    for key in args:
        if key not in known:
            raise ToolFailure(f"{name} has no argument {key!r}.", f"It has: {', '.join(known)}.")
    await function(scope, args)


def method_name(method: str) -> str:
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
    await type_text(scope, _needed(args, "text"), args.get("application", ""))


async def _press_key(scope: MacroScope, args: Args) -> None:
    times = min(max(1, round(_number(args, "times", 1))), MAX_TIMES)
    modifiers = [each for each in args.get("modifiers", "").split(",") if each.strip()]
    chord = chord_of(_needed(args, "key"), modifiers)
    await press_keys(scope, chord, args.get("application", ""), times)


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
