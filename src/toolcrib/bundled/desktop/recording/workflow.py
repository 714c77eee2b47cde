"""A recording as a workflow, which the editor opens: `toolcrib workflow import` stores it. Decides the node
for each action, how often a click is retried, and what cannot be converted (drags).

Elements are clicked with the tools of the server `desktop`, tried again until they are there. Keys and clicks
at a place go to the window of the application, which is brought to the front first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from toolcrib.bundled.desktop.macros.actions import method_name
from toolcrib.bundled.desktop.macros.model import Macro, MacroAction, MacroParameter
from toolcrib.bundled.desktop.macros.store import COLLECTION, MacroStore
from toolcrib.bundled.desktop.macros.variables import PLACE, read_value
from toolcrib.bundled.desktop.recording.steps import SECRET
from toolcrib.bundled.desktop.resources import id_of
from toolcrib.graph.files import workflow_from, write_workflow
from toolcrib.schema.workflows import Workflow
from toolcrib.serverkit.context import ToolFailure

SERVER = "desktop"
PATIENCE = {"attempts": 10, "delay": 1.0, "factor": 1.0}
"""For an element or window that comes up late."""
Args = Mapping[str, str]
_TOOL_NAMES = {"application": "parent", "click": "click_type", "element": "element_id"}
"""Arguments of macros that the tools call otherwise."""


def export_workflow(name: str, home: Path | None) -> str:
    """The file of a stored macro as a workflow; raises `ToolFailure`."""
    return write_workflow(recorded_workflow(MacroStore.of_home(home).get(name)))


def recorded_workflow(macro: Macro) -> Workflow:
    """Raises `ToolFailure` for drags, and for actions that a recording does not have."""
    drawing = _Drawing()
    for action in macro.actions:
        drawing.add_action(action)
    return workflow_from(
        {
            "name": id_of(macro.name, COLLECTION),
            "description": macro.description or macro.display_name,
            "inputs": {parameter.key: _input(parameter) for parameter in macro.parameters},
            "nodes": drawing.nodes,
            "edges": [{"from": first, "to": second} for first, second in pairwise(drawing.nodes)],
        }
    )


class _Drawing:
    """The nodes so far, each of which leads to the next."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {}
        self._application = ""
        """The one whose window was brought to the front last."""

    def add_action(self, action: MacroAction) -> None:
        if action.wait is not None and action.wait.condition is None:
            self._add("Wait", seconds=action.wait.duration)
            return
        method = method_name(action.method_call.method) if action.method_call is not None else action.chosen
        if action.method_call is None or method not in _METHODS:
            hint = "Run it as a macro, or record it without that."
            raise ToolFailure(f"A workflow has no step for {method!r}.", hint)
        try:
            _METHODS[method](self, method, action.method_call.args)
        except KeyError as missing:
            raise ToolFailure(f"{method} has no {missing}, which a workflow needs.") from None

    def element(self, method: str, args: Args) -> None:
        given: dict[str, Any] = {_TOOL_NAMES.get(name, name): value for name, value in args.items()}
        if given.get("selector", "").startswith("{"):
            given["selector"] = json.loads(given["selector"])
        self.tool(method, given)

    def tool(self, method: str, args: Mapping[str, Any]) -> None:
        given = {name: _filled(value) for name, value in args.items() if name != "timeout"}
        self._add("McpToolCall", PATIENCE, tool=f"{SERVER}__{method}", arguments=given)

    def type_text(self, method: str, args: Args) -> None:
        self._focus(args)
        self._add("TypeText", text=_filled(args["text"]))

    def press_key(self, method: str, args: Args) -> None:
        self._focus(args)
        modifiers = {"modifiers": args["modifiers"].split(",")} if "modifiers" in args else {}
        times = {"extra": {"times": _number(args, "times")}} if "times" in args else {}
        self._add("PressKey", key=_filled(args["key"]), **modifiers, **times)

    def click(self, method: str, args: Args) -> None:
        count = {"click_count": _number(args, "click_count")} if "click_count" in args else {}
        button = {"button": args["button"]} if "button" in args else {}
        self._add("Click", **self._place(args), **button, **count)

    def scroll(self, method: str, args: Args) -> None:
        right = {"delta_x": _number(args, "right")} if args.get("right", "0") != "0" else {}
        self._add("Scroll", delta_y=_number(args, "down"), **self._place(args, **right))

    def focus_window(self, method: str, args: Args) -> None:
        self._add("FocusWindow", PATIENCE, method="window_id", value=_filled(args["window"]))

    def _place(self, args: Args, **extra: Any) -> dict[str, Any]:
        """In the window of the application, which gets the focus, whichever had it."""
        self._application = ""
        window = self._focus({"application": args["application"]})
        inside = {"space": "window", "reference": f"{{{{{window}.window}}}}", **extra}
        return {"x": _number(args, "x"), "y": _number(args, "y"), "extra": inside}

    def _focus(self, args: Args) -> str:
        """Bring the application's window to the front, unless that was the last one."""
        application = _filled(args.get("application", ""))
        if not application or application == self._application:
            return ""
        self._application = application
        return self._add("FocusWindow", PATIENCE, value=application)

    def _add(self, node_type: str, retry: Mapping[str, float] | None = None, /, **settings: Any) -> str:
        called = str(settings.get("tool", node_type)).removeprefix(f"{SERVER}__")
        word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", called).lower()
        node = f"{word}_{sum(known.rpartition('_')[0] == word for known in self.nodes) + 1}"
        self.nodes[node] = {"type": node_type, "settings": settings, "retry": retry}
        return node


_METHODS: Mapping[str, Callable[[_Drawing, str, Args], None]] = {
    "click_element": _Drawing.element,
    "write_element_value": _Drawing.element,
    "perform_element_action": _Drawing.element,
    "type_text": _Drawing.type_text,
    "press_key": _Drawing.press_key,
    "click": _Drawing.click,
    "scroll": _Drawing.scroll,
    "focus_window": _Drawing.focus_window,
    "open_application": _Drawing.tool,
}


def _input(parameter: MacroParameter) -> dict[str, Any]:
    return {
        "type": parameter.type if parameter.type in ("integer", "boolean") else "string",
        "description": parameter.description,
        "required": parameter.required,
        "default": read_value(parameter, None) if parameter.default_value else None,
        "secret": parameter.required and parameter.key.startswith(f"{SECRET}_"),
    }


def _filled(value: Any) -> Any:
    """With the parameters of the macro as references to the inputs of the workflow."""
    if isinstance(value, Mapping):
        return {key: _filled(entry) for key, entry in value.items()}
    if not isinstance(value, str):
        return value
    made = literal = ""
    for place, part in enumerate(PLACE.split(value)):
        if place % 2 and part is not None:
            made, literal = f"{made}{_literal(literal)}{{{{input.{part}}}}}", ""
        else:
            literal += "${" if part is None else part
    return made + _literal(literal)


def _literal(text: str) -> str:
    return text.replace("{{", r"\{{")


def _number(args: Args, name: str) -> Any:
    """A number, or the reference that leads to it."""
    value = _filled(args.get(name, "0"))
    return value if "{{" in value else json.loads(value)
