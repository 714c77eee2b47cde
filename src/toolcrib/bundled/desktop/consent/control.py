"""What a call of a tool would act on, and whether the user has approved that. Has the lists of terminals and
interpreters that need approval each time, the labels and picture of the question, and when one approval
covers more calls.

Calls for the same purpose in the same window need one approval. Tools without a purpose either only look, or
are approved like any other tool.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from toolcrib.bundled.desktop.backend import Backend, Element, Screenshot, Window
from toolcrib.bundled.desktop.consent.stop import InputStopped, StopKey, StopSwitch, release_all
from toolcrib.bundled.desktop.coordinates import to_screen
from toolcrib.bundled.desktop.elements.search import search
from toolcrib.bundled.desktop.elements.selector import parse_selector
from toolcrib.bundled.desktop.failures import TargetChanged
from toolcrib.bundled.desktop.geometry import Point, Rect, Space
from toolcrib.bundled.desktop.live import LiveView
from toolcrib.bundled.desktop.macros.model import Macro
from toolcrib.bundled.desktop.macros.store import MacroStore
from toolcrib.bundled.desktop.pictures import encode
from toolcrib.bundled.desktop.records import write_record
from toolcrib.bundled.desktop.session import DesktopSession, approved_window
from toolcrib.bundled.desktop.window_lookup import choose_application, choose_window, window_at
from toolcrib.serverkit.caller_context import call_id
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.functions import FunctionTool
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.threads import in_thread

Kind = Literal["window", "program", "application", "clipboard", "macro", "each"]
"""What the approval is for: a window, a program to start, a running application, the clipboard, one run of a
macro, or one call."""

MARK = 16
"""Pixels on each side of a point that is marked."""
_ELEMENT = ("element", "element_id")
_WINDOW = ("window", "window_id")
_APPLICATION = ("application", "parent", "app_name", "pid")
Arguments = Mapping[str, Any]

FOCUS_TIMEOUT = 1.0
HIDDEN_TEXT = "A field for passwords needs approval each time."
TERMINAL = "A terminal can run any command, so it needs approval each time."
OWN_PAGE = "This window shows Toolcrib itself, so it needs approval each time."
PROGRAM = "This program can run any command, so it needs approval each time."
# fmt: off
TERMINALS = frozenset({
    "alacritty", "contour", "cool-retro-term", "deepin-terminal", "foot", "ghostty", "gnome-terminal",
    "gnome-terminal-server", "guake", "hyper", "kgx", "kitty", "konsole", "lxterminal",
    "mate-terminal", "ptyxis", "qterminal", "rio", "sakura", "st", "st-256color", "tabby",
    "terminator", "terminology", "tilda", "tilix", "urxvt", "uxterm", "wezterm", "wezterm-gui",
    "x-terminal-emulator", "xfce4-terminal", "xterm", "yakuake",
})
INTERPRETERS = frozenset({
    "ash", "bash", "bun", "busybox", "dash", "deno", "env", "expect", "fish", "ksh", "lua", "node",
    "nohup", "perl", "pkexec", "python", "python3", "ruby", "screen", "setsid", "sh", "ssh", "su",
    "sudo", "systemd-run", "tclsh", "tmux", "xargs", "zsh",
})
# fmt: on

LONGEST_SIDE = 960
"""Pixels of the picture in a question."""
MARGIN = 2
_DETAILS = ("button", "click_type", "click_count", "delta_x", "delta_y")


@dataclass(frozen=True)
class Purpose:
    kind: Kind
    action: str
    """For the preview: `click`, `type` …"""
    label: str
    """What an approval allows; `{target}` is the window, program or application."""
    shown: str = ""
    """The argument whose text the preview shows: what will be typed."""
    points: bool = False
    """Its coordinates are a place on the screen, not a new place of a window."""
    types: bool = False
    """Its keys go to the focused field, whatever that is."""


def _control(action: str, shown: str = "", *, points: bool = False, types: bool = False) -> Purpose:
    return Purpose("window", action, "Control the window {target}", shown, points, types)


_OPEN = Purpose("program", "open", "Open {target}")
_END = Purpose("application", "end", "Close the application {target}")
_READ = Purpose("clipboard", "read_clipboard", "Read the clipboard")
_WRITE = Purpose("clipboard", "write_clipboard", "Change the clipboard", "text")
_SCRIPT = Purpose("each", "script", "Run this script", "script")

PURPOSES: dict[str, Purpose] = {
    "click": _control("click", points=True),
    "click_element": _control("click"),
    "scroll": _control("scroll", points=True),
    "drag": _control("drag", points=True),
    "type_text": _control("type", "text", types=True),
    "press_key": _control("press", types=True),
    "write_element_value": _control("fill", "value"),
    "perform_element_action": _control("act", "action"),
    "create_input": _control("act", points=True, types=True),
    "focus_window": _control("window"),
    "move_window": _control("window"),
    "resize_window": _control("window"),
    "minimize_window": _control("window"),
    "restore_window": _control("window"),
    "close_window": _control("close"),
    "open_application": _OPEN,
    "delete_application": _END,
    "get_clipboard": _READ,
    "get_clipboard_history": _READ,
    "write_clipboard": _WRITE,
    "clear_clipboard": _WRITE,
    "execute_macro": Purpose("macro", "macro", "Run this macro"),
    "execute_apple_script": _SCRIPT,
    "execute_javascript": _SCRIPT,
    "execute_shell_command": Purpose("each", "script", "Run this command", "command"),
}


@dataclass(frozen=True)
class Target:
    window: Window
    element: Element | None = None
    at: Point | None = None

    @property
    def rect(self) -> Rect | None:
        """The part of the screen that is meant; None for the whole window."""
        if self.element is not None and self.element.rect is not None:
            return self.element.rect
        return None if self.at is None else Rect(self.at.x, self.at.y, 0, 0).grown(MARK)


async def find_target(
    session: DesktopSession, backend: Backend, purpose: Purpose, given: Arguments
) -> Target:
    """The window, and the element or point in it; raises `ToolFailure` if it is not clear."""
    windows = await backend.windows.list()
    element = _first(given, _ELEMENT) or _nested_element(given.get("input"))
    if element is not None:
        name = str(element).rpartition("/")[2]
        snapshot, found = await session.snapshots.resolve(backend, name)
        return await _around(backend, windows, snapshot.tree.application, found)
    if given.get("selector") is not None:
        process = await choose_application(backend, _application(given))
        return await _around(backend, windows, process, await _select(backend, process, given["selector"]))
    if purpose.points:
        at = await _point(session, backend, given)
        if at is not None:
            return Target(_at(windows, at), at=at)
    return Target(await _find_window(backend, given, windows))


async def _find_window(backend: Backend, given: Arguments, windows: Sequence[Window]) -> Window:
    """The window that is named, that of the application that is named, or the active one."""
    named, application = _first(given, _WINDOW), _application(given)
    if named is None and (application is None or "/windows/" in str(given.get("name"))):
        named = given.get("name")
    if named is not None:
        return choose_window(windows, named)
    if application is not None:
        return _main(windows, await choose_application(backend, application))
    active = next((window for window in windows if window.active), None)
    if active is None:
        raise ToolFailure("No window is active.")
    return active


def _first(given: Arguments, names: Sequence[str]) -> Any:
    return next((given[name] for name in names if given.get(name) is not None), None)


def _application(given: Arguments) -> str | None:
    named = _first(given, _APPLICATION)
    return None if named is None or str(named).strip() in ("", "applications/-") else str(named)


def _main(windows: Sequence[Window], process: int) -> Window:
    """The active window of an application, else its topmost."""
    own = [window for window in windows if window.application == process]
    if not own:
        raise ToolFailure(f"The application {process} shows no window.")
    return next((window for window in own if window.active), max(own, key=lambda window: window.level))


def _at(windows: Sequence[Window], at: Point) -> Window:
    there = window_at(windows, at)
    if there is None:
        raise ToolFailure(f"No window is at {at.x},{at.y}.")
    return there


async def _around(backend: Backend, windows: Sequence[Window], process: int, element: Element) -> Target:
    """The window of the application that shows the element."""
    if element.rect is None:
        places = await backend.accessibility.rects([element.ref])
        element = dataclasses.replace(element, rect=places.get(element.ref))
    own = [window for window in windows if window.application == process]
    over = window_at(own, element.rect.centre) if element.rect is not None else None
    return Target(over or _main(windows, process), element)


async def _select(backend: Backend, process: int, selector: Any) -> Element:
    result = await search(backend, process, parse_selector(selector))
    found = result.meant
    if len(found) != 1:
        raise ToolFailure(f"{len(found) or 'No'} elements match the selector.")
    return found[0]


async def _point(session: DesktopSession, backend: Backend, given: Arguments) -> Point | None:
    place = _position(given)
    if place is None:
        return None
    space = cast("Space", given.get("space") or "screen")
    return await to_screen(backend, session.pictures, *place, space, given.get("reference"))


def _nested_element(given: Any) -> str | None:
    """The first element in the positions of an input action."""
    if not isinstance(given, Mapping):
        return None
    if isinstance(given.get("element"), str):
        return str(given["element"])
    return next((found for value in given.values() if (found := _nested_element(value)) is not None), None)


def _position(given: Any) -> tuple[float, float] | None:
    """The first position in the arguments, also in nested ones such as `{"click": {"position": …}}`."""
    if not isinstance(given, Mapping):
        return None
    x, y = given.get("x"), given.get("y")
    if isinstance(x, int | float) and isinstance(y, int | float):
        return float(x), float(y)
    return next((found for value in given.values() if (found := _position(value)) is not None), None)


async def why_each_time(backend: Backend, purpose: Purpose, target: Target) -> str:
    """Why this target needs approval each time; empty if it does not."""
    reason = of_target(target)
    if reason or target.element is not None:
        return reason
    if not purpose.types or target.window.application is None:
        return ""
    focused = await _focused(backend, target.window.application)
    return "" if focused is None else _of_role(focused.role)


def of_target(target: Target) -> str:
    """The same, without a look at the field that would receive keys."""
    reason = of_window(target.window)
    return reason if reason or target.element is None else _of_role(target.element.role)


def of_window(window: Window) -> str:
    """Titles and classes can be chosen freely, but here that only leads to more questions."""
    if window.window_class.casefold() in TERMINALS:
        return TERMINAL
    return OWN_PAGE if "toolcrib" in window.title.casefold() else ""


def of_program(name: str) -> str:
    program = name.strip().rpartition("/")[2].casefold().removesuffix(".desktop").rpartition(".")[2]
    return PROGRAM if program in TERMINALS | INTERPRETERS else ""


def _of_role(role: str) -> str:
    return {"password text": HIDDEN_TEXT, "terminal": TERMINAL}.get(role, "")


async def _focused(backend: Backend, application: int) -> Element | None:
    """The field that would receive keys; None if the application does not tell."""
    try:
        tree = await backend.accessibility.tree(application, FOCUS_TIMEOUT)
    except ToolFailure:
        return None
    return next((element for element in tree.elements if "focused" in element.states), None)


KEPT = 256
"""Calls that were asked about and have not run yet."""
LONGEST_NAME = 80
MACRO = "A macro can do several things, so it needs approval each time."


@dataclass(frozen=True)
class _Scope:
    key: str
    label: str
    reason: str = ""
    target: Target | None = None

    def as_json(self) -> dict[str, str]:
        return {"key": "" if self.reason else self.key, "label": self.label, "reason": self.reason}


class Scopes:
    """The scopes of one server's calls; `epoch` changes when all approvals end."""

    def __init__(self, session: DesktopSession) -> None:
        self._session = session
        self._asked: OrderedDict[str, tuple[str, _Scope]] = OrderedDict()
        """By the id of the call: the call itself, and its scope."""
        self._desktop: Backend | None = None
        self.epoch = 0

    def end_all(self) -> None:
        """Have everything asked again."""
        self.epoch += 1
        self._asked.clear()

    async def scope(self, tool: str, given: Mapping[str, Any]) -> dict[str, str]:
        """For the approval of a call; raises `ToolFailure` if the target is not clear."""
        found = await self._find(PURPOSES[tool], given)
        call = call_id.get()
        if call is not None:
            self._asked[call] = (_call(tool, given), found)
        while len(self._asked) > KEPT:
            self._asked.popitem(last=False)
        return found.as_json()

    def target(self, tool: str, given: Mapping[str, Any]) -> Target | None:
        """What the approval of the call being described is about; None if that is not known."""
        call, scope = self._asked.get(call_id.get() or "", ("", None))
        return scope.target if scope is not None and call == _call(tool, given) else None

    async def verify(self, tool: str, given: Mapping[str, Any]) -> None:
        """Raises `TargetChanged` if the call would act on something else than the user was asked about.

        Calls without an id pass: then no approval was needed. One with an id whose scope is not known was
        asked about while its target was not clear, or before all approvals ended.
        """
        approved_window.set(None)
        call = call_id.get()
        if call is None:
            return
        made, asked = self._asked.pop(call, ("", None))
        if asked is None or made != _call(tool, given):
            raise TargetChanged(
                "It is not known what the user was asked about, so nothing was done.",
                "Look at the windows again, and call the tool again.",
            )
        if PURPOSES[tool].kind not in ("window", "application", "macro"):
            return
        now = await self._find(PURPOSES[tool], given, focused=False)
        if now.key == asked.key and (asked.reason or not now.reason):
            approved_window.set(asked.target.window.id if asked.target is not None else None)
            return
        raise TargetChanged(
            "The window, application or macro changed after the user was asked, so nothing was done.",
            "Look at the windows again, and call the tool with the window that you mean.",
        )

    async def _find(self, purpose: Purpose, given: Mapping[str, Any], *, focused: bool = True) -> _Scope:
        """With `focused`, also by the field that would receive keys, which takes longer."""
        if purpose.kind == "clipboard":
            return _Scope(self._key(purpose.action), purpose.label)
        if purpose.kind == "program":
            return self._program(purpose, given)
        if purpose.kind == "each":
            return _Scope("", purpose.label)
        if purpose.kind == "macro":  # it may run others
            stored = await in_thread(MacroStore.of_home(self._session.settings.home).all)
            return _Scope(self._key("macro", [steps_of(macro) for macro in stored]), purpose.label, MACRO)
        backend = await self._backend()
        if purpose.kind == "application":
            named = given.get("name") or given.get("application")
            process = await choose_application(backend, None if named is None else str(named))
            name = await application_name(backend, process)
            return _Scope(self._key(purpose.action, process), purpose.label.format(target=name))
        target = await find_target(self._session, backend, purpose, given)
        reason = await why_each_time(backend, purpose, target) if focused else of_target(target)
        key = self._key("control", target.window.application, target.window.id)
        label = purpose.label.format(target=window_name(target.window))
        return _Scope(key, label, reason, target)

    def _program(self, purpose: Purpose, given: Mapping[str, Any]) -> _Scope:
        name = str(given.get("id") or given.get("name") or "").removeprefix("applications/").strip()
        command = " ".join([name, *map(str, given.get("arguments") or ())])
        label = purpose.label.format(target=command[: LONGEST_NAME * 3])
        return _Scope(self._key("open", command), label, of_program(name))

    async def _backend(self) -> Backend:
        backend = await self._session.backend()
        if backend is not self._desktop:  # ids of windows are given out again after a restart
            self._desktop, self.epoch = backend, self.epoch + 1
        return backend

    def _key(self, *parts: object) -> str:
        return json.dumps([self.epoch, *parts])


