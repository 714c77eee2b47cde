"""What a call acts on, for its approval; and whether that is still so when the call runs."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.bundled.desktop.backend import Backend, Element, Window
from toolcrib.bundled.desktop.choosing import choose_application
from toolcrib.bundled.desktop.consent.purposes import PURPOSES, Purpose
from toolcrib.bundled.desktop.consent.targets import Target, find_target
from toolcrib.bundled.desktop.failures import TargetChanged
from toolcrib.bundled.desktop.macros.model import Macro, macro_json
from toolcrib.bundled.desktop.macros.store import MacroStore
from toolcrib.bundled.desktop.session import DesktopSession, approved_window
from toolcrib.serverkit.caller_context import call_id
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.threads import in_thread

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
    return next((each for each in tree.elements if "focused" in each.states), None)


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
            return _Scope(self._key("macro", [steps_of(each) for each in stored]), purpose.label, MACRO)
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
    return json.dumps([macro.name, macro_json(macro)["actions"]], ensure_ascii=False, default=str)


def window_name(window: Window) -> str:
    title = window.title if len(window.title) <= LONGEST_NAME else f"{window.title[:LONGEST_NAME]}…"
    return f"“{title}” ({window.window_class or window.application})"


async def application_name(backend: Backend, process: int) -> str:
    listed = await backend.applications.list()
    return next((each.name for each in listed if each.id == process), str(process))


def _call(tool: str, given: Mapping[str, Any]) -> str:
    return json.dumps([tool, dict(given)], sort_keys=True, default=str)
