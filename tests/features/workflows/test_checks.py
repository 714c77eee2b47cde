"""Checks pass, fail or warn, and say why."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.features.workflows.nodes.worlds import NodeWorld
from toolcrib.features.workflows.checks import CheckOutcome, run_check
from toolcrib.graph.node_type import NodeCall
from toolcrib.graph.problems import InvalidSettings
from toolcrib.schema.tools import ToolResult
from toolcrib.schema.workflows import Check

SCREEN = {
    "find_text": lambda use: [{"text": "Saved", "x": 1, "y": 2}] if use.arguments["text"] == "Saved" else [],
    "find_image": lambda use: {
        "matches": [{"x": 1, "y": 2}] if use.arguments["template_image_base64"] == "aGk=" else []
    },
    "list_windows": lambda use: {"windows": [{"title": "Report.pdf — Viewer"}, {"title": "Inbox"}]},
}


async def call(use: NodeCall) -> ToolResult:
    assert use.desktop
    return {"content": [{"type": "text", "text": json.dumps(SCREEN[use.tool](use))}]}


async def outcome(kind: Any, value: Any, **more: Any) -> CheckOutcome:
    return await run_check(
        Check(type=kind, value=value, **more), NodeWorld(call), {"a": {"text": "Saved", "n": 2}}
    )


@pytest.mark.parametrize(
    ("kind", "value", "passed", "reason"),
    [
        ("text_present", "Saved", True, "'Saved' is on the screen"),
        ("text_present", "{{a.text}}", True, "'Saved' is on the screen"),
        ("text_present", "Error", False, "'Error' is not on the screen"),
        ("text_absent", "Error", True, "'Error' is not on the screen"),
        ("text_absent", "Saved", False, "'Saved' is on the screen"),
        ("image_found", "aGk=", True, "the picture is on the screen"),
        ("image_found", "aG8=", False, "the picture is not on the screen"),
        ("window_title", "report*viewer", True, "the window 'Report.pdf — Viewer' is open"),
        (
            "window_title",
            "Draft*",
            False,
            "no window title matches 'Draft*'; open: 'Report.pdf — Viewer', 'Inbox'",
        ),
        (
            "condition",
            {"left": "{{a.n}}", "operator": "greater_than", "right": 1},
            True,
            "2 is greater than 1",
        ),
        ("condition", "{{a.missing}}", False, "the value is not true"),
    ],
)
async def test_a_check_is_decided_by_what_is_there(kind: str, value: Any, passed: bool, reason: str) -> None:
    found = await outcome(kind, value)

    assert (found.passed, found.reason, found.fails) == (passed, reason, not passed)


async def test_a_check_that_only_warns_does_not_fail() -> None:
    found = await outcome("text_present", "Error", on_fail="warn")

    assert not found.passed
    assert not found.fails


async def test_a_check_of_a_value_that_is_missing_is_an_error_that_says_so() -> None:
    with pytest.raises(InvalidSettings, match="The check text_present: value: "):
        await outcome("text_present", "{{a.missing}}")


async def test_a_check_may_be_about_one_program() -> None:
    world = NodeWorld(call)

    await run_check(Check(type="window_title", value="*", app_name="Mail"), world, {})

    assert world.calls == [NodeCall(tool="list_windows", arguments={"app_name": "Mail"}, desktop=True)]
