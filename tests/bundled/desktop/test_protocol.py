"""The server's protocol over stdio, its profiles, and the small rules of its parameters."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from toolcrib.bundled.desktop import create
from toolcrib.bundled.desktop.failures import InvalidFormat, InvalidPageToken, NotSupported, OutOfRange
from toolcrib.bundled.desktop.keys import chord_of
from toolcrib.bundled.desktop.lists import filtered, make_token, masked, ordered, paginate, read_token
from toolcrib.bundled.desktop.operations.clipboard import ClipboardCleared
from toolcrib.bundled.desktop.operations.table import Desktop, DesktopOperation, OperationTraits, operation
from toolcrib.bundled.desktop.own_page import is_own_page
from toolcrib.bundled.desktop.resources import application_of, split_name
from toolcrib.bundled.desktop.session import DesktopSession, SessionSettings
from toolcrib.bundled.desktop.tools import offer_operation
from toolcrib.serverkit.server import ToolServer

RPC_TOOLS = {
    *("open_application", "get_application", "list_applications", "delete_application"),
    *("get_window", "list_windows", "focus_window", "move_window", "resize_window", "minimize_window"),
    *("restore_window", "close_window"),
    *("find_elements", "find_region_elements", "get_element", "click_element", "write_element_value"),
    "perform_element_action",
    *("list_displays", "get_display"),
    *("get_clipboard", "write_clipboard", "clear_clipboard", "get_clipboard_history"),
    *("create_input", "list_inputs"),
    *("create_observation", "get_observation", "list_observations", "cancel_observation"),
    *("execute_apple_script", "execute_javascript", "execute_shell_command", "validate_script"),
    *("capture_screenshot", "capture_window_screenshot", "capture_element_screenshot"),
    "capture_region_screenshot",
    *("create_session", "get_session", "list_sessions", "delete_session"),
    *("create_macro", "get_macro", "list_macros", "execute_macro"),
}
WORKFLOW_TOOLS = {
    *("take_screenshot", "find_text", "find_image", "click", "type_text", "press_key", "scroll"),
    *("list_windows", "focus_window"),
}
_GROUPS = ("application", "window", "element", "display", "clipboard", "input")
TOOLS_HERE = {
    *(name for name in RPC_TOOLS if any(group in name for group in _GROUPS) and "screenshot" not in name),
    *("click", "type_text", "press_key", "scroll"),
}
TOKENS = {"small": 4500, "workflow": 3500, "full": 20_000}


class RawClient:
    """Writes lines to a server and reads its answers."""

    def __init__(self, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "toolcrib.bundled.desktop", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def send(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self.answer(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))

    def answer(self, line: str) -> dict[str, Any]:
        assert self._process.stdout is not None
        self.send(line)
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def wait(self) -> int:
        return self._process.wait(20)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def test_errors_have_their_codes_and_older_clients_shut_it_down() -> None:
    client = RawClient()
    try:
        opened = client.ask("initialize", protocolVersion="2024-11-05", capabilities={}, clientInfo={})
        assert opened["result"]["protocolVersion"] == "2024-11-05"
        assert client.answer("{not json")["error"]["code"] == -32700
        assert client.answer("[]")["error"]["code"] == -32600
        assert client.answer('{"jsonrpc": "2.0", "id": 1}')["error"]["code"] == -32600
        assert client.ask("tools/fly")["error"]["code"] == -32601
        assert client.ask("tools/call", name="no_such_tool")["error"]["code"] == -32602
        assert client.ask("tools/call", name="click", arguments=[1])["error"]["code"] == -32602
        wrong = client.ask("tools/call", name="click", arguments={"x": "left"})["result"]
        assert wrong["isError"]
        assert "y: is required" in wrong["content"][0]["text"]
        assert client.ask("shutdown")["result"] == {}
        client.send('{"jsonrpc": "2.0", "method": "exit"}')
        assert client.wait() == 0
    finally:
        client.kill()


def test_full_offers_the_46_tools_and_the_seven_that_only_workflows_use() -> None:
    assert len(RPC_TOOLS) == 46
    assert len(RPC_TOOLS | WORKFLOW_TOOLS) == 53
    assert set(create(["--profile", "full"]).tools) == RPC_TOOLS | WORKFLOW_TOOLS
    assert set(create(["--profile", "workflow"]).tools) == WORKFLOW_TOOLS


@pytest.mark.parametrize("profile", ["small", "workflow", "full"])
def test_a_profile_costs_few_tokens(profile: str) -> None:
    """Four characters for a token; what a model is shown of each tool."""
    tools = [tool.definition for tool in create(["--profile", profile]).tools.values()]
    shown = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
    assert len(json.dumps(shown, ensure_ascii=False, separators=(",", ":"))) / 4 < TOKENS[profile]


def test_the_workflow_tools_take_their_documented_parameters() -> None:
    tools = create(["--profile", "workflow"]).tools
    documented = {
        "click": {"x", "y", "button", "click_count"},
        "type_text": {"text"},
        "press_key": {"key", "modifiers"},
        "scroll": {"delta_y", "x", "y"},
        "list_windows": {"app_name"},
        "focus_window": {"app_name", "window_id", "pid"},
    }
    required = {"click": ["x", "y"], "type_text": ["text"], "press_key": ["key"], "scroll": ["delta_y"]}
    for name, parameters in documented.items():
        schema = tools[name].definition["inputSchema"]
        assert parameters <= set(schema["properties"]), name
        assert schema.get("required", []) == required.get(name, []), name
        assert set(tools) <= WORKFLOW_TOOLS


def test_the_documentation_lists_each_tool_with_its_parameters() -> None:
    page = (Path(__file__).parents[3] / "docs" / "desktop-tools.md").read_text(encoding="utf-8")
    documented = dict(re.findall(r"^\| `(\w+)\((.*?)\)`", page, re.MULTILINE))
    tools = create(["--profile", "full"]).tools
    assert documented.keys() >= TOOLS_HERE
    for name, given in documented.items():
        schema = tools[name].definition["inputSchema"]
        required = schema.get("required", [])
        expected = {each if each in required else f"{each}?" for each in schema["properties"]}
        assert {each.strip() for each in given.split(",") if each.strip()} == expected, name


async def test_a_call_that_never_ends_is_ended() -> None:
    import asyncio

    @operation("Wait", OperationTraits(limit=0.01))
    async def wait_forever(desktop: Desktop) -> ClipboardCleared:
        await asyncio.Event().wait()
        return ClipboardCleared(True)

    server = ToolServer("x", "0")
    row: DesktopOperation = wait_forever.operation  # type: ignore[attr-defined]
    offer_operation(server, DesktopSession(SessionSettings()), row)
    result = await server.tools["wait_forever"].call({})
    assert result["structuredContent"]["error"]["reason"] == "TIMEOUT"


def test_a_page_token_is_valid_for_its_own_list_only() -> None:
    items = list(range(7))
    first = paginate(items, 3, "", "numbers", "all")
    assert (first.items, first.more) == ([0, 1, 2], 4)
    second = paginate(items, 3, first.next_page_token, "numbers", "all")
    last = paginate(items, 3, second.next_page_token, "numbers", "all")
    assert (last.items, last.next_page_token, last.more) == ([6], "", 0)
    token = first.next_page_token
    changed = token[:-1] + ("A" if token[-1] != "A" else "B")
    for wrong in (changed, token[:-4], "", "é", "=", "A" * 500):
        with pytest.raises(InvalidPageToken):
            read_token(wrong, "numbers", "all")
    with pytest.raises(InvalidPageToken):
        read_token(token, "numbers", "some")
    assert read_token(make_token(5, 9, "x"), "x") == (5, 9)
    with pytest.raises(OutOfRange):
        paginate(items, -1, "", "numbers")


def test_names_of_resources_are_taken_apart() -> None:
    assert split_name("applications/42/windows/7", "windows") == ("42", "7")
    assert split_name("applications/-/windows/7", "windows") == (None, "7")
    assert split_name("windows/7", "windows") == (None, "7")
    assert split_name(" 7 ", "windows") == (None, "7")
    assert application_of("applications/42/windows/7") == "42"
    assert application_of("mousepad") == "mousepad"
    for everything in ("applications/-", "-", "", None):
        assert application_of(everything) is None
    assert application_of("/usr/bin/mousepad") == "/usr/bin/mousepad"


def test_lists_are_filtered_ordered_and_masked() -> None:
    items = [{"title": "b", "open": True}, {"title": "A", "open": False}]
    fields = {"title": lambda item: item["title"], "open": lambda item: item["open"]}
    assert filtered(items, 'title="a" open=false', fields) == [items[1]]
    assert filtered([{"title": 'say "x"', "open": True}], r'title="say \"x\""', fields)
    assert ordered(items, "title desc", fields) == items
    for wrong in ("title", "colour=1", 'title="open', "title==", "x" * 600):
        with pytest.raises(InvalidFormat):
            filtered(items, wrong, fields)
    with pytest.raises(InvalidFormat):
        ordered(items, "title sideways", fields)
    data = {"name": "n", "a": 1, "b": 2}
    assert masked(data, "a") == {"name": "n", "a": 1}
    assert masked(data, "*") == data
    with pytest.raises(InvalidFormat):
        masked(data, "c")


def test_modifiers_may_be_words_or_enum_names() -> None:
    assert chord_of("s", ["MODIFIER_CONTROL", "shift"]) == "ctrl+shift+s"
    assert chord_of("ctrl+s", None) == "ctrl+s"
    assert chord_of("c", ["command", "cmd"]) == "super+c"
    with pytest.raises(NotSupported):
        chord_of("a", ["MODIFIER_FUNCTION"])
    with pytest.raises(InvalidFormat):
        chord_of("a", ["hyper"])


@pytest.mark.parametrize(
    ("title", "is_ours"),
    [
        ("Toolcrib", True),
        ("(3) Toolcrib", True),
        ("Toolcrib - Chromium", True),
        ("(12) Toolcrib — Mozilla Firefox", True),
        ("Toolcrib - Google Chrome - Ada (Work)", True),
        ("toolcrib.md - Mousepad", False),
        ("About Toolcrib - Chromium", False),
        ("Toolcribs", False),
    ],
)
def test_the_page_is_recognised_by_its_title(title: str, is_ours: bool) -> None:
    assert is_own_page(title) is is_ours
