"""computer-control-mcp: OCR, pointer and keyboard, without elements. It types ASCII only."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from benchmarks.desktop.connections import stdio
from benchmarks.desktop.contract import Calls, Connection, PeerFailed, Script
from benchmarks.desktop.installing import environment_of

TITLE = "computer-control-mcp"
LOOKS = 4
"""How often to look for a text before giving up; each look takes seconds of OCR."""
ROW = 24
NOTHING_READ = "'NoneType' object is not iterable"
"""Its error for a screen without text."""


def install() -> None:
    """With a font of the system: its OCR would download one for pictures that are not used."""
    programs = environment_of("computer-control-mcp")
    matching = ["fc-match", "--format", "%{file}", "sans"]
    font = subprocess.run(matching, capture_output=True, text=True, check=True, timeout=60).stdout
    for settings in programs.parent.glob("lib/*/site-packages/rapidocr/config.yaml"):
        settings.write_text(settings.read_text().replace("font_path: null", f"font_path: {font}"))


def open(environment: Mapping[str, str]) -> AbstractAsyncContextManager[Connection]:  # noqa: A001
    return stdio([str(environment_of("computer-control-mcp") / "computer-control-mcp-server")], environment)


async def see(calls: Calls, task: Any) -> None:
    task.seen = await calls.text("take_screenshot_with_ocr", title_pattern=task.title)


async def _find(calls: Calls, text: str, window: str | None = None) -> tuple[int, int]:
    """The middle of a text on the screen."""
    for _ in range(LOOKS):
        given = {"title_pattern": window} if window else {}
        seen = await calls.text("take_screenshot_with_ocr", **given)
        for corners, found, _confidence in boxes_of(seen):
            if _plain(found) == _plain(text):
                return _middle(corners)
    raise PeerFailed(f"OCR does not find {text!r}")


async def _click(calls: Calls, text: str, window: str | None = None, right: int = 0) -> None:
    x, y = await _find(calls, text, window)
    await calls.text("click_screen", x=x + right, y=y)


async def fill_in_a_form(calls: Calls, task: Any) -> None:
    for label, value in (("Name", "Žofie"), ("Mail", "z@x.cz")):
        await _click(calls, label, right=150)
        await calls.text("type_text", text=value)
    await _click(calls, "Colour", right=150)
    await _click(calls, "blue")
    await _click(calls, "OK")


async def set_a_slider(calls: Calls, task: Any) -> None:
    """The slider has the focus when the dialog opens; a key changes it by one."""
    await _find(calls, "Volume")
    await calls.text("press_keys", keys=["right"] * 53)
    await _click(calls, "OK")


async def agree(calls: Calls, task: Any) -> None:
    await _click(calls, "I agree")
    await _click(calls, "OK")


async def choose_a_file(calls: Calls, task: Any) -> None:
    await _click(calls, "beta.txt")
    await _click(calls, "OK")


async def answer_with_a_key(calls: Calls, task: Any) -> None:
    await _find(calls, "No")
    await calls.text("press_keys", keys="escape")


async def type_and_save(calls: Calls, task: Any) -> None:
    await _find(calls, "File")
    await calls.text("type_text", text=task.text)
    await calls.text("press_keys", keys=[["ctrl", "s"]])
    await _find(calls, "Save")
    await calls.text("press_keys", keys=[["ctrl", "a"]])
    await calls.text("type_text", text=str(task.world.folder / "note.txt"))
    await calls.text("press_keys", keys="enter")


async def convert(calls: Calls, task: Any) -> None:
    await _find(calls, "quiet words")
    await calls.text("press_keys", keys=[["ctrl", "a"]])
    for entry in ("Edit", "Convert", "To Uppercase"):
        await _click(calls, entry)
    await calls.text("press_keys", keys=[["ctrl", "s"]])


async def multiply(calls: Calls, task: Any) -> None:
    """One look at the buttons is enough, they do not move."""
    seen = boxes_of(await calls.text("take_screenshot_with_ocr", title_pattern="Calculator"))
    places = {_plain(text): _middle(corners) for corners, text, _ in seen}
    for key in ("1", "2", "x", "3", "4", "="):
        if key not in places:
            raise PeerFailed(f"OCR does not find {key!r}")
        await calls.text("click_screen", x=places[key][0], y=places[key][1])
    await calls.text("press_keys", keys=[["ctrl", "c"]])


async def covered(calls: Calls, task: Any) -> None:
    """The title of the covered dialog is that of the cover, so it can only be moved into sight by keys."""
    await calls.text("activate_window", title_pattern="Question")
    await _find(calls, "Continue?")
    await _click(calls, "Yes")


async def terminal(calls: Calls, task: Any) -> None:
    await calls.text("activate_window", title_pattern="shell")
    await calls.text("type_text", text=f"echo 'one | two' $((6*7)) > {task.file}; exit\n")


async def order(calls: Calls, task: Any) -> None:
    await _open_page(calls, task)
    await _click(calls, "Full name", right=120)
    await calls.text("type_text", text="Jiří 山田")
    await calls.text("press_keys", keys=["tab"])
    await calls.text("type_text", text="large")
    await _click(calls, "It is a gift")
    await _click(calls, "In cash")
    await _click(calls, "Tip", right=30)
    await calls.text("press_keys", keys=["home", *["right"] * 5])
    await _click(calls, "Place the order")


async def one_row(calls: Calls, task: Any) -> None:
    """The buttons have the same text: the one in the row of the invoice is meant."""
    await _open_page(calls, task)
    seen = boxes_of(await calls.text("take_screenshot_with_ocr"))
    row = next((_middle(corners)[1] for corners, text, _ in seen if _plain(text) == "invoice3"), None)
    buttons = [_middle(corners) for corners, text, _ in seen if _plain(text) == "archive"]
    near = [place for place in buttons if row is not None and abs(place[1] - row) < ROW / 2]
    if not near:
        raise PeerFailed("OCR does not find the row")
    await calls.text("click_screen", x=near[0][0], y=near[0][1])


async def slow_element(calls: Calls, task: Any) -> None:
    await _open_page(calls, task)
    await _click(calls, "Continue")


async def _open_page(calls: Calls, task: Any) -> None:
    task.window = (await task.world.until(lambda: task.world.windows_titled(task.name)))[0]
    await calls.text("activate_window", title_pattern=task.name)


def boxes_of(reply: str) -> list[Any]:
    """Corners, text and confidence of each text; the reply is written as Python data."""
    if not reply.startswith("("):
        if reply == "No text found" or NOTHING_READ in reply:
            return []
        raise PeerFailed(f"OCR failed: {reply[:200]}")
    return list(ast.literal_eval(f"[{reply}]"))


def _middle(corners: list[list[float]]) -> tuple[int, int]:
    return round((corners[0][0] + corners[2][0]) / 2), round((corners[0][1] + corners[2][1]) / 2)


def _plain(text: str) -> str:
    return "".join(text.casefold().split()).replace("×", "x")


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
