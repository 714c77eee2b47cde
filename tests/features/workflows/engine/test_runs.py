"""Runs from their start to their end, in one process."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
import sqlalchemy as sa

from tests.features.workflows.engine.conftest import Bench
from tests.features.workflows.engine.sample_workflows import INNER, call, chain, expected, mixed, workflow
from tests.loop_clock import LoopClock
from toolcrib.errors import NotFound, UsageError
from toolcrib.features.workflows.engine.dbos_internals import SystemSchema
from toolcrib.features.workflows.engine.documents import insert_run
from toolcrib.graph.node_type import UserAnswer

status = SystemSchema.workflow_status
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_run_ends_with_its_outputs_and_a_trace_of_each_step(bench: Bench) -> None:
    record = await bench.finished(chain(3))

    assert (record.state, record.outputs) == ("finished", {"total": 3})
    steps = await bench.engine.steps(record.run)
    assert [(step.step, step.state, step.attempts) for step in steps] == [
        ("n0", "done", 1),
        ("n1", "done", 1),
        ("n2", "done", 1),
    ]
    assert steps[1].trace["inputs"]["arguments"] == {"a": 1, "b": 1}
    assert record.run not in bench.services.running


async def test_a_run_is_there_once_it_can_be_read_as_a_whole(bench: Bench) -> None:
    """A start that was interrupted leaves a row and nothing to run."""
    await insert_run(bench.engine.database, "started-in-part", "partial", 0.0)

    assert await bench.engine.runs("partial") == []
    with pytest.raises(NotFound):
        await bench.engine.status("started-in-part")
    again = await bench.engine.start(chain(1), run_id="started-in-part")
    assert (await bench.ended(again)).state == "finished"


async def test_loops_maps_branches_waits_and_sub_workflows_give_the_right_result(bench: Bench) -> None:
    bench.services.workflows["inner"] = chain(INNER)
    run = await bench.engine.start(mixed(2))
    await bench.until(run, "waiting")
    await bench.engine.answer(run, "ask", UserAnswer(choice="Yes"))
    await bench.engine.send_event(run, "go")

    record = await bench.ended(run)

    assert record.outputs == expected(2), record.error
    steps = {step.step: step for step in await bench.engine.steps(run)}
    assert {"turn", "turn#2", "turn#3", "each", "each[4]/more", "right"} <= steps.keys()
    assert steps["ask"].trace["value"]["choice"] == "Yes"
    assert (await bench.engine.status(f"{run}/sub")).parent == run


async def test_the_decisions_of_a_run_say_how_often_and_why(bench: Bench) -> None:
    again = {"left": "{{turn.data.total}}", "operator": "greater_or_equal", "right": 3}
    odd = {"left": "{{item}}", "operator": "equals", "right": 2}
    last = {"left": "{{turn.data.total}}", "operator": "greater_than", "right": 10}
    nodes = {
        "loop": {"type": "Loop", "settings": {"exit_condition": again}},
        "turn": call("add", a="{{loop.iteration}}", b=0),
        "end": {"type": "EndLoop", "settings": {"loop": "loop"}},
        "each": {"type": "Map", "settings": {"items": [1, 2, 3]}},
        "odd": {"type": "If", "settings": {"condition": odd}},
        "stop": {"type": "EndMap", "settings": {"map": "each"}},
        "large": {"type": "If", "settings": {"condition": last}},
    }
    edges = ["loop.body turn", "turn end", "loop.done each", "each.body odd"]
    edges += ["odd.true stop", "odd.false stop", "each.done large"]

    record = await bench.finished(workflow(nodes, edges))

    decided = {one.node: one for one in (await bench.engine.path(record.run)).decisions}
    assert (decided["loop"].taken, decided["loop"].reason) == (
        {"body": 3, "done": 1},
        "3 is at least 3 after round 3",
    )
    assert decided["odd"].taken == {"true": 1, "false": 2}
    assert (decided["large"].output, decided["large"].reason) == ("false", "3 is not greater than 10")


@pytest.mark.parametrize("depth", [1, 2])
async def test_a_question_of_a_sub_workflow_is_a_question_of_its_run(bench: Bench, depth: int) -> None:
    asking = workflow({"ask": {"type": "AskUser", "settings": {"message": "Go on?", "choices": ["Yes"]}}}, [])
    bench.services.workflows["level-0"] = asking
    for level in range(1, depth + 1):
        sub = {"type": "SubWorkflow", "settings": {"workflow": f"level-{level - 1}", "inputs": {}}}
        bench.services.workflows[f"level-{level}"] = workflow({"sub": sub}, [])
    run = await bench.engine.start(bench.services.workflows[f"level-{depth}"])

    record = await bench.until(run, "waiting")

    (question,) = record.questions
    step = "sub/" * depth + "ask"
    assert (question.run, question.step, question.asked_by) == (run, step, run + "/sub" * depth)
    assert run in [each.run for each in await bench.engine.runs(state="waiting")]
    assert [(each.step, each.state) for each in await bench.engine.steps(run)] == [("sub", "waiting")]
    await bench.engine.answer(run, step, UserAnswer(choice=question.choices[0]))
    assert (await bench.ended(run)).state == "finished"


async def test_a_run_no_longer_waits_for_a_sub_workflow_that_was_cancelled(bench: Bench) -> None:
    bench.services.workflows["asking"] = workflow(
        {"ask": {"type": "AskUser", "settings": {"message": "Go on?", "choices": ["Yes"]}}}, []
    )
    nodes = {
        "sub": {"type": "SubWorkflow", "settings": {"workflow": "asking", "inputs": {}}},
        "hold": {"type": "AskUser", "settings": {"message": "And now?", "choices": ["Yes"]}},
    }
    run = await bench.engine.start(workflow(nodes, ["sub.error hold"]))
    await bench.until(run, "waiting")

    await bench.engine.cancel(f"{run}/sub")

    record = await bench.when(run, lambda found: [each.step for each in found.questions] == ["hold"])
    await bench.engine.answer(run, "hold", UserAnswer(choice=record.questions[0].choices[0]))
    await bench.ended(run)


async def test_a_paused_run_begins_no_steps_of_its_sub_workflow(bench: Bench) -> None:
    asking = {"type": "AskUser", "settings": {"message": "Go on?", "choices": ["Yes"]}}
    steps = {"ask": asking, "then": call(), "last": call()}
    bench.services.workflows["inner"] = workflow(steps, ["ask then", "then last"])
    sub = {"type": "SubWorkflow", "settings": {"workflow": "inner", "inputs": {}}}
    run = await bench.engine.start(workflow({"sub": sub}, []))
    await bench.until(run, "waiting")

    await bench.engine.pause(run)
    await bench.engine.answer(run, "sub/ask", UserAnswer(choice="Yes"))

    assert (await bench.until(run, "paused")).paused_at == ("sub/then",)
    assert [each.state for each in await bench.engine.steps(run)] == ["waiting"]
    await bench.engine.step(run)
    await bench.when(run, lambda record: record.paused_at == ("sub/last",))
    assert bench.calls(f"{run}/sub") == ["then"]
    await bench.engine.resume(run)
    assert (await bench.ended(run)).state == "finished"


async def test_an_event_reaches_the_sub_workflow_of_the_run_that_it_was_sent_to(bench: Bench) -> None:
    signal = {"type": "Wait", "settings": {"event": "go"}}
    bench.services.workflows["inner"] = workflow({"signal": signal, "then": call()}, ["signal then"])
    sub = {"type": "SubWorkflow", "settings": {"workflow": "inner", "inputs": {}}}
    run = await bench.engine.start(workflow({"sub": sub, "again": signal}, ["sub again"]))
    await bench.when(run, lambda record: f"{run}/sub" in bench.services.running)

    await bench.engine.send_event(run, "go")
    await bench.engine.send_event(run, "go")

    assert (await bench.ended(run)).state == "finished"


async def test_a_sub_workflow_that_is_not_valid_fails_its_node_with_the_problems(bench: Bench) -> None:
    bench.services.workflows["broken"] = workflow(
        {"ask": {"type": "AskUser", "settings": {"mesage": "?"}}}, []
    )
    sub = {"type": "SubWorkflow", "settings": {"workflow": "broken", "inputs": {}}}

    record = await bench.finished(workflow({"sub": sub}, []))

    assert record.state == "failed"
    assert record.error is not None
    assert (record.error["kind"], record.error["node"]) == ("invalid_workflow", "sub")
    assert "ask: message is required" in record.error["message"]


async def test_a_failed_node_fails_the_run_and_names_the_node(bench: Bench) -> None:
    record = await bench.finished(workflow({"only": call(failures=9)}, []))

    assert record.state == "failed"
    assert record.error is not None
    assert (record.error["node"], record.error["message"]) == ("only", "It failed.")


async def test_an_error_path_goes_on_with_the_error(bench: Bench) -> None:
    nodes = {
        "first": call(failures=9),
        "rescue": {"type": "Set", "settings": {"values": {"why": "{{first.error.message}}"}}},
    }
    record = await bench.finished(workflow(nodes, ["first.error rescue"], outputs={"why": "{{rescue.why}}"}))

    assert (record.state, record.outputs) == ("finished", {"why": "It failed."})


async def test_a_failed_call_is_tried_again_as_often_as_allowed(bench: Bench) -> None:
    node = call(failures=2, node={"retry": {"attempts": 3, "delay": 0}})
    record = await bench.finished(workflow({"only": node}, []))

    assert record.state == "finished"
    assert (await bench.engine.trace(record.run, "only")).attempts == 3


async def test_a_node_that_takes_too_long_fails(bench: Bench) -> None:
    record = await bench.finished(workflow({"only": call(seconds=30, node={"timeout": 0.05})}, []))

    assert record.error is not None
    assert record.error["kind"] == "timeout"


async def test_a_run_that_takes_too_long_fails_whatever_its_error_paths(bench: Bench) -> None:
    nodes = {"slow": call(seconds=30), "rescue": call()}
    run = await bench.engine.start(workflow(nodes, ["slow.error rescue"], options={"timeout": 60}))
    await bench.when(run, lambda record: bench.calls(run) == ["slow"])
    await LoopClock(asyncio.get_running_loop()).passes(60)
    record = await bench.ended(run)

    assert record.error is not None
    assert record.error["kind"] == "run_timeout"
    assert bench.calls(record.run) == ["slow"]


async def test_waiting_for_the_user_does_not_count_against_a_timeout(bench: Bench) -> None:
    ask = {"type": "AskUser", "settings": {"message": "Well?"}, "timeout": 60}
    run = await bench.engine.start(workflow({"ask": ask}, [], outputs={"choice": "{{ask.choice}}"}))
    await bench.until(run, "waiting")
    await LoopClock(asyncio.get_running_loop()).passes(60)
    await bench.engine.answer(run, "ask", UserAnswer(choice="Approve"))

    assert (await bench.ended(run)).outputs == {"choice": "Approve"}


async def test_an_answer_that_is_not_a_choice_is_refused(bench: Bench) -> None:
    run = await bench.engine.start(
        workflow({"ask": {"type": "AskUser", "settings": {"message": "Well?"}}}, [])
    )
    await bench.until(run, "waiting")

    with pytest.raises(UsageError, match="not a choice"):
        await bench.engine.answer(run, "ask", UserAnswer(choice="Perhaps"))
    with pytest.raises(NotFound):
        await bench.engine.answer(run, "other", UserAnswer(choice="Approve"))
    await bench.engine.cancel(run)


async def test_a_question_without_an_answer_fails_at_its_deadline(bench: Bench) -> None:
    ask = {"type": "AskUser", "settings": {"message": "Well?", "deadline": 0.05}}
    record = await bench.finished(workflow({"ask": ask}, []))

    assert record.error is not None
    assert record.error["kind"] == "question_expired"


async def test_a_cancelled_run_stops_in_the_middle_of_a_step(bench: Bench) -> None:
    run = await bench.engine.start(workflow({"slow": call(seconds=60), "next": call()}, ["slow next"]))
    await bench.when(run, lambda record: bool(bench.calls(run)))

    assert await bench.engine.cancel(run)
    assert (await bench.ended(run)).state == "cancelled"
    assert bench.calls(run) == ["slow"]
    assert [step.state for step in await bench.engine.steps(run)] == ["cancelled"]
    assert not await bench.engine.cancel(run)


async def test_a_breakpoint_a_single_step_and_resume_control_what_begins(bench: Bench) -> None:
    run = await bench.engine.start(chain(4), breakpoints=["n1"])
    assert (await bench.until(run, "paused")).paused_at == ("n1",)
    assert bench.calls(run) == ["n0"]

    await bench.engine.step(run)
    await bench.when(run, lambda record: record.paused_at == ("n2",))
    assert bench.calls(run) == ["n0", "n1"]

    await bench.engine.resume(run)
    assert (await bench.ended(run)).outputs == {"total": 4}


async def test_a_new_run_takes_over_the_steps_before_the_chosen_one(bench: Bench) -> None:
    first = await bench.finished(
        workflow(
            {"a": call("add", a=1, b=1), "b": call("add", a="{{a.data.total}}", b="{{input.more}}")},
            ["a b"],
            inputs={"more": {"type": "integer"}},
            outputs={"total": "{{b.data.total}}"},
        ),
        {"more": 1},
    )
    again = await bench.ended(await bench.engine.rerun(first.run, from_step="b", inputs={"more": 40}))

    assert (first.outputs, again.outputs) == ({"total": 3}, {"total": 42})
    assert bench.calls(again.run) == ["b"]
    assert [(step.step, step.reused) for step in await bench.engine.steps(again.run)] == [
        ("a", True),
        ("b", False),
    ]


async def test_one_failed_item_stops_a_map_or_is_left_out(bench: Bench) -> None:
    def each(on_error: str) -> dict[str, object]:
        return {
            "each": {"type": "Map", "settings": {"items": [0, 9, 0], "on_error": on_error, "at_once": 2}},
            "try": call(failures="{{item}}"),
            "end": {"type": "EndMap", "settings": {"map": "each", "value": "{{try.text}}"}},
        }

    edges = ["each.body try", "try end"]
    stopped = await bench.finished(workflow(each("stop"), edges))
    whole = await bench.finished(
        workflow(each("continue"), edges, outputs={"all": "{{each.results}}", "failed": "{{each.failed}}"})
    )

    assert stopped.error is not None
    assert stopped.error["kind"] == "item_failed"
    assert whole.outputs == {"all": ["0", None, "0"], "failed": 1}


async def test_a_lost_connection_is_asked_about_before_a_call_is_repeated(bench: Bench) -> None:
    node = call("append", lost=True, node={"retry": {"attempts": 2, "delay": 0}})
    run = await bench.engine.start(workflow({"only": node}, []))
    asked = (await bench.until(run, "waiting")).questions[0]
    assert asked.uncertain
    assert len(bench.calls(run)) == 1

    await bench.engine.answer(run, "only", UserAnswer(choice="It was done"))

    assert (await bench.ended(run)).state == "finished"
    assert len(bench.calls(run)) == 1


async def test_at_most_so_many_runs_of_a_workflow_are_active(bench: Bench) -> None:
    one = workflow({"only": call(seconds=0.2)}, [], name="limited", options={"concurrency": 1})
    runs = [await bench.engine.start(one) for _ in range(3)]
    records = [await bench.ended(run) for run in runs]

    assert {record.state for record in records} == {"finished"}
    times = [(await bench.engine.trace(run, "only")) for run in runs]
    spans = sorted((step.started, step.ended) for step in times if step.started and step.ended)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


async def test_secret_inputs_are_masked_in_traces(bench: Bench) -> None:
    secret = workflow(
        {"only": call(text="{{input.key}}")}, [], inputs={"key": {"type": "string", "secret": True}}
    )
    record = await bench.finished(secret, {"key": "hunter2hunter2"})

    assert "hunter2" not in str(await bench.engine.steps(record.run))


async def test_runs_are_listed_by_workflow_and_state_and_pruned_by_age(bench: Bench) -> None:
    bench.services.workflows["inner"] = chain(1)
    sub = {"type": "SubWorkflow", "settings": {"workflow": "inner", "inputs": {}}}
    listed = workflow({"sub": sub}, [], name="listed")
    kept = [await bench.finished(listed) for _ in range(3)]

    found = await bench.engine.runs("listed", "finished", limit=2)
    assert [record.run for record in found] == [kept[2].run, kept[1].run]
    assert [r.run for r in await bench.engine.runs("listed", before=found[-1].run)] == [kept[0].run]

    removed = await bench.engine.prune(older_than=kept[2].created.timestamp())
    assert {kept[0].run, f"{kept[0].run}/sub"} <= set(removed)
    assert kept[2].run not in removed
    with pytest.raises(NotFound):
        await bench.engine.status(kept[0].run)


async def test_wrong_inputs_are_refused_before_anything_is_started(bench: Bench) -> None:
    needs = workflow({"only": call()}, [], inputs={"name": {"type": "string"}})
    with pytest.raises(UsageError, match="missing"):
        await bench.engine.start(needs)
    with pytest.raises(UsageError, match="no input"):
        await bench.engine.start(needs, {"name": "x", "nam": "y"})


async def test_starting_a_run_again_with_its_id_does_nothing(bench: Bench) -> None:
    await bench.finished(chain(2), run_id="once")
    await bench.finished(chain(2), run_id="once")

    assert bench.calls("once") == ["n0", "n1"]


async def test_a_loop_ends_by_the_number_of_its_own_iteration(bench: Bench) -> None:
    third = {"left": "{{loop.iteration}}", "operator": "greater_or_equal", "right": 3}
    nodes = {
        "loop": {"type": "Loop", "settings": {"exit_condition": third}},
        "turn": call("add", a="{{loop.iteration}}", b=0),
        "end": {"type": "EndLoop", "settings": {"loop": "loop"}},
        "after": call("note"),
    }
    edges = ["loop.body turn", "turn end", "loop.done after"]
    ended = await bench.finished(workflow(nodes, edges, outputs={"turns": "{{loop.iteration}}"}))

    assert ended.outputs == {"turns": 3}
    assert bench.calls(ended.run) == ["turn", "turn#2", "turn#3", "after"]


async def test_a_worker_that_lost_a_run_while_it_was_frozen_makes_no_further_call(bench: Bench) -> None:
    node = call("slow", failures=1, hold=True, node={"retry": {"attempts": 2, "delay": 0}})
    run = await bench.engine.start(workflow({"only": node}, []))
    await bench.when(run, lambda record: len(bench.calls(run)) == 1)
    active = bench.engine._runtime.active
    mine = active[run].owner

    await give_to(bench, run, "another worker")
    bench.engine._runtime.stale_after = float("-inf")  # Whenever it looked last, that was long ago.
    bench.services.release.set()

    await bench.when(run, lambda record: run not in active)
    assert len(bench.calls(run)) == 1
    await give_to(bench, run, mine)


async def give_to(bench: Bench, run: str, owner: str | None) -> None:
    change = sa.update(status).where(status.c.workflow_uuid == run).values(owner_xid=owner)
    await bench.engine.database.run(lambda connection: connection.execute(change))
