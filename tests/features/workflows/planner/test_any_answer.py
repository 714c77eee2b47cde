"""Whatever JSON a model answers, the planner gives a plan or a refusal, and never another error."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.features.workflows.planner.evaluation.graphs import call, straight
from tests.features.workflows.planner.evaluation.model import Answer, AnswerModel
from tests.features.workflows.planner.evaluation.runner import as_workflow, selection
from toolcrib.errors import PlanRefused
from toolcrib.features.workflows.planner.planner import Planner

IDS = st.sampled_from(["read", "save", "loop", "end", "check", "Read It", "", "input", "1", "read.true"])
TYPES = st.sampled_from(
    [
        "McpToolCall",
        "If",
        "Loop",
        "EndLoop",
        "Map",
        "EndMap",
        "Switch",
        "Set",
        "tool",
        "Start",
        "Wait",
        "x",
        7,
    ]
)
TEXTS = st.sampled_from(
    ["{{read.text}}", "{{", "{{x.y}} > 3", "{{input.a b}}", "filesystem__read_file", "loop", ""]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "tool",
                    "arguments",
                    "path",
                    "condition",
                    "left",
                    "operator",
                    "right",
                    "all",
                    "any",
                    "not",
                    "cases",
                    "name",
                    "loop",
                    "map",
                    "items",
                    "values",
                    "exit_condition",
                    "seconds",
                    "type",
                    "default",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
NODES = st.lists(
    st.fixed_dictionaries(
        {"id": IDS, "type": TYPES}, optional={"settings": JSON, "name": JSON, "retry": JSON}
    ),
    max_size=6,
)
EDGES = st.lists(
    st.fixed_dictionaries({"from": IDS, "to": IDS}, optional={"output": JSON}) | JSON, max_size=8
)
WORKFLOWS = st.fixed_dictionaries(
    {"nodes": NODES | JSON, "edges": EDGES | JSON},
    optional={
        "name": JSON,
        "inputs": JSON,
        "outputs": JSON,
        "triggers": JSON,
        "checks": JSON,
        "options": JSON,
    },
)
PATCHES = st.fixed_dictionaries(
    {},
    optional={
        "add_nodes": NODES | JSON,
        "remove_nodes": st.lists(IDS, max_size=2) | JSON,
        "update_nodes": NODES | JSON,
        "add_edges": EDGES | JSON,
        "remove_edges": EDGES | JSON,
        "inputs": JSON,
        "outputs": JSON,
        "remove_inputs": JSON,
    },
)
CURRENT = as_workflow(
    straight(
        "copy",
        call("read", "filesystem__read_file", path="a"),
        call("save", "filesystem__write_file", path="b", content="{{read.text}}"),
    )
)
QUICK = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def plan(answer: Any, **options: Any) -> None:
    planner = Planner(AnswerModel([Answer(json.dumps(answer))]), selection(), repairs=0)
    with suppress(PlanRefused):
        asyncio.run(planner.plan("Read a file", **options))


@QUICK
@given(WORKFLOWS)
def test_any_workflow_is_planned_or_refused(answer: dict[str, Any]) -> None:
    plan({"workflow": answer})


@QUICK
@given(PATCHES)
def test_any_patch_is_applied_or_refused(patch: dict[str, Any]) -> None:
    plan({"patch": patch}, current=CURRENT)


@QUICK
@given(JSON)
def test_any_json_is_planned_or_refused(answer: Any) -> None:
    plan({"workflow": answer, "x": 1})
