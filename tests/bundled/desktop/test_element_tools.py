"""Elements through their tools: by region, by resource name, in all applications, by their own actions."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.desktop.conftest import Programs
from tests.bundled.desktop.full_tools import FullTools


async def test_elements_are_found_by_region_read_again_and_activated(
    full: FullTools, programs: Programs
) -> None:
    process = programs.start("zenity", "--question", "--text=Continue?", "--ok-label=Go on")
    button = await full.element(process, role="button", text="Go on")
    around = {**button["bounds"], "width": button["bounds"]["width"] + 4}
    found = await full.data("find_region_elements", region=around)
    assert [each["name"] for each in found["elements"]] == ["Go on"]
    window = await full.window(process)
    inside = {
        **around,
        "x": around["x"] - window["bounds"]["x"],
        "y": around["y"] - window["bounds"]["y"],
    }
    same = await full.data("find_region_elements", region=inside, space="window", reference=window["id"])
    assert [each["bounds"] for each in same["elements"]] == [button["bounds"]]
    name = f"applications/{process.pid}/elements/{found['elements'][0]['id']}"
    details = await full.data("get_element", name=name)
    assert (details["name"], details["application"]) == ("Go on", process.pid)
    assert details["actions"]
    refused = await full.result("perform_element_action", element_id=button["id"], action="fly")
    assert "It offers: " in refused["content"][0]["text"]
    acted = await full.data("perform_element_action", element_id=name, action="AXPress")
    assert acted["method"] == "action"
    assert await asyncio.to_thread(process.wait, 10) == 0
    assert await full.reason("get_element", name=name) == "ELEMENT_NOT_FOUND"
    empty = {**around, "width": 0}
    assert await full.reason("find_region_elements", region=empty) == "INVALID_FORMAT"


async def test_all_applications_are_searched_and_an_ambiguous_target_is_refused(
    full: FullTools, programs: Programs
) -> None:
    texts = ("first question", "second question")
    started = [programs.start("zenity", "--question", f"--text={text}", "--ok-label=Agree") for text in texts]
    for process in started:
        await full.element(process, role="button", text="Agree")
    everywhere = await full.data(
        "find_elements", parent="applications/-", selector={"role": "button", "text": "Agree"}, wait=5
    )
    assert everywhere["application"] is None
    assert len(everywhere["elements"]) == 2
    arguments: dict[str, Any] = {"parent": "applications/-", "selector": "text:Agree"}
    assert await full.reason("click_element", **arguments) == "AMBIGUOUS_ELEMENT_MATCH"
    assert await full.reason("click_element") == "EMPTY_FIELD"
    nothing = {"parent": "applications/-", "selector": "text:No such thing"}
    assert await full.reason("click_element", **nothing) == "ELEMENT_NOT_FOUND"
    wrong = await full.reason("click_element", element_id="s1e1", click_type="fourfold")
    assert wrong == "INVALID_FORMAT"
    chosen = {"parent": str(started[1].pid), "selector": "text:Agree", "click_type": "CLICK_TYPE_SINGLE"}
    await full.data("click_element", **chosen)
    assert await asyncio.to_thread(started[1].wait, 10) == 0
    assert started[0].poll() is None


async def test_a_check_box_is_set_to_a_state_and_left_alone_in_it(
    full: FullTools, programs: Programs, tmp_path: Path
) -> None:
    terms = tmp_path / "terms.txt"
    terms.write_text("Terms")
    process = programs.start("zenity", "--text-info", f"--filename={terms}", "--checkbox=I agree")
    box = (await full.element(process, role="check box"))["id"]

    async def write(value: str) -> tuple[str, bool, bool]:
        done = await full.data("write_element_value", element_id=box, value=value)
        now = await full.element(process, role="check box")
        return done["method"], done["verified"], "checked" in now["states"]

    assert await write("true") == ("pointer", True, True)
    assert await write("checked") == ("none", True, True)
    assert await write("false") == ("pointer", True, False)
    assert await write("off") == ("none", True, False)
    assert await full.reason("write_element_value", element_id=box, value="maybe") == "INVALID_FORMAT"


async def test_pages_of_elements_are_of_the_same_moment(full: FullTools, programs: Programs) -> None:
    process = programs.start("mousepad")
    await full.element(process, role="text", attributes={"multi_line": "true"})
    parent = str(process.pid)
    whole = await full.data("find_elements", parent=parent, selector="role:menuitem", max_tokens=20_000)
    names = [each["name"] for each in whole["elements"]]
    seen: list[str] = []
    page = await full.data("find_elements", parent=parent, selector="role:menuitem", page_size=25)
    process.kill()
    while True:
        seen += [each["name"] for each in page["elements"]]
        if not page["next_page_token"]:
            break
        page = await full.data("find_elements", page_token=page["next_page_token"], page_size=25)
    assert seen == names
    assert len(names) > 50


async def test_ids_offered_for_an_ambiguous_selector_can_be_used(full: FullTools, programs: Programs) -> None:
    process = programs.start("mousepad")
    await full.element(process, role="text", attributes={"multi_line": "true"})
    older = await full.element(process, role="menu", text="Edit")
    entries = {"role": "menu item", "attributes": {"visible": "false"}}
    refused = await full.result("click_element", parent=str(process.pid), selector=entries)
    message = refused["structuredContent"]["error"]["message"]
    assert int(message.split()[0]) > 24, message
    offered = re.findall(r"^(s\d+e\d+) ", refused["structuredContent"]["error"]["hint"], re.MULTILINE)
    assert len(offered) == 10
    for element_id in (offered[0], offered[-1], older["id"]):
        assert (await full.data("get_element", name=element_id))["id"] == element_id


@pytest.mark.parametrize("tool", ["find_elements", "find_region_elements"])
async def test_a_foreign_page_token_is_refused(full: FullTools, tool: str) -> None:
    region = {"region": {"x": 0, "y": 0, "width": 9, "height": 9}} if tool != "find_elements" else {}
    assert await full.reason(tool, page_token="bm90IG91cnM", **region) == "INVALID_PAGE_TOKEN"


async def test_elements_and_input_of_our_own_page_are_out_of_reach(
    full: FullTools, programs: Programs
) -> None:
    """A program that has the title of the page in a browser."""
    title = "(1) Toolcrib — Mozilla Firefox"
    process = programs.start("zenity", "--question", f"--title={title}", "--text=May it?", "--ok-label=Allow")
    window = await full.window(process)
    assert window["title"] == title
    await full.data("focus_window", window_id=window["id"])

    async def nothing_found() -> bool:
        found = await full.data("find_elements", parent=str(process.pid), selector="role:button", wait=1)
        return not found["elements"]

    tree = await full.backend.accessibility.tree(process.pid, 5)
    assert any(each.name == "Allow" for each in tree.elements), "the program does offer elements"
    assert await nothing_found()
    assert await full.reason("type_text", text="y") == "PERMISSION_DENIED"
    assert await full.reason("press_key", key="enter") == "PERMISSION_DENIED"
    assert await full.reason("press_key", key="enter", window=window["id"]) == "PERMISSION_DENIED"
    x, y = (window["bounds"][each] + 20 for each in ("x", "y"))
    assert await full.reason("click", x=x, y=y) == "PERMISSION_DENIED"
    assert await full.reason("scroll", delta_y=1) == "PERMISSION_DENIED"
    for kind in ("button_down", "click"):
        action = {"action": {kind: {"position": {"x": x, "y": y}}}}
        assert await full.reason("create_input", input=action) == "PERMISSION_DENIED"
    seen = await full.result("take_screenshot")
    assert not seen["isError"]
    assert process.poll() is None


async def test_every_reply_keeps_to_its_budget(full: FullTools, programs: Programs) -> None:
    process = programs.start("featherpad")
    find = await full.element(process, role="button", text="Find")
    listed = await full.result("find_elements", parent=str(process.pid), max_tokens=300)
    assert len(listed["content"][0]["text"]) < 300 * 4 + 200
    assert re.search(r"page_token \S+\.", listed["content"][0]["text"])
    clicked = await full.result("click_element", element_id=find["id"])
    assert len(clicked["content"][0]["text"]) < 500 * 4 + 300


@pytest.mark.parametrize("by_name", [True, False], ids=["by name", "by id"])
async def test_a_click_reads_the_elements_once_before_it_and_reports_its_effect(
    full: FullTools, programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_name: bool
) -> None:
    terms = tmp_path / "terms.txt"
    terms.write_text("Terms")
    process = programs.start("zenity", "--text-info", f"--filename={terms}", "--checkbox=I agree")
    box = await full.element(process, role="check box", text="I agree")
    order: list[str] = []
    _record(monkeypatch, full.backend.accessibility, "tree", order)
    _record(monkeypatch, full.backend.input, "click", order)
    target = (
        {"selector": "text:I agree", "parent": str(process.pid)} if by_name else {"element_id": box["id"]}
    )
    clicked = await full.data("click_element", **target)
    assert clicked["verified"]
    assert any("I agree" in change and "checked" in change for change in clicked["changes"])
    assert order[: order.index("click") + 1] == ["tree", "click"]
    assert "tree" in order[order.index("click") :]


async def test_a_stale_id_is_refused_while_the_elements_are_being_read(
    full: FullTools, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = programs.start("zenity", "--question", "--text=Continue?", "--ok-label=Go on")
    button = await full.element(process, role="button", text="Go on")
    process.kill()
    await asyncio.to_thread(process.wait)
    order: list[str] = []
    _record(monkeypatch, full.backend.input, "click", order)
    assert await full.reason("click_element", element_id=button["id"]) == "ELEMENT_NOT_FOUND"
    assert not order


def _record(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, order: list[str]) -> None:
    """Note each call, which is then done as usual."""
    original = getattr(owner, name)

    def recorded(*arguments: Any, **options: Any) -> Any:
        order.append(name)
        return original(*arguments, **options)

    monkeypatch.setattr(owner, name, recorded)
