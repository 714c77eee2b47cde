"""The walk decides purely: the same outcomes always lead to the same visit."""

from __future__ import annotations

from typing import Any

from tests.features.workflows.engine.sample_workflows import call, chain, mixed, workflow
from toolcrib.features.workflows.graph.validation import compile_workflow
from toolcrib.graph.trace import Outcome
from toolcrib.graph.walk import MapItem, Visit, Walk, WalkEnd
from toolcrib.schema.workflows import Workflow

FAILED = Outcome(error={"kind": "tool_failed", "message": "It failed."})


def walk(flow: Workflow, **inputs: Any) -> Walk:
    return Walk(compile_workflow(flow), inputs, {"id": "r", "started": "now"})


def total(value: int) -> Outcome:
    return Outcome(value={"data": {"total": value}, "text": str(value)})


def visited(position: Walk, *outcomes: Outcome) -> list[str]:
    """The visits that these outcomes lead through, and the next one."""
    steps = []
    for outcome in outcomes:
        visit = position.next()
        assert isinstance(visit, Visit)
        steps.append(visit.step)
        position.record(outcome)
    following = position.next()
    return [*steps, following.step if isinstance(following, Visit) else "end"]


def test_a_loop_runs_its_body_until_its_condition_holds() -> None:
    steps = visited(walk(mixed(1)), total(1), total(1), total(2), total(3))

    assert steps == ["n0", "turn", "turn#2", "turn#3", "each"]


def test_the_same_visit_is_given_until_its_outcome_is_recorded() -> None:
    position = walk(chain(2))

    assert position.next() is position.next()


def test_an_error_without_a_path_ends_the_run_and_names_the_node() -> None:
    position = walk(chain(2))
    position.next()
    position.record(FAILED)

    end = position.next()
    assert isinstance(end, WalkEnd)
    assert end.error == {"kind": "tool_failed", "message": "It failed.", "node": "n0"}


def test_a_fatal_error_takes_no_error_path() -> None:
    position = walk(workflow({"a": call(), "b": call()}, ["a.error b"]))
    position.next()
    position.record(Outcome(error={"kind": "uncertain", "message": "?", "fatal": True}, fatal=True))

    assert isinstance(position.next(), WalkEnd)


def test_an_item_of_a_map_sees_its_item_and_the_values_that_its_body_uses() -> None:
    graph = compile_workflow(mixed(2))
    outer = Walk(graph, {}, {"id": "r"})
    visited(outer, total(1), total(2), total(3))
    values = outer.values_for("each")
    assert values == {"n1": {"data": {"total": 2}, "text": "2"}}

    item = Walk(graph, {}, {"id": "r"}, MapItem(map="each", item=5, index=4, values=values))
    visit = item.next()
    assert isinstance(visit, Visit)
    assert visit.settings.model_dump()["arguments"]["a"] == 5  # type: ignore[union-attr]
    assert visited(item, total(10), total(12)) == ["twice", "more", "end"]
    assert item.next().outputs == 12  # type: ignore[union-attr]


def test_a_run_with_too_many_steps_fails() -> None:
    position = walk(workflow({"a": call(), "b": call()}, ["a b"], options={"most_steps": 1}))
    assert visited(position, total(1)) == ["a", "end"]
    assert position.next().error["kind"] == "too_many_steps"  # type: ignore[union-attr,index]


def test_outcomes_of_an_earlier_run_are_taken_over_as_long_as_the_visits_are_the_same() -> None:
    position = walk(chain(4))

    taken = position.take_over({"n0": total(1), "n1": total(2), "n3": total(9)})

    assert taken == ["n0", "n1"]
    assert position.next().step == "n2"  # type: ignore[union-attr]


def test_settings_that_do_not_fit_fail_the_visit() -> None:
    position = walk(
        workflow({"a": call(), "each": {"type": "Map", "settings": {"items": "{{a.data}}"}}, "b": call(),
                  "end": {"type": "EndMap", "settings": {"map": "each"}}}, ["a each", "each.body b", "b end"])
    )  # fmt: skip
    visited(position, total(1))
    visit = position.next()

    assert isinstance(visit, Visit)
    assert visit.problem is not None
    assert visit.problem["kind"] == "invalid_settings"
