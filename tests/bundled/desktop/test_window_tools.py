"""Windows, applications and displays through their tools, with real programs."""

from __future__ import annotations

import asyncio
import shutil

import pytest

from tests.bundled.desktop.conftest import Programs, eventually
from tests.bundled.desktop.full_tools import FullTools


async def test_a_window_is_arranged_and_each_reply_says_what_changed(
    full: FullTools, programs: Programs
) -> None:
    process = programs.start("mousepad")
    window = await full.window(process)
    assert window["name"] == f"applications/{process.pid}/windows/{window['id']}"
    assert window["bundle_id"] == "Mousepad"
    moved = await full.data("move_window", name=window["name"], x=120, y=90)
    assert (moved["bounds"]["x"], moved["bounds"]["y"]) == (120, 90)
    assert any("moved to 120,90" in change for change in moved["changes"])
    resized = await full.data("resize_window", name=str(window["id"]), width=500, height=380)
    assert (resized["bounds"]["width"], resized["bounds"]["height"]) == (500, 380)
    hidden = await full.data("minimize_window", name=window["name"])
    assert (hidden["visible"], hidden["minimised"]) == (False, True)
    shown = await full.data("restore_window", name=window["name"])
    assert shown["active"]
    assert any("not minimised" in change for change in shown["changes"])
    only = await full.data("get_window", name=window["name"], read_mask="title,bounds")
    assert set(only) == {"name", "title", "bounds"}
    closed = await full.data("close_window", name=window["name"])
    assert closed["success"]
    assert any(change.startswith("- window") for change in closed["changes"])
    await asyncio.to_thread(process.wait, 10)
    assert await full.reason("get_window", name=window["name"]) == "WINDOW_NOT_FOUND"


async def test_windows_are_found_in_every_way_they_can_be_named(full: FullTools, programs: Programs) -> None:
    first = programs.start("xterm", "-T", "first one", "-e", "sleep", "60")
    second = programs.start("xterm", "-T", "second one", "-e", "sleep", "60")
    one, two = await full.window(first), await full.window(second)
    by_name = [
        {"name": one["name"]},
        {"name": f"applications/-/windows/{one['id']}"},
        {"name": "first one"},
        {"window_id": one["id"]},
        {"window_id": str(one["id"])},
        {"pid": first.pid},
        {"app_name": "first"},
    ]
    for arguments in by_name:
        await full.data("focus_window", window_id=two["id"])
        assert (await full.data("focus_window", **arguments))["id"] == one["id"], arguments
    assert await full.reason("focus_window") == "EMPTY_FIELD"
    assert await full.reason("focus_window", name="one") == "AMBIGUOUS_WINDOW_MATCH"
    assert await full.reason("focus_window", app_name="nothing like it") == "WINDOW_NOT_FOUND"
    stranger = f"applications/{second.pid}/windows/{one['id']}"
    assert await full.reason("get_window", name=stranger) == "WINDOW_NOT_FOUND"
    assert await full.reason("get_window", name="applications/1/elements/2") == "INVALID_RESOURCE_NAME"
    assert await full.reason("move_window", name=one["name"], x=1e9, y=0) == "OUT_OF_RANGE"


async def test_lists_have_pages_filters_and_an_order(full: FullTools, programs: Programs) -> None:
    started = [programs.start("xterm", "-T", f"page {number}", "-e", "sleep", "60") for number in range(3)]
    for process in started:
        await full.window(process)
    wanted = {"filter": 'title="page " visible=true', "order_by": "title desc", "page_size": 2}
    first = await full.data("list_windows", **wanted)
    assert [each["title"] for each in first["windows"]] == ["page 2", "page 1"]
    last = await full.data("list_windows", **wanted, page_token=first["next_page_token"])
    assert [each["title"] for each in last["windows"]] == ["page 0"]
    assert (last["more"], last["next_page_token"]) == (0, "")
    other = {**wanted, "filter": ""}
    token = first["next_page_token"]
    assert await full.reason("list_windows", **other, page_token=token) == "INVALID_PAGE_TOKEN"
    assert await full.reason("list_windows", page_token="AAAA") == "INVALID_PAGE_TOKEN"
    assert await full.reason("list_windows", order_by="colour") == "INVALID_FORMAT"
    assert await full.reason("list_windows", filter="title") == "INVALID_FORMAT"
    listed = await full.data("list_applications", filter='name="xterm"', order_by="pid")
    assert [each["pid"] for each in listed["applications"]] == sorted(each.pid for each in started)


async def test_an_application_is_found_by_id_bundle_id_path_and_title_and_ended(
    full: FullTools, programs: Programs
) -> None:
    process = programs.start("mousepad")
    window = await full.window(process)
    program = shutil.which("mousepad")
    names = (
        str(process.pid),
        f"applications/{process.pid}",
        "Mousepad",
        "org.xfce.mousepad",
        "org.xfce.mousepad.desktop",
        str(program),
        window["title"],
    )
    for name in names:
        found = await full.data("get_application", name=name)
        assert (found["pid"], found["bundle_id"]) == (process.pid, "Mousepad"), name
        assert (await full.data("list_windows", app_name=name))["windows"], name
    assert await full.reason("get_application", name="no such thing") == "APPLICATION_NOT_FOUND"
    assert await full.reason("get_application", name="applications/-") == "EMPTY_FIELD"
    ended = await full.data("delete_application", name=f"applications/{process.pid}")
    assert ended["success"]
    assert any(change.startswith("- window") for change in ended["changes"])
    await asyncio.to_thread(process.wait, 10)


async def test_an_application_opened_in_the_background_leaves_the_active_window(
    full: FullTools, programs: Programs
) -> None:
    front = await full.window(programs.start("xterm", "-T", "in front", "-e", "sleep", "60"))
    await full.data("focus_window", window_id=front["id"])
    opened = await full.data(
        "open_application", id="xterm", background=True, arguments=["-T", "behind", "-e", "sleep", "60"]
    )
    try:
        assert opened["name"] == f"applications/{opened['application']}"
        assert (await full.data("get_window", name=str(front["id"])))["active"]
    finally:
        await full.data("delete_application", name=opened["name"], force=True)


@pytest.mark.acceptance
async def test_a_window_that_asks_before_closing_is_closed_by_force(
    full: FullTools, programs: Programs
) -> None:
    process = programs.start("xterm", "-T", "stopped", "-e", "sleep", "60")
    window = await full.window(process)
    question = programs.start("mousepad")
    await full.element(question, role="text", attributes={"multi_line": "true"})
    await full.data("focus_window", pid=question.pid)
    await full.data("type_text", text="unsaved")
    editor = await full.window(question)
    asked = await full.data("close_window", name=editor["name"])
    assert not asked["success"]

    async def shows_its_question() -> bool:
        return len((await full.data("list_windows", parent=str(question.pid)))["windows"]) == 2

    await eventually(shows_its_question)
    assert await full.reason("close_window", name=editor["name"], force=True) == "FAILED_PRECONDITION"
    await full.data("delete_application", name=str(question.pid), force=True)

    async def is_gone() -> bool:
        return question.poll() is not None

    await eventually(is_gone)
    assert (await full.data("close_window", name=window["name"], force=True))["success"]


async def test_displays_are_listed_and_found(full: FullTools) -> None:
    listed = await full.data("list_displays")
    [display] = listed["displays"]
    assert display["frame"] == {"x": 0, "y": 0, "width": 1280, "height": 800}
    for name in (display["name"], str(display["display_id"]), display["output"]):
        assert await full.data("get_display", name=name) == display
    assert await full.reason("get_display", name="displays/99") == "DISPLAY_NOT_FOUND"
