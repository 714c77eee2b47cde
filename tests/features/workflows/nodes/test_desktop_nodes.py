"""Desktop nodes against results of the bundled server's form and of other servers' forms."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.features.workflows.nodes.worlds import NodeWorld, visit
from toolcrib.bundled.desktop.session import DesktopSession, SessionSettings
from toolcrib.bundled.desktop.tools import offer_profile
from toolcrib.features.workflows.conversion import to_call, to_node
from toolcrib.features.workflows.desktop_tools import DesktopSettings, NotOnScreen
from toolcrib.features.workflows.graph.node_types import node_types
from toolcrib.graph.node_type import AnyNodeType, NodeCall
from toolcrib.schema.tools import ToolResult
from toolcrib.schema.workflows import Node
from toolcrib.serverkit.server import ToolServer
from toolcrib.tools.registry import Registry
from toolcrib.tools.validation import ArgumentChecker

BUNDLED = {
    "found": True,
    "count": 2,
    "matches": [
        {
            "text": "Save as",
            "x": 10,
            "y": 20,
            "bounds": {"x": 0, "y": 0, "width": 8, "height": 4},
            "confidence": 0.9,
        },
        {"text": "Save", "x": 30, "y": 40, "window": 7},
    ],
}
OTHER = [
    {
        "text": "Save",
        "x": 1.5,
        "y": 2.5,
        "confidence": 1.0,
        "bounds": {"x": 0, "y": 0, "width": 3, "height": 5},
    }
]
OTHER_IMAGES = {
    "matches": [{"score": 0.95, "center": {"x": 5, "y": 6}, "bbox": {"x": 0, "y": 0, "w": 9, "h": 9}}]
}
SCREEN_IMAGES = {"matches": [{"score": 0.95, "center": {"x": 5, "y": 6}, "screen_x": 50, "screen_y": 60}]}
OTHER_WINDOWS = [
    {
        "id": 3,
        "name": "Inbox",
        "owner_name": "Mail",
        "owner_pid": 77,
        "bounds": {"x": 1, "y": 2, "width": 3, "height": 4},
    }
]


def answering(**results: Any) -> NodeWorld:
    """Each tool answers with this data, as JSON text as other servers do."""

    async def call(use: NodeCall) -> ToolResult:
        assert use.desktop
        return {"content": [{"type": "text", "text": json.dumps(results.get(use.tool, "done"))}]}

    return NodeWorld(call)


DESKTOP_NODES = [each for each in node_types().values() if issubclass(each.settings, DesktopSettings)]
PLACES = {"Click": {"x": 3, "y": 4}}


@pytest.fixture(scope="module")
def bundled() -> Registry:
    """The definitions of the bundled desktop server, which is not started."""
    server, tools = ToolServer("desktop", "0"), Registry()
    offer_profile(server, DesktopSession(SessionSettings()), "full")
    tools.put("desktop", "mcp", [tool.definition for tool in server.tools.values()])
    return tools


@pytest.mark.parametrize("node_type", DESKTOP_NODES, ids=lambda each: each.name)
def test_the_bundled_server_accepts_the_call_of_each_node(bundled: Registry, node_type: AnyNodeType) -> None:
    call = to_call(Node(type=node_type.name, settings=PLACES.get(node_type.name, node_type.example)))
    tool = bundled.resolve(f"desktop__{call.tool}")

    ArgumentChecker().check(tool, call.arguments)

    node = to_node(tool.name, call.arguments, find_tool=bundled.resolve)
    assert (node.type, to_call(node)) == (node_type.name, call)


def test_there_are_nine_desktop_nodes() -> None:
    assert len(DESKTOP_NODES) == 9


async def test_found_text_has_a_place() -> None:
    result = await visit(answering(find_text=BUNDLED), "FindText", {"search_text": "Save", "scope": "gedit"})

    assert (result["found"], result["count"], result["text"], result["x"], result["y"]) == (
        True,
        2,
        "Save as",
        10,
        20,
    )
    assert result["matches"][1]["window"] == 7


async def test_another_match_can_be_selected_and_exact_matches_are_exact_on_any_server() -> None:
    world = answering(find_text=BUNDLED)

    second = await visit(world, "FindText", {"search_text": "Save", "select_result": 1})
    exact = await visit(world, "FindText", {"search_text": "save ", "match_mode": "exact"})

    assert second["text"] == "Save"
    assert (exact["count"], exact["x"]) == (1, 30)
    assert world.calls[1].arguments == {"text": "save ", "match_mode": "exact"}


@pytest.mark.parametrize(
    "nothing", [{"found": False, "matches": []}, [], "not found", {"matches": "none"}, [{"text": "x"}]]
)
async def test_text_that_is_not_found_is_a_result_or_a_failure(nothing: Any) -> None:
    world = answering(find_text=nothing)

    result = await visit(world, "FindText", {"search_text": "Save"})

    assert result == {"found": False, "count": 0, "text": None, "x": None, "y": None, "matches": []}
    with pytest.raises(NotOnScreen, match="'Save' is not on the screen"):
        await visit(world, "FindText", {"search_text": "Save", "required": True})


async def test_the_results_of_other_servers_are_read() -> None:
    found = await visit(answering(find_text=OTHER), "FindText", {"search_text": "Save"})
    image = await visit(answering(find_image=OTHER_IMAGES), "FindImage", {"template_image": "aGk="})
    on_screen = await visit(answering(find_image=SCREEN_IMAGES), "FindImage", {"template_image": "aGk="})
    windows = await visit(answering(list_windows=OTHER_WINDOWS), "ListWindows")

    assert (found["x"], found["matches"][0]["height"]) == (1.5, 5)
    assert (image["x"], image["confidence"], image["matches"][0]["width"]) == (5, 0.95, 9)
    assert (on_screen["x"], on_screen["y"]) == (50, 60)
    assert windows["windows"][0] == {
        "id": 3,
        "title": "Inbox",
        "app": "Mail",
        "pid": 77,
        "active": False,
        "x": 1,
        "y": 2,
        "width": 3,
        "height": 4,
    }


async def test_a_click_on_a_text_finds_it_and_notes_the_decision() -> None:
    world = answering(find_text=BUNDLED)

    result = await visit(world, "Click", {"target": "save", "button": "right", "click_count": 2})

    assert [use.tool for use in world.calls] == ["find_text", "click"]
    assert world.calls[1].arguments == {"x": 30, "y": 40, "button": "right", "click_count": 2}
    assert world.notes == [
        ("target_resolved", {"target": "save", "x": 30, "y": 40, "text": "Save", "matches": 2})
    ]
    assert result == {"x": 30, "y": 40, "text": "Save", "matches": 2}


async def test_a_click_on_a_picture_finds_it_first() -> None:
    world = answering(find_image=OTHER_IMAGES)

    await visit(world, "Click", {"image": "aGk=", "scope": "gedit"})

    assert world.calls[0].arguments == {"template_image_base64": "aGk=", "app_name": "gedit"}
    assert world.calls[1].arguments == {"x": 5, "y": 6}
    assert world.notes[0][1]["target"] == "the picture"


@pytest.mark.parametrize(
    ("matches", "why"),
    [([], "is not on the screen"), ([{**OTHER[0], "covered": True}], "is covered by another window")],
)
async def test_a_click_without_a_place_does_not_click(matches: Any, why: str) -> None:
    world = answering(find_text=matches)

    with pytest.raises(NotOnScreen, match=why):
        await visit(world, "Click", {"target": "Save"})

    assert [use.tool for use in world.calls] == ["find_text"]


async def test_arguments_that_are_not_set_are_not_sent() -> None:
    world = answering()

    await visit(world, "Scroll", {"delta_y": 3})
    await visit(world, "PressKey", {"key": "enter"})
    await visit(world, "PressKey", {"key": "s", "modifiers": ["ctrl"], "extra": {"times": 2}})
    await visit(world, "FocusWindow", {"method": "window_id", "value": "{{w.id}}"}, w={"id": 12})
    await visit(world, "FocusWindow", {"method": "pid", "value": "{{w.id}}"}, w={"id": "12"})
    await visit(world, "TypeText", {"text": "{{w.id}}"}, w={"id": 12})

    assert [use.arguments for use in world.calls] == [
        {"delta_y": 3},
        {"key": "enter"},
        {"key": "s", "modifiers": ["ctrl"], "times": 2},
        {"window_id": 12},
        {"pid": 12},
        {"text": "12"},
    ]


async def test_a_screenshot_is_an_artifact_and_never_a_value() -> None:
    async def call(use: NodeCall) -> ToolResult:
        picture = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
        data = {"screenshot": "shot1", "width": 640, "height": 480, "ocr_text": "Hello"}
        return {"content": [picture, {"type": "text", "text": "shot1"}], "structuredContent": data}

    world = NodeWorld(call)
    region = {"x": 0, "y": 0, "width": 5, "height": 5}

    result = await visit(world, "TakeScreenshot", {"mode": "region", "region": region})

    assert world.kept == [(b"hello", "image/png")]
    assert world.calls[0].arguments == {"mode": "region", "region": region, "include_ocr": True}
    assert result == {
        "picture": "artifact-1",
        "text": "Hello",
        "width": 640,
        "height": 480,
        "screenshot": "shot1",
    }
