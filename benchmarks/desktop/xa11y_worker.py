"""A minimal tool server around xa11y, which is a library: one tool for each of its operations.

Runs in xa11y's own environment, so it imports nothing of ours.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import xa11y

PATIENCE = 10.0


def target(pid: int, selector: str) -> Any:
    """Waited for, as its own examples do."""
    locator = xa11y.App.by_pid(pid, timeout=PATIENCE).locator(selector)
    locator.wait_attached(timeout=PATIENCE)
    return locator


def dump(pid: int) -> str:
    return str(xa11y.App.by_pid(pid, timeout=PATIENCE).dump())


def pid_of(title: str) -> str:
    """The process of the application with this window."""
    for app in xa11y.App.list():
        if any(title in (window.name or "") for window in app.windows()):
            return str(app.pid)
    return ""


def press(pid: int, selector: str) -> None:
    target(pid, selector).press()


def toggle(pid: int, selector: str) -> None:
    target(pid, selector).toggle()


def focus(pid: int, selector: str) -> None:
    target(pid, selector).focus()


def select(pid: int, selector: str) -> None:
    target(pid, selector).select()


def set_value(pid: int, selector: str, value: str) -> None:
    target(pid, selector).set_value(value)


def set_number(pid: int, selector: str, value: float) -> None:
    target(pid, selector).set_numeric_value(value)


def click(pid: int, selector: str) -> None:
    xa11y.input_sim().click(target(pid, selector).element())


def click_at(x: int, y: int) -> None:
    xa11y.input_sim().click((x, y))


def activate(pid: int) -> None:
    target(pid, "window").activate()


def wait(pid: int, selector: str) -> None:
    target(pid, selector)


def type_text(text: str) -> None:
    xa11y.input_sim().type_text(text)


def key(name: str, held: list[str] | None = None) -> None:
    xa11y.input_sim().chord(name, held or [])


TOOLS: dict[str, Any] = {
    each.__name__: each
    for each in (
        dump, pid_of, press, toggle, focus, select, set_value, set_number, click, click_at, activate, wait,
        type_text, key,
    )
}  # fmt: skip


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method != "tools/call":
        return {}
    try:
        text = TOOLS[params["name"]](**params["arguments"]) or "Done."
        return {"content": [{"type": "text", "text": str(text)}]}
    except Exception as error:  # noqa: BLE001 - any error is a reply
        return {"content": [{"type": "text", "text": f"{type(error).__name__}: {error}"}], "isError": True}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
