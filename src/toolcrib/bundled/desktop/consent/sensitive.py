"""Targets that need approval each time: password fields, terminals, and Toolcrib's own page."""

from __future__ import annotations

from toolcrib.bundled.desktop.backend import Backend, Element, Window
from toolcrib.bundled.desktop.consent.purposes import Purpose
from toolcrib.bundled.desktop.consent.targets import Target
from toolcrib.serverkit.context import ToolFailure

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
