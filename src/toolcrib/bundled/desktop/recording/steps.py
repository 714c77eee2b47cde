"""Turns recorded input into the actions of a macro: joins characters, repeated keys and double clicks.
Decides which pauses become a wait, the longest text and the most steps."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from typing import Any

from toolcrib.bundled.desktop.geometry import Point
from toolcrib.bundled.desktop.macros.model import Macro, MacroAction, MacroParameter, MethodCall, WaitAction

DOUBLE_CLICK = 500
"""Milliseconds between the clicks of a double click."""
NEARBY = 6
SHORTEST_PAUSE, LONGEST_PAUSE = 150, 1000
"""Milliseconds that are worth a wait, and the longest one."""
MAX_TEXT = 10_000
MAX_STEPS = 900

WAIT = "wait"
SECRET = "secret"  # noqa: S105
"""In a step: the parameter that stands for its text."""

Args = dict[str, str]


class StepList:
    """The actions so far."""

    def __init__(self) -> None:
        self._steps: list[tuple[str, Args]] = []
        self._parameters: list[MacroParameter] = []
        self._applications: dict[str, str] = {}
        self._last_click: tuple[Point, int] | None = None
        self._is_open = False
        """Whether the last step is text that further characters join."""

    @property
    def is_full(self) -> bool:
        return len(self._steps) >= MAX_STEPS

    def is_separate(self, text: str) -> bool:
        """Whether a key makes a step of its own; text joins text."""
        return not (self._is_open and text)

    def click(self, application: str, target: Mapping[str, str], button: int, at: Point, time: int) -> None:
        """On an element by its selector, or at a place in a window."""
        method = "click_element" if "selector" in target else "click"
        args = {**target, "application": self._variable(application)}
        if button == 3:
            args["click" if method == "click_element" else "button"] = "right"
        if self._is_second(method, args, at, time):
            self._steps[-1][1]["click" if method == "click_element" else "click_count"] = (
                "double" if method == "click_element" else "2"
            )
            self._last_click = None
            return
        self._add(method, args)
        self._last_click = at, time

    def drag(self, application: str, start: Point, end: Point) -> None:
        """Places are those in the window."""
        places = {"x": start.x, "y": start.y, "to_x": end.x, "to_y": end.y}
        args = {name: str(value) for name, value in places.items()}
        self._add("drag", {**args, "application": self._variable(application)})

    def scroll(self, application: str, at: Point, down: int, right: int) -> None:
        args = {"x": str(at.x), "y": str(at.y), "application": self._variable(application)}
        last = self._steps[-1] if self._steps else None
        if last is not None and last[0] == "scroll" and args.items() <= last[1].items():
            last[1]["down"] = str(int(last[1]["down"]) + down)
            last[1]["right"] = str(int(last[1]["right"]) + right)
            return
        self._add("scroll", {**args, "down": str(down), "right": str(right)})

    def text(self, application: str, characters: str) -> None:
        variable = self._variable(application)
        if self._is_open and self._steps[-1][1]["application"] == variable:
            joined = _composed(self._steps[-1][1]["text"], characters)
            if len(joined) <= MAX_TEXT:
                self._steps[-1][1]["text"] = joined
                return
        self._add("type_text", {"text": characters, "application": variable})
        self._is_open = True

    def secret(self, application: str) -> None:
        """Text that is not recorded; the macro asks for it as a parameter."""
        variable = self._variable(application)
        last = self._steps[-1] if self._steps else None
        if last is not None and SECRET in last[1]:
            return
        key = f"secret_{sum(parameter.key.startswith('secret_') for parameter in self._parameters) + 1}"
        about = "Text that was not recorded because it may be a password."
        self._parameters.append(MacroParameter(key, description=about, required=True))
        self._add("type_text", {SECRET: key, "application": variable})

    def key(self, application: str, key: str, modifiers: tuple[str, ...]) -> None:
        if key == "backspace" and not modifiers and self._is_open:
            self._erase()
            return
        args = {"key": key, "application": self._variable(application)}
        if modifiers:
            args["modifiers"] = ",".join(modifiers)
        last = self._steps[-1] if self._steps else None
        if last is not None and last[0] == "press_key" and args.items() <= last[1].items():
            last[1]["times"] = str(min(100, int(last[1].get("times", "1")) + 1))
            return
        self._add("press_key", args)

    def pause(self, milliseconds: int) -> None:
        """The user waited; programs may need that time before they handle the next key."""
        if milliseconds >= SHORTEST_PAUSE and self._steps and self._steps[-1][0] != WAIT:
            self._add(WAIT, {"duration": f"{min(milliseconds, LONGEST_PAUSE) / 1000:.1f}"})

    def window(self, title: str) -> None:
        """A window came up and has the keys now; on replay it is waited for."""
        self._add("focus_window", {"window": escaped(title)})

    def macro(self, display_name: str, description: str = "") -> Macro:
        actions = tuple(_action(method, args) for method, args in self._steps)
        parameters = [
            MacroParameter(variable, default_value=name, description="The application's name or id.")
            for name, variable in self._applications.items()
        ]
        return Macro(
            display_name, actions, description=description, parameters=(*parameters, *self._parameters)
        )

    def _add(self, method: str, args: Args) -> None:
        self._is_open = False
        self._last_click = None
        self._steps.append((method, args))

    def _variable(self, application: str) -> str:
        if application not in self._applications:
            number = len(self._applications) + 1
            self._applications[application] = "application" if number == 1 else f"application_{number}"
        return f"${{{self._applications[application]}}}"

    def _is_second(self, method: str, args: Args, at: Point, time: int) -> bool:
        if self._last_click is None or not self._steps or self._steps[-1] != (method, args):
            return False
        point, before = self._last_click
        is_near = abs(point.x - at.x) <= NEARBY and abs(point.y - at.y) <= NEARBY
        return is_near and 0 <= time - before <= DOUBLE_CLICK

    def _erase(self) -> None:
        """Take back the last character that was typed."""
        text = self._steps[-1][1]["text"][:-1]
        self._steps[-1][1]["text"] = text
        if not text:
            self._steps.pop()
            self._is_open = False


def selector_text(selector: dict[str, Any]) -> str:
    """A selector as an argument of a macro."""
    return escaped(json.dumps(selector, ensure_ascii=False))


def escaped(text: str) -> str:
    """Text in which a macro substitutes nothing."""
    return text.replace("${", "$${")


def _action(method: str, args: Args) -> MacroAction:
    if method == WAIT:
        return MacroAction(wait=WaitAction(float(args["duration"])))
    return MacroAction(method_call=MethodCall(method, _finished(args)))


def _finished(args: Args) -> Args:
    """What was typed can only be escaped as a whole."""
    if SECRET in args:
        return {"text": f"${{{args[SECRET]}}}", "application": args["application"]}
    return {**args, "text": escaped(args["text"])} if "text" in args else dict(args)


def _composed(text: str, more: str) -> str:
    """An accent that was typed before its letter is joined with it."""
    if text and unicodedata.combining(text[-1]) and more:
        return text[:-1] + unicodedata.normalize("NFC", more[0] + text[-1]) + more[1:]
    return text + more
