"""What each node does with its settings, and what it gives to the nodes after it."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.features.workflows.nodes.worlds import NodeWorld, visit
from toolcrib.errors import UsageError
from toolcrib.features.workflows.graph.node_types import find_type
from toolcrib.features.workflows.tool_content import ToolFailed
from toolcrib.graph.control import LoopLimitReached
from toolcrib.graph.node_settings import resolved
from toolcrib.graph.node_type import ModelAnswer, NodeCall, Route, UserAnswer
from toolcrib.schema.tools import ToolResult

PICTURE = base64.b64encode(b"picture").decode()


def answering(result: ToolResult) -> NodeWorld:
    async def call(use: NodeCall) -> ToolResult:
        return result

    return NodeWorld(call)


def text(content: str, **more: Any) -> ToolResult:
    return {"content": [{"type": "text", "text": content}], **more}


def decide(kind: str, settings: dict[str, Any], completed: int = 0, **values: Any) -> Route:
    node_type = find_type(kind)
    assert node_type.decide is not None
    return node_type.decide(resolved(node_type.settings, settings, values), completed)


async def test_set_gives_each_name_as_a_field() -> None:
    result = await visit(NodeWorld(), "Set", {"values": {"n": "{{a.n}}", "text": "n = {{a.n}}"}}, a={"n": 3})

    assert result == {"n": 3, "text": "n = 3"}


async def test_a_tool_call_gives_text_data_and_pictures() -> None:
    content = [{"type": "text", "text": "5"}, {"type": "image", "data": PICTURE, "mimeType": "image/jpeg"}]
    world = answering({"content": content, "structuredContent": {"sum": 5}})

    result = await visit(
        world, "McpToolCall", {"tool": "demo__add", "arguments": {"a": "{{a.n}}"}}, a={"n": 3}
    )

    assert result == {"text": "5", "data": {"sum": 5}, "pictures": ["artifact-1"]}
    assert world.calls == [NodeCall(tool="demo__add", arguments={"a": 3})]
    assert world.kept == [(b"picture", "image/jpeg")]


@pytest.mark.parametrize(
    ("content", "data"),
    [('{"a": 1}', {"a": 1}), (" [1, 2]", [1, 2]), ("{broken", None), ("5", None), ("[" * 100_000, None)],
)
async def test_text_that_is_a_json_object_or_list_is_data(content: str, data: Any) -> None:
    result = await visit(answering(text(content)), "McpToolCall", {"tool": "t"})

    assert result["data"] == data


@pytest.mark.parametrize(
    "content",
    [
        None,
        "text",
        [None],
        [{"type": "text"}],
        [{"type": "image", "data": "not base64!"}],
        [{"type": "image"}],
    ],
)
async def test_a_malformed_result_gives_empty_values(content: Any) -> None:
    result = await visit(answering({"content": content}), "McpToolCall", {"tool": "t"})

    assert result == {"text": "", "data": None, "pictures": []}


async def test_a_tool_that_reports_an_error_fails_the_node_with_its_reason() -> None:
    with pytest.raises(ToolFailed, match="No such file"):
        await visit(answering(text("No such file", isError=True)), "McpToolCall", {"tool": "t"})
    with pytest.raises(ToolFailed, match="t failed without saying why"):
        await visit(answering({"isError": True}), "McpToolCall", {"tool": "t"})


async def test_an_operation_of_an_app_is_called_on_the_desktop_server() -> None:
    world = answering(text('{"found": 2}'))

    result = await visit(
        world, "AppDebugKitOp", {"operation_name": "app_query", "parameters": {"selector": "a"}}
    )

    assert result["data"] == {"found": 2}
    assert world.calls == [NodeCall(tool="app_query", arguments={"selector": "a"}, desktop=True)]


async def test_an_ai_step_gives_its_task_to_the_model() -> None:
    world = NodeWorld()
    world.model = ModelAnswer(text="3", data={"total": 3}, calls=2)
    settings = {
        "prompt": "Count {{input.what}}.",
        "button_text": "Next",
        "template_image": PICTURE,
        "allowed_tools": ["demo__add"],
        "pictures": ["{{shot.picture}}", "{{missing.picture}}"],
        "max_tool_calls": 4,
    }

    result = await visit(world, "AiStep", settings, input={"what": "pages"}, shot={"picture": "artifact-9"})

    [task] = world.asked
    assert task.prompt.startswith("Count pages.")
    assert "Next" in task.prompt
    assert (task.tools, task.most_calls) == (["demo__add"], 4)
    assert task.pictures == ["artifact-9", "artifact-1"]
    assert result == {"text": "3", "data": {"total": 3}, "calls": 2}


async def test_an_ai_step_refuses_a_broken_picture() -> None:
    with pytest.raises(UsageError, match="not valid base64"):
        await visit(NodeWorld(), "AiStep", {"prompt": "Look.", "template_image": "???"})


async def test_a_question_to_the_user_has_its_choices_and_gives_the_answer() -> None:
    world = NodeWorld()
    world.answer = UserAnswer(choice="Send", values={"to": "Ada"}, comment="Now")
    settings = {"message": "Send {{a.n}}?", "choices": ["Send", "Discard"], "deadline": 60}

    result = await visit(world, "AskUser", settings, a={"n": 3})

    assert (world.asked[0].text, world.asked[0].choices, world.asked[0].deadline) == (
        "Send 3?",
        ("Send", "Discard"),
        60,
    )
    assert result == {"choice": "Send", "values": {"to": "Ada"}, "comment": "Now"}


async def test_a_wait_ends_after_some_seconds_at_a_time_or_with_an_event() -> None:
    world = NodeWorld()
    world.event = {"order": 7}

    await visit(world, "Wait", {"seconds": 30})
    await visit(world, "Wait", {"until": "{{input.at}}"}, input={"at": "2026-12-01T09:00:00+01:00"})
    result = await visit(world, "Wait", {"event": "paid", "deadline": 60})

    assert world.asked[0] == 30
    assert world.asked[1].isoformat() == "2026-12-01T09:00:00+01:00"
    assert world.asked[2] == ("paid", 60)
    assert result == {"data": {"order": 7}, "ended": "2026-11-17T08:00:00Z"}


async def test_a_sub_workflow_gets_inputs_and_gives_outputs() -> None:
    world = NodeWorld()

    result = await visit(world, "SubWorkflow", {"workflow": "send", "inputs": {"to": "{{a.n}}"}}, a={"n": 3})

    assert world.asked == [("send", {"to": 3})]
    assert result == {"outputs": {"sent": True}}


async def test_code_gets_its_inputs_and_keeps_its_braces() -> None:
    world = NodeWorld()
    settings = {"code": "return {{n: 1}, '{{a.n}}'}", "inputs": {"n": "{{a.n}}"}, "time_limit": 5}

    result = await visit(world, "Code", settings, a={"n": 3})

    assert world.asked == [("return {{n: 1}, '{{a.n}}'}", {"n": 3}, 5)]
    assert result == {"value": 42}


def test_if_takes_the_path_of_its_condition() -> None:
    condition = {"condition": {"left": "{{a.n}}", "operator": "greater_than", "right": 2}}

    assert decide("If", condition, a={"n": 3}) == Route(
        output="true", reason="3 is greater than 2", value={"holds": True}
    )
    assert decide("If", condition, a={}).output == "false"


def test_switch_takes_the_first_case_that_holds() -> None:
    cases = [
        {"name": "large", "condition": {"left": "{{a.n}}", "operator": "greater_than", "right": 10}},
        {"name": "positive", "condition": {"left": "{{a.n}}", "operator": "greater_than", "right": 0}},
    ]

    taken = [decide("Switch", {"cases": cases}, a={"n": n}).output for n in (11, 1, 0)]

    assert taken == ["large", "positive", "default"]


def test_a_loop_runs_at_least_once_and_ends_with_its_condition() -> None:
    settings = {"exit_condition": "{{a.done}}", "max_iterations": 3}

    assert decide("Loop", settings, 0, a={"done": True}) == Route(
        output="body", reason="the first round", value={"iteration": 1, "finished": False}
    )
    assert decide("Loop", settings, 1, a={"done": False}).value == {"iteration": 2, "finished": False}
    assert decide("Loop", settings, 2, a={"done": True}).value == {"iteration": 2, "finished": True}


def test_a_loop_that_reaches_its_limit_fails_unless_it_may_continue() -> None:
    settings = {"exit_condition": False, "max_iterations": 3}

    with pytest.raises(LoopLimitReached, match="after 3 rounds") as caught:
        decide("Loop", settings, 3)
    done = decide("Loop", {**settings, "at_limit": "continue"}, 3)

    assert "max_iterations" in caught.value.hint
    assert (done.output, done.value) == ("done", {"iteration": 3, "finished": False})


def test_results_are_json() -> None:
    for name in ("Set", "McpToolCall", "Wait"):
        assert json.dumps(find_type(name).result_schema)
