"""Planning through the real HTTP formats of two vendors, against scripted servers on loopback."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.features.workflows.planner.evaluation.failures import FAILURES
from tests.features.workflows.planner.evaluation.graphs import Case
from tests.features.workflows.planner.evaluation.model import Answer
from tests.features.workflows.planner.evaluation.requests import cases
from tests.features.workflows.planner.evaluation.runner import STORED, as_workflow, selection
from tests.features.workflows.planner.evaluation.shape import shape_of
from tests.llm.wire import anthropic, openai_chat
from tests.llm.wire.bench import Open, bench
from tests.llm.wire.script import Refuse, Say
from toolcrib.errors import PlanRefused
from toolcrib.features.workflows.planner.planner import Planner

__all__ = ["bench"]

VALID = ("correct", "text around", "trailing commas", "truncated", "empty", "ignores two repairs")
REFUSED = ("always empty", "always truncated", "stops", "refuses")
TWO_VENDORS = pytest.mark.parametrize("protocol", [anthropic, openai_chat], ids=["anthropic", "openai"])


def said(case: Case, failure: str) -> list[Say]:
    steps = FAILURES[failure](case) or []
    return [Say(step.text, step.reason) for step in steps if isinstance(step, Answer)]


@TWO_VENDORS
async def test_requests_are_planned_over_http(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, Say(""))
    planner = Planner(made.host.chats.models.get(protocol.model), selection(), workflows=STORED)
    for number, failure in enumerate(VALID):
        case = cases()[number * 33]
        made.script.steps, made.script.requests[:] = said(case, failure), []
        current = None if case.current is None else as_workflow(case.current)

        plan = await planner.plan(case.text, current)

        expected = as_workflow(case.expected or case.answer["workflow"])
        assert shape_of(plan.workflow) == shape_of(expected), (failure, case.name)
        assert plan.requests == len(made.script.requests)
    assert made.script.complaints == []


@TWO_VENDORS
async def test_requests_are_refused_over_http(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, Say(""))
    planner = Planner(made.host.chats.models.get(protocol.model), selection())
    for failure in REFUSED:
        made.script.steps, made.script.requests[:] = said(cases()[0], failure), []

        with pytest.raises(PlanRefused):
            await planner.plan(cases()[0].text)

    assert made.script.complaints == []


async def test_only_a_vendor_that_supports_it_is_sent_a_schema(bench: Open) -> None:
    made = await bench(openai_chat, *said(cases()[0], "correct"))

    await Planner(made.host.chats.models.get(openai_chat.model), selection()).plan(cases()[0].text)

    assert made.script.requests[0]["response_format"]["json_schema"]["schema"]["properties"]["workflow"]


async def test_a_server_without_structured_answers_is_asked_again_without(bench: Open) -> None:
    refusal = Refuse(400, "response_format json_schema is not supported by this server")
    made = await bench(openai_chat, refusal, *said(cases()[0], "correct"))

    plan = await Planner(made.host.chats.models.get(openai_chat.model), selection()).plan(cases()[0].text)

    assert plan.workflow.nodes
    assert ["response_format" in request for request in made.script.requests] == [True, False]