def steps_of(macro: Macro) -> str:
    """What a macro does, in full: its own descriptions could say something else."""
    return json.dumps([macro.name, write_record(macro)["actions"]], ensure_ascii=False, default=str)


def window_name(window: Window) -> str:
    title = window.title if len(window.title) <= LONGEST_NAME else f"{window.title[:LONGEST_NAME]}…"
    return f"“{title}” ({window.window_class or window.application})"


async def application_name(backend: Backend, process: int) -> str:
    listed = await backend.applications.list()
    return next((application.name for application in listed if application.id == process), str(process))


def _call(tool: str, given: Mapping[str, Any]) -> str:
    return json.dumps([tool, dict(given)], sort_keys=True, default=str)


async def preview(
    session: DesktopSession, tool: str, given: Mapping[str, Any], asked: Target | None = None
) -> dict[str, Any]:
    """What the question shows; without a picture if none can be taken. `asked` is what it is about."""
    purpose = PURPOSES[tool]
    shown: dict[str, Any] = {"kind": "screen", "action": purpose.action, "text": _text(purpose, given)}
    if purpose.kind == "macro":
        found = await in_thread(MacroStore.of_home(session.settings.home).get, str(given.get("macro")))
        shown["text"] = json.dumps(write_record(found)["actions"], ensure_ascii=False, indent=1)
    if purpose.kind != "window":
        return shown
    backend = await session.backend()
    target = asked or await find_target(session, backend, purpose, given)
    shown |= {"title": target.window.title, "application": target.window.window_class}
    if target.element is not None:
        name = target.element.name
        shown["element"] = f"{target.element.role} “{name}”" if name else target.element.role
    try:
        return {**shown, **await _picture(backend, target)}
    except ToolFailure:  # it is minimised or has just closed; the words still say which window it is
        return shown


