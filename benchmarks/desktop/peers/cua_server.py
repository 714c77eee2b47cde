"""cua-computer-server: screenshots, pointer and keyboard; its accessibility tree on Linux is simulated.

A script cannot read pictures, so it can only do what the keyboard reaches; the screenshots that a model would
need besides are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from benchmarks.desktop.connections import commands
from benchmarks.desktop.contract import Calls, Connection, Script
from benchmarks.desktop.installing import environment_of

TITLE = "cua-computer-server"


def install() -> None:
    environment_of("cua-computer-server")


def open(environment: Mapping[str, str]) -> AbstractAsyncContextManager[Connection]:  # noqa: A001
    return commands([str(environment_of("cua-computer-server") / "cua-computer-server")], environment)


async def _keys(calls: Calls, *keys: str) -> None:
    for key in keys:
        await calls.text("press_key", key=key)


async def fill_in_a_form(calls: Calls, task: Any) -> None:
    await _ready(calls, task)
    await calls.text("type_text", text="Žofie")
    await _keys(calls, "tab")
    await calls.text("type_text", text="z@x.cz")
    await _keys(calls, "tab", "down", "down", "down", "enter")


async def set_a_slider(calls: Calls, task: Any) -> None:
    await _ready(calls, task)
    await _keys(calls, *["right"] * 53, "tab", "tab", "enter")


async def agree(calls: Calls, task: Any) -> None:
    await _ready(calls, task)
    await calls.text("hotkey", keys=["ctrl", "tab"])
    await _keys(calls, "space", "tab", "tab", "enter")


async def answer_with_a_key(calls: Calls, task: Any) -> None:
    await _ready(calls, task)
    await _keys(calls, "esc")


async def type_and_save(calls: Calls, task: Any) -> None:
    await _ready(calls, task)
    await calls.text("type_text", text=task.text)
    await calls.text("hotkey", keys=["ctrl", "s"])
    await task.world.until(lambda: task.world.windows_titled("Save As"))
    await calls.text("hotkey", keys=["ctrl", "a"])
    await calls.text("type_text", text=str(task.world.folder / "note.txt"))
    await _keys(calls, "enter")


async def terminal(calls: Calls, task: Any) -> None:
    left, top, width, height = task.world.place(await task.world.window_of(task.process))
    await calls.text("left_click", x=left + width // 2, y=top + height // 2)
    await calls.text("type_text", text=f"echo 'one | two' $((6*7)) > {task.file}; exit\n")


async def _ready(calls: Calls, task: Any) -> None:
    """Its window is there; a model would see that in a screenshot."""
    await task.world.until(lambda: task.world.windows_of(int(task.app)))


SCRIPTS: Mapping[str, Script] = {
    "FillInAForm": fill_in_a_form,
    "SetASlider": set_a_slider,
    "AgreeBeforeContinuing": agree,
    "AnswerWithAKey": answer_with_a_key,
    "TypeAndSave": type_and_save,
    "RunACommandInATerminal": terminal,
}
