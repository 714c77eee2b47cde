"""xa11y, a library for accessibility on all systems; `xa11y_worker.py` makes tools of its operations."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from benchmarks.desktop.connections import stdio
from benchmarks.desktop.contract import HERE, Calls, Connection, Script
from benchmarks.desktop.installing import environment_of

TITLE = "xa11y"


def install() -> None:
    environment_of("xa11y")


def open(environment: Mapping[str, str]) -> AbstractAsyncContextManager[Connection]:  # noqa: A001
    return stdio([str(environment_of("xa11y") / "python"), str(HERE / "xa11y_worker.py")], environment)


async def _press(calls: Calls, app: str, *names: str) -> None:
    for name in names:
        await calls.text("press", pid=int(app), selector=f'button[name="{name}"]')


async def fill_in_a_form(calls: Calls, task: Any) -> None:
    app = int(task.app)
    await calls.text("wait", pid=app, selector='button[name="OK"]')
    await calls.text("set_value", pid=app, selector="text_field:nth(2)", value="Žofie")
    await calls.text("set_value", pid=app, selector="text_field:nth(1)", value="z@x.cz")
    await calls.text("press", pid=app, selector="combo_box")
    await calls.text("press", pid=app, selector='menu_item[name="blue"]')
    await _press(calls, task.app, "OK")


async def set_a_slider(calls: Calls, task: Any) -> None:
    await calls.text("set_number", pid=int(task.app), selector="slider", value=73.0)
    await _press(calls, task.app, "OK")


async def agree(calls: Calls, task: Any) -> None:
    await calls.text("press", pid=int(task.app), selector='check_box[name="I agree"]')
    await _press(calls, task.app, "OK")


async def choose_a_file(calls: Calls, task: Any) -> None:
    app = int(task.app)
    await calls.text("focus", pid=app, selector='table_cell[name="beta.txt"]')
    await _press(calls, task.app, "OK")


async def answer_with_a_key(calls: Calls, task: Any) -> None:
    await calls.text("wait", pid=int(task.app), selector='button[name="No"]')
    await calls.text("key", name="Escape")


async def type_and_save(calls: Calls, task: Any) -> None:
    app = int(task.app)
    await calls.text("wait", pid=app, selector="text_area")
    await calls.text("set_value", pid=app, selector="text_area", value=task.text)
    await calls.text("key", name="s", held=["Ctrl"])
    await task.world.until(lambda: task.world.windows_titled("Save As"))
    await calls.text("key", name="a", held=["Ctrl"])
    await calls.text("type_text", text=str(task.world.folder / "note.txt"))
    for _ in range(2):  # the first one accepts the completion of the name
        await calls.text("key", name="Enter")


async def convert(calls: Calls, task: Any) -> None:
    """Its names are as programs give them: mousepad pads those of its menus with spaces."""
    app = int(task.app)
    await calls.text("wait", pid=app, selector="text_area")
    for name in ("Select All", "To Uppercase"):
        await calls.text("press", pid=app, selector=f'menu_item[name*="{name}"]')
    await calls.text("press", pid=app, selector='button[name="Save"]')


async def multiply(calls: Calls, task: Any) -> None:
    """GTK 4 gives the names of these buttons twice."""
    await _press(calls, task.app, *(f"{key} {key}" for key in "12×34="))
    await calls.text("wait", pid=int(task.app), selector='[name*="408"]')
    await calls.text("key", name="c", held=["Ctrl"])


async def see(calls: Calls, task: Any) -> None:
    task.seen = await calls.text("dump", pid=int(task.app))


async def covered(calls: Calls, task: Any) -> None:
    await _press(calls, str(task.covered.pid), "Yes")


async def terminal(calls: Calls, task: Any) -> None:
    """xterm has no elements; a model would see in a screenshot where it is."""
    window = await task.world.window_of(task.process)
    left, top, width, height = task.world.place(window)
    await calls.text("click_at", x=left + width // 2, y=top + height // 2)
    await calls.text("type_text", text=f"echo 'one | two' $((6*7)) > {task.file}; exit")
    await calls.text("key", name="Enter")


async def order(calls: Calls, task: Any) -> None:
    app = await _browser(calls, task)
    await calls.text("set_value", pid=app, selector='text_field[name="Full name"]', value="Jiří 山田")
    await calls.text("focus", pid=app, selector='combo_box[name="Size"]')
    await calls.text("type_text", text="large")
    await calls.text("press", pid=app, selector='check_box[name="It is a gift"]')
    await calls.text("press", pid=app, selector='radio_button[name="In cash"]')
    await calls.text("set_number", pid=app, selector='slider[name="Tip"]', value=5.0)
    await calls.text("press", pid=app, selector='button[name="Place the order"]')


async def one_row(calls: Calls, task: Any) -> None:
    app = await _browser(calls, task)
    await calls.text("press", pid=app, selector='button[name="Archive invoice 3"]')


async def slow_element(calls: Calls, task: Any) -> None:
    app = await _browser(calls, task)
    await calls.text("press", pid=app, selector='button[name="Continue"]')


async def _browser(calls: Calls, task: Any) -> int:
    """The process of the page; the task closes its window at the end."""
    task.window = (await task.world.until(lambda: task.world.windows_titled(task.name)))[0]
    found = await calls.text("pid_of", title=task.name)
    return int(found)


SCRIPTS: Mapping[str, Script] = {
    "SeeAWindow": see,
    "FillInAForm": fill_in_a_form,
    "SetASlider": set_a_slider,
    "AgreeBeforeContinuing": agree,
    "ChooseAFile": choose_a_file,
    "AnswerWithAKey": answer_with_a_key,
    "TypeAndSave": type_and_save,
    "ConvertWithASubmenu": convert,
    "MultiplyWithButtons": multiply,
    "ClickInACoveredWindow": covered,
    "RunACommandInATerminal": terminal,
    "OrderInAWebForm": order,
    "ActOnOneRowOfATable": one_row,
    "WaitForASlowElement": slow_element,
}