async def _picture(backend: Backend, target: Target) -> dict[str, Any]:
    taken = await backend.capture.window(target.window.id)
    picture = await in_thread(encode, taken, "jpeg", LONGEST_SIDE)
    place = _place(taken, target.rect, picture.space.scale)
    return {
        "picture": base64.b64encode(picture.image.data).decode(),
        "width": picture.width,
        "height": picture.height,
        **({} if place is None else {"target": place}),
    }


def _place(taken: Screenshot, rect: Rect | None, scale: float) -> dict[str, int] | None:
    """The target in pixels of the picture; None if it is outside."""
    if rect is None:
        return None
    height, width = taken.pixels.shape[:2]
    inside = rect.moved(-taken.origin.x, -taken.origin.y).intersection(Rect(0, 0, width, height))
    if inside.is_empty:
        return None
    return {
        "x": round(inside.x * scale) - MARGIN,
        "y": round(inside.y * scale) - MARGIN,
        "width": round(inside.width * scale) + 2 * MARGIN,
        "height": round(inside.height * scale) + 2 * MARGIN,
    }


def _text(purpose: Purpose, given: Mapping[str, Any]) -> str:
    """What will be typed or pressed, or the details of a click."""
    if purpose.action == "press":
        keys = "+".join([*map(str, given.get("modifiers") or ()), str(given.get("key") or "")])
        times = given.get("times") or 1
        return keys if times == 1 else f"{keys}, {times} times"
    if purpose.shown:
        return str(given.get(purpose.shown) or "")
    details = {name: given[name] for name in _DETAILS if given.get(name) not in (None, "")}
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in details.items())


