"""The tools, driving programs of several toolkits; checked by files and exit codes."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.desktop.conftest import Programs, eventually
from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.elements import acting
from toolcrib.bundled.desktop.session import DesktopSession, SessionSettings
from toolcrib.bundled.desktop.tools import offer_profile
from toolcrib.serverkit.server import ToolServer


class Tools:
    """Calls tools as a model would."""

    def __init__(self, server: ToolServer) -> None:
        self._server = server

    async def data(self, tool: str, **arguments: Any) -> Any:
        result = await self._server.tools[tool].call(arguments)
        assert not result["isError"], result["content"][0]["text"]
        return result["structuredContent"]

    async def text(self, tool: str, **arguments: Any) -> str:
        result = await self._server.tools[tool].call(arguments)
        assert not result["isError"], result["content"][0]["text"]
        return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")

    async def refused(self, tool: str, **arguments: Any) -> str:
        result = await self._server.tools[tool].call(arguments)
        assert result["isError"], result
        return str(result["content"][0]["text"])

    async def find(self, process: subprocess.Popen[bytes], **selector: Any) -> dict[str, Any]:
        """The first element that matches, waited for."""
        found = await self.when_open(process, selector)
        assert found["elements"], f"no {selector}"
        first: dict[str, Any] = found["elements"][0]
        return first

    async def when_open(self, process: subprocess.Popen[bytes], selector: dict[str, Any]) -> Any:
        async def has_window() -> bool:
            listed = await self.data("list_windows", parent=str(process.pid))
            return bool(listed["windows"])

        await eventually(has_window)
        return await self.data("find_elements", parent=str(process.pid), selector=selector, wait=20)


@pytest.fixture
async def tools(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> Tools:
    session = DesktopSession(SessionSettings())

    async def opened(context: object = None) -> Backend:
        return backend

    monkeypatch.setattr(session, "backend", opened)
    server = ToolServer("desktop", "0")
    offer_profile(server, session, "small")
    return Tools(server)


async def test_a_gtk_form_is_filled_in_by_names(tools: Tools, programs: Programs) -> None:
    process = programs.start(
        "zenity", "--forms", "--title=Form", "--add-entry=Name", "--add-entry=Mail", "--add-combo=Colour",
        "--combo-values=red|green|blue", stdout=subprocess.PIPE,
    )  # fmt: skip
    await tools.find(process, role="button", text="OK")
    found = await tools.data("find_elements", parent="zenity", selector={"role": "textbox"})
    fields = sorted(found["elements"], key=lambda field: field["bounds"]["y"])
    assert (await tools.data("write_element_value", element_id=fields[0]["id"], value="Žofie"))["verified"]
    await tools.data("write_element_value", element_id=fields[1]["id"], value="z@x.cz")
    colour = await tools.find(process, role="combo box")
    assert "no entry 'black'" in await tools.refused(
        "write_element_value", element_id=colour["id"], value="black"
    )
    await tools.data("write_element_value", element_id=colour["id"], value="blue")
    await tools.data("click_element", selector={"role": "button", "text": "OK"}, parent="zenity")
    output, _ = await asyncio.to_thread(process.communicate, None, 10)
    assert output.decode().strip() == "Žofie|z@x.cz|blue"


async def test_text_is_typed_and_saved_through_a_dialog(
    tools: Tools, programs: Programs, tmp_path: Path
) -> None:
    process = programs.start("mousepad")
    await tools.find(process, role="text", attributes={"multi_line": "true"})
    await tools.data("focus_window", name="Mousepad")
    typed = await tools.data("type_text", text="Line one\nÜnïcode 日本 🚀 done")
    assert typed["verified"] is True
    changed = await tools.text("press_key", key="ctrl+s")
    assert re.search(r"\+ window \d+ 'Save As'", changed), changed
    name = await tools.find(process, role="text", attributes={"single_line": "true", "visible": "true"})
    await tools.data("write_element_value", element_id=name["id"], value=str(tmp_path / "note.txt"))
    save = {"and": [{"role": "push button"}, {"text": "Save"}, {"attributes": {"visible": "true"}}]}
    await tools.data("click_element", selector=save, parent=str(process.pid))

    async def is_saved() -> bool:
        return (tmp_path / "note.txt").exists()

    await eventually(is_saved)
    assert (tmp_path / "note.txt").read_text().rstrip() == "Line one\nÜnïcode 日本 🚀 done"


async def test_a_hidden_menu_entry_is_clicked_by_its_name(tools: Tools, programs: Programs) -> None:
    process = programs.start("mousepad")
    area = await tools.find(process, role="text", attributes={"multi_line": "true"})
    await tools.data("write_element_value", element_id=area["id"], value="one two three")
    entry = await tools.find(process, role="menu item", text="Select All")
    assert "hidden" in entry["states"]
    await tools.data("click_element", element_id=entry["id"])
    await tools.data("focus_window", name="Mousepad")
    await tools.data("press_key", key="ctrl+c")
    assert (await tools.data("get_clipboard"))["text"] == "one two three"


async def test_a_qt_program_is_driven_by_elements(tools: Tools, programs: Programs) -> None:
    process = programs.start("featherpad")
    find = await tools.find(process, role="button", text="Find")
    clicked = await tools.data("click_element", element_id=find["id"])
    assert clicked["method"] == "pointer"
    assert "~ combo box: focused" in clicked["changes"], clicked


async def test_a_gtk4_calculator_computes(tools: Tools, programs: Programs) -> None:
    process = programs.start("gnome-calculator")

    async def shows(text: str) -> bool:
        """Whether the window has drawn this, so that the next click meets what was found."""
        return f"{text} [focused]" in await tools.text("find_elements", parent=str(process.pid))

    await tools.when_open(process, {"role": "push button", "text": "7"})
    await eventually(lambda: shows("text"))
    for key, shown in (("7", "7"), ("×", "7×"), ("6", "7×6"), ("=", "42")):
        button = await tools.find(process, role="push button", text=key)
        await tools.data("click_element", element_id=button["id"])
        await eventually(lambda value=f"value='{shown}'": shows(value))


async def test_an_element_that_has_gone_is_refused_with_the_nearest_match(
    tools: Tools, programs: Programs
) -> None:
    first = programs.start("zenity", "--info", "--text=first")
    button = await tools.find(first, role="button", text="OK")
    first.kill()
    first.wait()
    refused = await tools.refused("click_element", element_id=button["id"])
    assert "push button 'OK'" in refused
    assert "s999e1" in await tools.refused("click_element", element_id="s999e1")


async def test_a_disabled_element_is_not_clicked(tools: Tools, programs: Programs) -> None:
    process = programs.start("featherpad")
    undo = await tools.find(process, role="button", text="Undo")
    assert "disabled" in undo["states"]
    assert "is disabled" in await tools.refused("click_element", element_id=undo["id"])


async def test_a_click_waits_until_its_element_is_enabled(
    tools: Tools, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acting, "ENABLE_PATIENCE", 30.0)
    process = programs.start("featherpad")
    undo = await tools.find(process, role="button", text="Undo")
    clicking = asyncio.create_task(tools.text("click_element", element_id=undo["id"]))
    text = await tools.find(process, role="text", attributes={"multi_line": "true"})
    assert not clicking.done()
    await tools.data("write_element_value", element_id=text["id"], value="Dear Ada")
    assert "[disabled]" not in (await clicking).splitlines()[0]


async def test_a_hung_program_answers_in_time_and_blocks_no_other(tools: Tools, programs: Programs) -> None:
    hung, healthy = programs.start("mousepad"), programs.start("featherpad")
    await tools.find(hung, role="text")
    await tools.find(healthy, role="button", text="Find")
    os.kill(hung.pid, signal.SIGSTOP)
    try:
        async with asyncio.timeout(15):
            partial, other = await asyncio.gather(
                tools.data("find_elements", parent=str(hung.pid)),
                tools.data("find_elements", parent=str(healthy.pid), selector="role:button"),
            )
        assert not partial["complete"]
        assert other["complete"]
        assert other["elements"]
    finally:
        os.kill(hung.pid, signal.SIGCONT)


async def test_an_ambiguous_selector_is_refused_with_the_choices(tools: Tools, programs: Programs) -> None:
    process = programs.start("zenity", "--question", "--text=Continue?")
    await tools.find(process, role="button", text="Yes")
    refused = await tools.refused("click_element", selector="role:button", parent=str(process.pid))
    assert refused.startswith("2 elements match")
    chosen = re.search(r"(s\d+e\d+) push button 'No'", refused)
    assert chosen is not None
    await tools.data("click_element", element_id=chosen[1])
    assert await asyncio.to_thread(process.wait, 10) == 1


async def test_the_outline_is_small_and_says_how_to_continue(tools: Tools, programs: Programs) -> None:
    process = programs.start("featherpad")
    await tools.find(process, role="button", text="Find")
    whole = await tools.text("find_elements", parent=str(process.pid))
    assert len(whole) < 8000
    page = await tools.data("find_elements", parent=str(process.pid), max_tokens=100)
    assert page["more"] > 0
    rest = await tools.data("find_elements", parent=str(process.pid), page_token=page["next_page_token"])
    assert {each["name"] for each in page["elements"]} | {each["name"] for each in rest["elements"]} >= {
        "Find"
    }


async def test_a_region_of_a_window_or_screenshot_is_the_same_place(tools: Tools, programs: Programs) -> None:
    process = programs.start("xterm", "-bg", "#ff0000", "-T", "red", "-e", "sleep", "60")
    await eventually(lambda: _is_listed(tools, process))
    window = (await tools.data("focus_window", name="red"))["id"]
    bounds = (await tools.data("list_windows"))["windows"][0]["bounds"]
    small = await tools.data("take_screenshot", window=window, longest_side=bounds["width"] // 2)
    inside = {"x": 40, "y": 30, "width": 60, "height": 40}
    scaled = {key: round(value * small["scale"]) for key, value in inside.items()}
    first = await tools.data(
        "take_screenshot", region={**inside, "space": "window", "reference": str(window)}
    )
    reference = {"space": "screenshot", "reference": small["screenshot"]}
    second = await tools.data("take_screenshot", region={**scaled, **reference})
    for shot in (first, second):
        assert abs(shot["origin"]["x"] - bounds["x"] - 40) <= 2
        assert abs(shot["origin"]["y"] - bounds["y"] - 30) <= 2
    lost = {**inside, "space": "screenshot", "reference": "shot99"}
    assert "no screenshot 'shot99'" in await tools.refused("take_screenshot", region=lost)
    missing = {**inside, "space": "window"}
    assert "needs the id" in await tools.refused("take_screenshot", region=missing)


async def test_an_application_is_opened_by_name_and_reports_its_window(tools: Tools) -> None:
    opened = await tools.data("open_application", id="xterm", arguments=["-T", "by tool"])
    assert opened["window"]["title"] == "by tool"
    os.kill(opened["application"], signal.SIGKILL)
    assert "No application is called" in await tools.refused("open_application", id="No Such Thing")


async def test_an_unknown_window_is_refused_with_the_open_ones(tools: Tools, programs: Programs) -> None:
    process = programs.start("xterm", "-T", "the only one", "-e", "sleep", "60")
    await eventually(lambda: _is_listed(tools, process))
    assert "the only one" in await tools.refused("focus_window", name="nothing like it")


async def _is_listed(tools: Tools, process: subprocess.Popen[bytes]) -> bool:
    return bool((await tools.data("list_windows", parent=str(process.pid)))["windows"])
