"""Macros that drive real programs; checked by what the programs printed."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.desktop.conftest import Programs, eventually, window_of
from tests.bundled.desktop.full_server import FullServer
from tests.loop_clock import LoopClock
from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.consent.control import preview
from toolcrib.bundled.desktop.macros.scope import MacroScope
from toolcrib.serverkit.context import ToolContext

OK = '{"role": "button", "text": "OK"}'


@pytest.fixture
def full(backend: Backend, tmp_path: Path) -> FullServer:
    return FullServer(backend, tmp_path / "home")


async def form(programs: Programs, backend: Backend, *options: str) -> subprocess.Popen[bytes]:
    process = programs.start("zenity", *options, stdout=subprocess.PIPE)
    await window_of(backend, process)
    return process


async def printed(process: subprocess.Popen[bytes]) -> str:
    output, _ = await asyncio.to_thread(process.communicate, None, 20)
    return output.decode().strip()


def call(method: str, **args: str) -> dict[str, Any]:
    return {"method_call": {"method": method, "args": args}}


async def store(full: FullServer, name: str, *actions: dict[str, Any], **fields: Any) -> None:
    macro = {"display_name": name, "actions": list(actions), **fields}
    await full.data("create_macro", macro=macro, macro_id=name)


async def test_a_macro_fills_in_a_form_with_its_parameters(
    full: FullServer, backend: Backend, programs: Programs
) -> None:
    process = await form(programs, backend, "--entry", "--title=Ask", "--text=Name")
    field = '{"role": "textbox"}'
    value = {"element_selector": field, "attribute": "value"}
    await store(
        full,
        "greet",
        {"wait": {"duration": 0, "condition": {"element_selector": field, "timeout": 20}}},
        {"assign": {"variable": "greeting", "expression": 'join("Hello ", upper(who), "!")'}},
        call("write_element_value", selector=field, value="${greeting}"),
        {"assign": {"variable": "seen", "element_attribute": value}},
        {"conditional": {
            "condition": {"variable_equals": {"variable": "seen", "value": "Hello ADA!"}},
            "then_actions": [call("ClickElement", selector=OK)],
            "else_actions": [call("press_key", key="escape")],
        }},
        parameters=[{"key": "who", "type": "string", "required": True}],
    )  # fmt: skip
    assert "'who' is missing" in await full.refused("execute_macro", macro="macros/greet")
    steps: list[tuple[float, float | None, str | None]] = []
    context = ToolContext(on_progress=lambda *step: steps.append(step))
    result = await full.call(
        "execute_macro", context, macro="macros/greet", parameter_values={"who": "Ada"},
        application=str(process.pid),
    )  # fmt: skip
    assert not result["isError"], result["content"]
    assert await printed(process) == "Hello ADA!"
    data = result["structuredContent"]
    assert data["actions_executed"] == 6
    assert [entry["action_index"] for entry in data["log"]] == [0, 1, 2, 3, 4, 5]
    assert all(entry["success"] for entry in data["log"])
    assert [step[:2] for step in steps] == [(number, 7) for number in range(1, 7)]
    assert (await full.data("get_macro", name="greet"))["execution_count"] == 1
    listed = await full.data("list_macros")
    assert [each["name"] for each in listed["macros"]] == ["macros/greet"]


@pytest.mark.acceptance
async def test_the_macro_in_the_documentation_writes_its_file(full: FullServer, tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "desktop-macros.md").read_text()
    macro = json.loads(page.split("```json\n", 1)[1].split("```", 1)[0])
    await full.data("create_macro", macro=macro, macro_id="note")
    file = tmp_path / "note.txt"
    values = {"who": "Ada", "file": str(file)}
    try:
        await full.data("execute_macro", macro="note", parameter_values=values)

        async def is_saved() -> bool:
            return file.exists() and bool(file.read_text())

        await eventually(is_saved)
        assert file.read_text().rstrip() == "Dear Ada,"
    finally:
        await full.data("delete_application", name="mousepad", force=True)


async def test_loops_type_each_value_and_input_actions_press_keys(
    full: FullServer, backend: Backend, programs: Programs
) -> None:
    process = await form(programs, backend, "--entry", "--title=Loop", "--text=Text")
    type_item = {"input": {"type_text": {"text": "${item}${count}"}}}
    count = {"assign": {"variable": "count", "expression": "count + 1"}}
    more = {"compound": {"operator": "not", "conditions": [
        {"variable_equals": {"variable": "count", "value": "4"}}
    ]}}  # fmt: skip
    await store(
        full,
        "type-items",
        {"assign": {"variable": "count", "literal": "0"}},
        {"wait": {"condition": {"window_title": "Loop"}}},
        call("ClickElement", selector="role:textbox"),
        {"loop": {"foreach": {"values": "ä,日", "item_variable": "item"}, "actions": [type_item, count]}},
        {"loop": {"while_condition": more, "actions": [{"input": {"type_text": {"text": "."}}}, count]}},
        {"loop": {"count": 2, "actions": [{"input": {"press_key": {"key": "backspace"}}}]}},
        {"input": {"press_key": {"key": "Return"}}},
    )
    data = await full.data("execute_macro", macro="type-items", application=str(process.pid))
    assert await printed(process) == "ä0日1"
    assert data["actions_executed"] == 17


async def test_an_error_stops_the_macro_or_is_only_logged(
    full: FullServer, backend: Backend, programs: Programs
) -> None:
    process = await form(programs, backend, "--question", "--title=Stop", "--text=Go on?")
    missing = call("click_element", selector="text:Nothing like it", timeout="0")
    await store(full, "click-two", missing, call("click_element", selector="text:No"))
    application: dict[str, Any] = {"application": str(process.pid)}
    session = (await full.data("create_session"))["name"]
    failed = await full.call("execute_macro", macro="click-two", session=session, **application)
    assert failed["isError"]
    assert failed["structuredContent"]["actions_executed"] == 1
    assert "No elements match text:Nothing" in failed["structuredContent"]["error"]
    history = (await full.data("get_session", name=session))["history"]
    assert [(each["resource"], each["success"]) for each in history] == [("click-two", False)]
    assert process.poll() is None
    going_on = await full.call(
        "execute_macro", macro="click-two", options={"continue_on_error": True}, **application
    )
    assert [each["success"] for each in going_on["structuredContent"]["log"]] == [False, True]
    assert not going_on["structuredContent"]["success"]
    assert await asyncio.to_thread(process.wait, 20) == 1


async def test_an_ambiguous_or_covered_target_is_refused(
    full: FullServer, backend: Backend, programs: Programs
) -> None:
    process = await form(programs, backend, "--question", "--title=Two", "--text=Which?")
    application: dict[str, Any] = {"application": str(process.pid)}
    await store(full, "either", call("click_element", selector="role:button"))
    assert "2 elements match" in await full.refused("execute_macro", macro="either", **application)
    corner = {"input": {"click": {"position": {"x": 1279, "y": 799}}}}
    await store(full, "outside", corner, call("click", x="5000", y="1"))
    result = await full.call(
        "execute_macro", macro="outside", options={"continue_on_error": True}, **application
    )
    errors = [entry["error"] for entry in result["structuredContent"]["log"]]
    assert "Another window covers" in errors[0]
    assert "outside the window" in errors[1]
    assert process.poll() is None


async def test_limits_hold(full: FullServer, monkeypatch: pytest.MonkeyPatch, clock: LoopClock) -> None:
    monkeypatch.setattr("toolcrib.bundled.desktop.macros.execution.MAX_STEPS", 50)
    add = {"assign": {"variable": "x", "literal": "1"}}
    always = {"variable_equals": {"variable": "x", "value": "1"}}
    await store(full, "endless", add, {"loop": {"while_condition": always, "actions": [add]}})
    assert "stopped after 50 actions" in await full.refused(
        "execute_macro", macro="endless", options={"continue_on_error": True}
    )
    await store(full, "itself", call("execute_macro", macro="macros/itself"))
    assert "more than 5 levels" in await full.refused("execute_macro", macro="itself")
    await store(full, "slow", {"wait": {"duration": 200}})
    pause, waits = MacroScope.pause, asyncio.Event()

    async def noted(scope: MacroScope, seconds: float) -> None:
        waits.set()
        await pause(scope, seconds)

    monkeypatch.setattr(MacroScope, "pause", noted)
    running = full.call("execute_macro", macro="slow", options={"timeout": 60})
    stopped = await clock.outlasts(running, 60, begun=waits.wait())
    assert "stopped after 60 s" in stopped["content"][0]["text"]
    assert [each["error"] for each in stopped["structuredContent"]["log"]] == ["It was stopped."]
    await store(full, "script", call("execute_shell_command", command="id"))
    assert "cannot call 'execute_shell_command'" in await full.refused("execute_macro", macro="script")
    await store(full, "fast", {"wait": {"duration": 100}})
    options = {"speed": 5000, "timeout": 60, "record_execution": False}
    assert (await full.data("execute_macro", macro="fast", options=options))["log"] == []


async def test_a_cancelled_macro_stops_typing_at_once(
    full: FullServer, backend: Backend, programs: Programs
) -> None:
    process = await form(programs, backend, "--entry", "--title=Cancel")
    await store(
        full,
        "type-much",
        call("ClickElement", selector="role:textbox"),
        {"loop": {"count": 500, "actions": [{"input": {"type_text": {"text": "x"}}}]}},
    )
    started = asyncio.Event()
    context = ToolContext(on_progress=lambda done, *_: started.set() if done > 4 else None)
    running = asyncio.create_task(
        full.call("execute_macro", context, macro="type-much", application=str(process.pid))
    )
    await asyncio.wait_for(started.wait(), 30)
    assert "Another macro is running" in await full.refused("execute_macro", macro="type-much")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await store(full, "finish", call("click_element", selector=OK))
    await full.data("execute_macro", macro="finish", application=str(process.pid))
    text = await printed(process)
    assert 0 < len(text) < 100
    assert set(text) == {"x"}


async def test_an_approval_shows_the_steps_and_not_only_their_descriptions(full: FullServer) -> None:
    typed = {"input": {"type_text": {"text": "all words"}}}
    loop = {"loop": {"count": 2, "actions": [typed]}, "description": "Fill in all rows"}
    await store(full, "shown", call("click_element", selector="text:OK"), loop)
    shown = await preview(full.session, "execute_macro", {"macro": "shown"})
    assert shown["action"] == "macro"
    for part in ("click_element", "text:OK", '"count": 2', "all words"):
        assert part in shown["text"]


async def test_the_log_has_each_action_with_the_errors_of_those_inside(full: FullServer) -> None:
    def fill(text: str) -> dict[str, Any]:
        return {"assign": {"variable": "x", "literal": text}}

    def equals(value: str) -> dict[str, Any]:
        return {"variable_equals": {"variable": "x", "value": value}}

    inner = {
        "conditional": {"condition": equals("1"), "then_actions": [fill("${y}")], "else_actions": [fill("1")]}
    }
    await store(
        full,
        "nested",
        fill("0"),
        {"loop": {"count": 2, "actions": [inner, fill("1")]}},
        {
            "conditional": {
                "condition": {"variable_equals": {"variable": "z", "value": ""}},
                "then_actions": [fill("2")],
            }
        },
        {"loop": {"while_condition": equals("${z}"), "actions": [fill("3")]}},
        {"loop": {"count": 0, "actions": [fill("4")]}},
        {"loop": {"foreach": {"values": "a,b", "item_variable": "item"}, "actions": [fill("${item}")]}},
    )
    await store(full, "outer", call("execute_macro", macro="nested"), fill("5"))

    async def entries(**options: Any) -> list[tuple[int, str]]:
        result = await full.call("execute_macro", macro="outer", options=options)
        assert not result["structuredContent"]["success"]
        log = result["structuredContent"]["log"]
        assert [int(each["name"].rpartition("/")[2]) for each in log] == list(range(1, len(log) + 1))
        assert all(each["success"] is not bool(each["error"]) for each in log)
        return [(each["action_index"], each["error"]) for each in log]

    missing_y, missing_z = "There is no variable 'y'.", "There is no variable 'z'."
    begun = [(0, ""), (1, ""), (2, ""), (4, ""), (5, "")]
    assert await entries(continue_on_error=True) == [
        (0, ""), *begun, (2, ""), (3, missing_y), (5, ""), (6, missing_z), (8, missing_z), (10, ""),
        (12, ""), (13, ""), (13, ""), (1, ""),
    ]  # fmt: skip
    failed = [(index, missing_y if index == 1 else "") for index, _ in begun]
    assert await entries() == [(0, missing_y), *failed, (2, missing_y), (3, missing_y)]