class Control:
    """What the user decides about one desktop."""

    def __init__(self, session: DesktopSession, name: str, stop_key: str) -> None:
        self.session = session
        self.scopes = Scopes(session)
        self.switch = StopSwitch(name)
        self.switch.on_stop = self._stopped
        self.key = StopKey(session, stop_key, self.switch.stop)
        self.live = LiveView(session, self.switch, self.key)

    def govern(self, server: ToolServer) -> None:
        """Have every tool that acts pass the stop switch, and those with a purpose say what they act on."""
        for name, tool in server.tools.items():
            if not isinstance(tool, FunctionTool):
                continue
            if name in PURPOSES:
                tool.scope_by(functools.partial(_scope, self, name))
                tool.preview_function = functools.partial(_preview, self, name)
            if not tool.definition["annotations"]["readOnlyHint"]:
                tool.function = self._guarded(name, tool.function)
        server.host_methods.update(self.live.methods)
        server.at_close(self.key.close)

    def _guarded(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        async def guarded(**given: Any) -> Any:
            return await self.switch.run(self._act(name, function, given))

        return guarded

    async def _act(self, name: str, function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
        context = next((value for value in given.values() if isinstance(value, ToolContext)), None)
        if name in PURPOSES:
            await self.key.listen(context)
            plain = {key: value for key, value in given.items() if value is not context}
            await self.scopes.verify(name, plain)
        return await function(**given)

    def _stopped(self) -> None:
        self.scopes.end_all()
        self.live.changed()
        if self.session.opened is not None:
            release_all(self.session.opened)


async def _scope(control: Control, tool: str, /, **given: Any) -> dict[str, str]:
    if control.switch.stopped_by:
        stopped = InputStopped(control.switch.name)
        return {"key": "", "label": tool, "refusal": f"{stopped.message} {stopped.hint}"}
    try:
        return await control.scopes.scope(tool, given)
    except ToolFailure as failure:  # an answer would be about nothing that can be named
        return {"key": "", "label": tool, "refusal": f"{failure.message} {failure.hint}".strip()}


async def _preview(control: Control, tool: str, /, **given: Any) -> dict[str, Any]:
    return await preview(control.session, tool, given, control.scopes.target(tool, given))
