"""A node becomes the call it stands for, and a call becomes the node that stands for it."""

from __future__ import annotations

from typing import Any

import pytest

from toolcrib.errors import UnknownTool
from toolcrib.features.workflows.conversion import NotAToolNode, to_call, to_node
from toolcrib.graph.node_type import UnknownNodeType
from toolcrib.graph.problems import InvalidSettings
from toolcrib.schema.workflows import Node
from toolcrib.tools.registry import Registry

DESKTOP = ["take_screenshot", "find_text", "find_image", "click", "type_text", "press_key", "scroll"]
DESKTOP += ["list_windows", "focus_window", "app_query", "move_window"]


@pytest.fixture
def registry() -> Registry:
    found = Registry()
    found.put("desktop", "mcp", [{"name": name} for name in DESKTOP])
    found.put("mac", "mcp", [{"name": "click"}, {"name": "find_text"}])
    found.put("demo", "mcp", [{"name": "add"}])
    return found


@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "settings"),
    [
        ("take_screenshot", {}, "TakeScreenshot", {"include_ocr": False}),
        ("take_screenshot", {"include_ocr": True}, "TakeScreenshot", {}),
        (
            "take_screenshot",
            {"app_name": "gedit", "include_ocr": True},
            "TakeScreenshot",
            {"mode": "window", "target": "gedit"},
        ),
        (
            "find_text",
            {"text": "Save", "app_name": "gedit"},
            "FindText",
            {"search_text": "Save", "scope": "gedit"},
        ),
        (
            "find_text",
            {"text": "Save", "language": "deu"},
            "FindText",
            {"search_text": "Save", "extra": {"language": "deu"}},
        ),
        (
            "find_image",
            {"template_image_base64": "aGk=", "threshold": 0.9},
            "FindImage",
            {"template_image": "aGk=", "threshold": 0.9},
        ),
        ("click", {"x": 3, "y": 4, "click_count": 2}, "Click", {"x": 3.0, "y": 4.0, "click_count": 2}),
        ("type_text", {"text": "Hello"}, "TypeText", {"text": "Hello"}),
        ("press_key", {"key": "s", "modifiers": ["ctrl"]}, "PressKey", {"key": "s", "modifiers": ["ctrl"]}),
        ("scroll", {"delta_y": -3}, "Scroll", {"delta_y": -3.0}),
        ("list_windows", {}, "ListWindows", {}),
        ("focus_window", {"app_name": "gedit"}, "FocusWindow", {"value": "gedit"}),
        ("focus_window", {"pid": 12}, "FocusWindow", {"method": "pid", "value": 12}),
        (
            "app_query",
            {"selector": "a"},
            "AppDebugKitOp",
            {"operation_name": "app_query", "parameters": {"selector": "a"}},
        ),
    ],
)
def test_a_desktop_call_becomes_its_node_and_back(
    registry: Registry, tool: str, arguments: dict[str, Any], kind: str, settings: dict[str, Any]
) -> None:
    node = to_node(f"desktop__{tool}", arguments, find_tool=registry.resolve)
    call = to_call(node)

    assert (node.type, node.settings) == (kind, settings)
    assert (call.tool, call.desktop) == (tool, True)
    assert arguments.items() <= call.arguments.items()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("demo__add", {"a": 1}),
        ("mac__click", {"x": 1, "y": 2}),
        ("desktop__move_window", {"name": "w", "x": 1, "y": 2}),
        ("desktop__click", {"x": "left", "y": 2}),
        ("desktop__click", {}),
        ("desktop__focus_window", {"name": "applications/1/windows/2"}),
    ],
)
def test_any_other_call_becomes_a_tool_call_node(
    registry: Registry, tool: str, arguments: dict[str, Any]
) -> None:
    node = to_node(tool, arguments, find_tool=registry.resolve)
    call = to_call(node)

    assert node.type == "McpToolCall"
    assert (call.tool, call.arguments, call.desktop) == (tool, arguments, False)


def test_the_desktop_server_of_the_workflow_decides_what_a_desktop_call_is(registry: Registry) -> None:
    assert to_node("mac__click", {"x": 1, "y": 2}, find_tool=registry.resolve, desktop="mac").type == "Click"
    assert (
        to_node("desktop__click", {"x": 1, "y": 2}, find_tool=registry.resolve, desktop="mac").type
        == "McpToolCall"
    )


def test_a_name_with_the_mcp_prefix_is_the_same_tool(registry: Registry) -> None:
    assert to_node("mcp__demo__add", {}, find_tool=registry.resolve).settings == {"tool": "demo__add"}


def test_an_unknown_tool_has_no_node(registry: Registry) -> None:
    with pytest.raises(UnknownTool, match="demo__sub"):
        to_node("demo__sub", {}, find_tool=registry.resolve)


@pytest.mark.parametrize(
    "kind", ["If", "Switch", "Loop", "EndLoop", "Map", "EndMap", "AskUser", "Wait", "Set", "Code", "AiStep"]
)
def test_a_control_node_is_not_a_tool_node(kind: str) -> None:
    with pytest.raises(NotAToolNode, match=f"{kind} does not stand for a tool call") as caught:
        to_call(Node(type=kind))

    assert "McpToolCall" in caught.value.hint


def test_a_click_on_a_target_is_two_calls() -> None:
    with pytest.raises(NotAToolNode, match="two calls"):
        to_call(Node(type="Click", settings={"target": "Save"}))


def test_references_stay_in_the_arguments() -> None:
    call = to_call(Node(type="Click", settings={"x": "{{find.x}}", "y": "{{find.y}}"}))

    assert call.arguments == {"x": "{{find.x}}", "y": "{{find.y}}"}


def test_a_node_with_wrong_settings_has_no_call() -> None:
    with pytest.raises(InvalidSettings, match="Click: Give either target"):
        to_call(Node(type="Click", settings={}))
    with pytest.raises(UnknownNodeType, match="'Clik'"):
        to_call(Node(type="Clik"))
