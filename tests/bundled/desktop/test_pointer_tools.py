"""Clicks, drags, scrolling and every kind of input action, checked from outside the tools."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy
import pytest
from xcffib.xproto import KeyButMask

from tests.bundled.desktop.conftest import Programs, eventually
from tests.bundled.desktop.full_tools import FullTools
from toolcrib.bundled.desktop.backends.x11.connection import XConnection
from toolcrib.bundled.desktop.geometry import PictureSpace, Point

LINE = "alpha beta gamma"


class Pointer:
    """What the X server says about the pointer and the modifier keys."""

    def __init__(self, programs: Programs) -> None:
        self._connection = XConnection(programs.target.display, programs.target.cookie)

    def state(self) -> tuple[int, int, int]:
        reply = self._connection.core.QueryPointer(self._connection.root).reply()
        return reply.root_x, reply.root_y, reply.mask


@pytest.fixture
def pointer(programs: Programs) -> Pointer:
    return Pointer(programs)


async def act(full: FullTools, kind: str, parent: str | None = None, **details: Any) -> Any:
    return await full.data("create_input", parent=parent, input={"action": {kind: details}})


def at(x: float, y: float) -> dict[str, float]:
    return {"x": x, "y": y}


async def middle(full: FullTools, element: dict[str, Any]) -> tuple[int, int]:
    bounds = element["bounds"]
    return bounds["x"] + bounds["width"] // 2, bounds["y"] + bounds["height"] // 2


async def test_a_click_names_its_space_and_reaches_its_window(full: FullTools, programs: Programs) -> None:
    process = programs.start("zenity", "--question", "--title=Which", "--text=Continue?")
    yes = await full.element(process, role="button", text="Yes")
    window = await full.window(process)
    cover = programs.start("xterm", "-T", "cover", "-geometry", "200x60", "-e", "sleep", "60")
    await full.window(cover)
    x, y = await middle(full, yes)
    inside = {"x": x - window["bounds"]["x"], "y": y - window["bounds"]["y"]}
    assert await full.reason("click", **inside, space="window") == "EMPTY_FIELD"
    assert await full.reason("click", x=5000, y=1, space="window", reference=window["id"]) == "OUT_OF_RANGE"
    assert await full.reason("click", x=5000, y=1) == "OUT_OF_RANGE"
    assert await full.reason("click", x=1, y=1, button="fourth") == "INVALID_FORMAT"
    assert await full.reason("click", x=1, y=1, click_count=9) == "OUT_OF_RANGE"
    clicked = await full.data("click", **inside, space="window", reference=window["id"], button="Left")
    assert clicked["window"] == window["id"]
    assert await asyncio.to_thread(process.wait, 10) == 0


async def test_a_pixel_of_a_scaled_screenshot_is_clicked_at_its_place(
    full: FullTools, programs: Programs
) -> None:
    process = programs.start("zenity", "--question", "--text=Continue?")
    no = await full.element(process, role="button", text="No")
    await full.data("focus_window", pid=process.pid)
    x, y = await middle(full, no)
    shot = full.session.pictures.add(PictureSpace(Point(100, 50), 0.4))
    pixel = {"x": (x - 100) * 0.4, "y": (y - 50) * 0.4}
    clicked = await full.data("click", **pixel, space="screenshot", reference=shot)
    assert (clicked["space"], clicked["x"], clicked["y"]) == ("screen", x, y)
    assert await asyncio.to_thread(process.wait, 10) == 1
    assert (
        "no screenshot"
        in (await full.result("click", **pixel, space="screenshot", reference="shot99"))["content"][0]["text"]
    )


async def test_a_click_for_an_application_is_refused_where_another_is_in_front(
    full: FullTools, programs: Programs
) -> None:
    process = programs.start("zenity", "--question", "--text=Continue?")
    yes = await full.element(process, role="button", text="Yes")
    cover = programs.start("xterm", "-geometry", "220x60+0+0", "-e", "sleep", "60")
    covering = await full.window(cover)
    await full.data("focus_window", window_id=covering["id"])
    x, y = await middle(full, yes)
    action = {"action": {"click": {"position": at(x, y)}}}
    refused = await full.reason("create_input", parent=f"applications/{process.pid}", input=action)
    assert refused == "CLICK_REFUSED"
    hover = {"action": {"hover": {"position": at(x, y), "duration": 0.1}}}
    assert await full.reason("create_input", parent=str(process.pid), input=hover) == "CLICK_REFUSED"
    listed = await full.data("list_inputs", filter="STATE_FAILED")
    assert [each["state"] for each in listed["inputs"]] == ["failed", "failed"]
    assert process.poll() is None


async def test_wheel_steps_scroll_a_text(full: FullTools, programs: Programs, tmp_path: Path) -> None:
    file = tmp_path / "long.txt"
    file.write_text("\n".join(f"line {number}" for number in range(500)))
    process = programs.start("zenity", "--text-info", f"--filename={file}", "--width=400", "--height=300")
    await full.element(process, role="text")
    window = await full.window(process)
    await full.data("focus_window", window_id=window["id"])

    async def pixels() -> Any:
        return (await full.backend.capture.window(window["id"])).pixels

    start = await pixels()
    await full.data("scroll", delta_y=10)

    async def has_scrolled() -> bool:
        return not numpy.array_equal(await pixels(), start)

    await eventually(has_scrolled)
    await act(full, "scroll", position=at(*await middle(full, window)), vertical=20)

    async def is_back() -> bool:
        return float((await pixels() != start).mean()) < 0.02

    await eventually(is_back)
    assert await full.reason("scroll", delta_y=1000) == "OUT_OF_RANGE"
    assert await full.reason("scroll", delta_y=1, x=4) == "EMPTY_FIELD"


async def test_text_is_selected_by_dragging_in_one_step_and_by_holding_the_button(
    full: FullTools, programs: Programs, tmp_path: Path
) -> None:
    """One right after the other: a press that counts as the second of a double click would select words."""
    start, end, parent = await _one_line(full, programs, tmp_path)
    await act(full, "drag", parent, start_position=start, end_position=end)
    assert await copied(full) == LINE
    await full.data("press_key", key="ctrl+home")
    await act(full, "drag", parent, start_position=start, end_position=end, duration=0.2)
    assert await copied(full) == LINE
    await full.data("press_key", key="ctrl+home")
    await act(full, "button_down", parent, position=start)
    await act(full, "move_mouse", parent, position=end)
    await act(full, "button_up", parent, position=end)
    assert await copied(full) == LINE


async def test_an_action_at_an_element_reaches_it_where_it_is_now(
    full: FullTools, programs: Programs, pointer: Pointer
) -> None:
    process = programs.start("zenity", "--scale", "--text=Volume", "--min-value=0", "--max-value=100")
    slider = (await full.element(process, role="slider"))["id"]
    window = await full.window(process)
    await full.data("move_window", name=window["name"], x=300, y=200)
    await act(full, "hover", position={"element": slider})
    now = await full.element(process, role="slider")
    assert pointer.state()[:2] == await middle(full, now)
    button = await full.element(process, role="button", text="OK")
    other = f"applications/{(await full.window(programs.start('xterm')))['application']}"
    drag = {"start_position": {"element": slider}, "end_position": {"element": button["id"]}}
    refused = await full.reason("create_input", parent=other, input={"action": {"drag": drag}})
    assert refused == "INVALID_FORMAT"
    await act(full, "drag", **drag)
    assert pointer.state()[:2] == await middle(full, await full.element(process, role="button", text="OK"))
    await act(full, "click", position={"element": button["id"]})
    assert await asyncio.to_thread(process.wait, 30) == 0
    assert await full.reason("create_input", input={"action": {"drag": drag}}) == "ELEMENT_NOT_FOUND"
    empty = {"action": {"hover": {"position": {}}}}
    assert await full.reason("create_input", input=empty) == "EMPTY_FIELD"


async def test_clicks_of_two_calls_are_no_double_click(
    full: FullTools, programs: Programs, tmp_path: Path
) -> None:
    start, _, _ = await _one_line(full, programs, tmp_path)
    for _ in range(3):
        await full.data("click", **start)
    assert await copied(full) == ""
    await full.data("click", **start, click_count=2)
    assert await copied(full) == "alpha"


async def _one_line(
    full: FullTools, programs: Programs, folder: Path
) -> tuple[dict[str, float], dict[str, float], str]:
    """Where a line of text in an editor starts, where it has ended, and the editor."""
    file = folder / "words.txt"
    file.write_text(LINE)
    process = programs.start("mousepad", str(file))
    area = await full.element(process, role="text", attributes={"multi_line": "true"})
    await full.data("focus_window", pid=process.pid)
    left, top = area["bounds"]["x"], area["bounds"]["y"]
    end = at(left + area["bounds"]["width"] - 5, top + 8)
    return at(left + 2, top + 8), end, f"applications/{process.pid}"


async def copied(full: FullTools) -> str:
    """The selected text."""
    await full.data("clear_clipboard")
    await full.data("press_key", key="c", modifiers=["MODIFIER_CONTROL"])
    return str((await full.data("get_clipboard"))["text"] or "")


async def test_held_keys_and_buttons_are_down_until_they_are_released(
    full: FullTools, programs: Programs, pointer: Pointer
) -> None:
    down: dict[str, Any] = {
        "position": at(40, 50),
        "button": "left",
        "modifiers": ["MODIFIER_SHIFT", "control"],
    }
    window = await full.window(programs.start("xterm", "-T", "keys", "-e", "cat"))
    await full.data("focus_window", window_id=window["id"])
    await act(full, "button_down", **down)
    x, y, mask = pointer.state()
    held = KeyButMask.Shift | KeyButMask.Control | KeyButMask.Button1
    assert (x, y, mask & held) == (40, 50, held)
    await act(full, "button_up", **down)
    assert pointer.state()[2] & held == 0
    await act(full, "button_down", **down)
    full.backend.close()
    assert pointer.state()[2] & held == 0


async def test_hovering_moves_the_pointer_and_gestures_are_refused(
    full: FullTools, programs: Programs, pointer: Pointer
) -> None:
    await act(full, "hover", position=at(300, 310), duration=0.05)
    assert pointer.state()[:2] == (300, 310)
    pinch = {"action": {"gesture": {"center": at(1, 1), "gesture_type": "pinch"}}}
    assert await full.reason("create_input", input=pinch) == "UNIMPLEMENTED"
    both = {"action": {"click": {"position": at(1, 1)}, "hover": {"position": at(1, 1)}}}
    assert await full.reason("create_input", input=both) == "EMPTY_FIELD"
    endless = {"action": {"hover": {"position": at(1, 1), "duration": 3600}}}
    assert await full.reason("create_input", input=endless) == "INVALID_FORMAT"


async def test_typed_text_and_held_keys_arrive_and_the_text_is_not_listed(
    full: FullTools, programs: Programs, tmp_path: Path
) -> None:
    file = tmp_path / "typed.txt"
    process = programs.start("xterm", "-e", "sh", "-c", f"cat > {file}")
    window = await full.window(process)
    parent = f"applications/{process.pid}"
    done = await full.data(
        "create_input", parent=parent, input_id="mine", input={"action": {"type_text": {"text": "secret "}}}
    )
    assert (done["name"], done["state"]) == (f"{parent}/inputs/mine", "completed")
    await act(full, "type_text", parent, text="ab", char_delay=0.01)
    await act(full, "press_key", parent, key="x", hold_duration=0.05)
    await act(full, "press_key", parent, key="enter")

    async def arrived() -> bool:
        text = file.read_text() if file.exists() else ""
        return text.startswith("secret abx") and text.endswith("\n")

    await eventually(arrived)
    listed = await full.data("list_inputs", parent=parent, page_size=3)
    assert [next(iter(each["action"])) for each in listed["inputs"]] == [
        "press_key",
        "press_key",
        "type_text",
    ]
    rest = await full.data("list_inputs", parent=parent, page_size=3, page_token=listed["next_page_token"])
    assert rest["inputs"][0]["action"] == {"type_text": {"text": "(7 characters)"}}
    again = {"action": {"press_key": {"key": "a"}}}
    refused = await full.reason("create_input", parent=parent, input_id="mine", input=again)
    assert refused == "INVALID_FORMAT"
    assert window["application"] == process.pid
