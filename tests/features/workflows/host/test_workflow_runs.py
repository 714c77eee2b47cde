"""Runs of workflows in a host: tools and their approvals, questions, models, code, and what is kept."""

from __future__ import annotations

import asyncio
import base64
import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Crib
from tests.features.workflows.host.workflow_sample import add, chain, in_state, opened, run, shown, tool
from tests.web.vendor import Say, call, vendor
from toolcrib.errors import InvalidArguments, NotFound, UsageError
from toolcrib.schema.servers import ServerState

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(64)


async def test_a_run_records_its_steps_and_returns_its_outputs(crib: Crib) -> None:
    nodes = {"first": add("{{input.a}}", 2), "second": add("{{first.data.result}}", 10)}
    inputs = {"a": {"type": "integer"}}
    workflow = chain("sum", nodes, {"sum": "{{second.data.result}}"}, inputs=inputs)

    async with opened(crib) as host:
        result = await run(host, "workflow_run", workflow=workflow, texts={"a": "1"})
        found = await run(host, "workflow_show", run=result["run"])
        listed = await run(host, "workflow_runs", name="sum")
        trace = await run(host, "workflow_step", run="last", step="second")
        audit = await run(host, "audit", limit=10)

    assert result == {"run": result["run"], "state": "finished", "outputs": {"sum": 13}, "error": None}
    assert [(step["node"], step["type"], step["state"], step["attempts"]) for step in found["steps"]] == [
        ("first", "McpToolCall", "done", 1),
        ("second", "McpToolCall", "done", 1),
    ]
    assert found["workflow"] == "sum"
    assert [one["run"] for one in listed["runs"]] == [result["run"]]
    assert trace["inputs"]["arguments"] == {"a": 3, "b": 10}
    assert [(call["principal"], call["session"]) for call in audit] == [("workflow:sum", result["run"])] * 2


async def test_inputs_are_checked_before_a_run_starts(crib: Crib) -> None:
    inputs = {"a": {"type": "integer"}, "kind": {"choices": ["x", "y"], "required": False}}
    workflow = chain("sum", {"first": add("{{input.a}}", 2)}, inputs=inputs)

    async with opened(crib) as host:
        for given, reason in (
            ({}, "'a' of sum is missing"),
            ({"texts": {"a": "many"}}, "'a' must be an integer"),
            ({"inputs": {"a": True}}, "'a' must be an integer"),
            ({"inputs": {"a": 1, "c": 1}}, "no input 'c'"),
            ({"inputs": {"a": 1, "kind": "z"}}, "not one of its choices"),
        ):
            with pytest.raises(UsageError, match=reason):
                await run(host, "workflow_run", workflow=workflow, **given)
        assert (await run(host, "workflow_runs"))["runs"] == []


async def test_a_workflow_with_problems_does_not_start(crib: Crib) -> None:
    async with opened(crib) as host:
        with pytest.raises(UsageError, match="nowhere__tool"):
            await run(host, "workflow_run", workflow=chain("bad", {"one": tool("nowhere__tool")}))


async def test_a_call_waits_for_approval_and_the_run_goes_on_after_it(crib: Crib) -> None:
    workflow = chain("ask", {"act": tool("box__pid")}, {"pid": "{{act.text}}"})

    async with opened(crib) as host:
        started = await run(host, "workflow_run", workflow=workflow, detach=True)
        await shown(host, started["run"], in_state("waiting"))
        (question,) = await run(host, "approvals")
        (item,) = (await run(host, "waiting"))["items"]
        listed = {
            state: [one["run"] for one in (await run(host, "workflow_runs", state=state))["runs"]]
            for state in ("waiting", "running")
        }
        await run(host, "approval_answer", id=question["id"], allow=True)
        ended = await shown(host, started["run"], in_state("finished"))

    assert question["principal"] == "workflow:ask"
    assert question["session"] == started["run"]
    assert (item["kind"], item["run"], item["chat"]) == ("call", started["run"], None)
    assert listed == {"waiting": [started["run"]], "running": []}
    assert ended["outputs"]["pid"].isdigit()


async def test_a_denied_call_fails_its_node_and_can_take_the_error_path(crib: Crib) -> None:
    workflow = chain("ask", {"act": tool("box__pid"), "next": add(1, 2)})
    workflow["nodes"]["instead"] = add(10, 20)
    workflow["edges"].append({"from": "act", "to": "instead", "output": "error"})
    workflow["outputs"] = {"why": "{{act.error.message}}"}

    async with opened(crib) as host:
        started = await run(host, "workflow_run", workflow=workflow, detach=True)
        await shown(host, started["run"], in_state("waiting"))
        (question,) = await run(host, "approvals")
        await run(host, "approval_answer", id=question["id"], allow=False, message="not today")
        ended = await shown(host, started["run"], in_state("finished"))

    assert [step["node"] for step in ended["steps"]] == ["act", "instead"]
    assert "not today" in ended["outputs"]["why"]


@pytest.mark.acceptance
async def test_an_approval_without_an_answer_is_denied_at_its_deadline(crib: Crib) -> None:
    workflow = chain("ask", {"act": tool("box__pid")}, options={"question_deadline": 0.1})

    async with opened(crib) as host:
        result = await run(host, "workflow_run", workflow=workflow)

    assert result["state"] == "failed"
    assert result["error"]["kind"] == "denied"


@pytest.mark.acceptance
async def test_cancelling_a_run_withdraws_its_approval(crib: Crib) -> None:
    async with opened(crib) as host:
        started = await run(
            host, "workflow_run", workflow=chain("ask", {"act": tool("box__pid")}), detach=True
        )
        await shown(host, started["run"], in_state("waiting"))
        await run(host, "workflow_cancel", run=started["run"])

        assert (await shown(host, started["run"], in_state("cancelled")))["state"] == "cancelled"
        assert await run(host, "approvals") == []
        with pytest.raises(UsageError, match="has ended"):
            await run(host, "workflow_cancel", run=started["run"])


async def test_a_run_that_waits_for_approval_goes_on_in_the_next_host(crib: Crib) -> None:
    workflow = chain("ask", {"before": add(1, 2), "act": tool("box__pid")}, {"pid": "{{act.text}}"})

    async with opened(crib) as host:
        started = await run(host, "workflow_run", workflow=workflow, detach=True)
        await shown(host, started["run"], in_state("waiting"))
        (question,) = await run(host, "approvals")
    async with opened(crib) as host:
        await run(host, "approval_answer", id=question["id"], allow=True)
        ended = await shown(host, started["run"], in_state("finished"))
        audit = await run(host, "audit", tool="demo__add")

    assert ended["outputs"]["pid"].isdigit()
    assert len(audit) == 1


@pytest.mark.parametrize(("answered", "state"), [(-600, "finished"), (0, "failed")])
async def test_an_approval_given_before_its_deadline_counts_after_it(
    crib: Crib, answered: int, state: str
) -> None:
    workflow = chain("ask", {"act": tool("box__pid")}, options={"question_deadline": 700})

    async with opened(crib) as host:
        started = await run(host, "workflow_run", workflow=workflow, detach=True)
        await shown(host, started["run"], in_state("waiting"))
        (question,) = await run(host, "approvals")
    async with opened(crib, continue_runs=False) as host:
        await run(host, "approval_answer", id=question["id"], allow=True)
        file = host.paths.database
    with sqlite3.connect(file) as connection:  # as if it was asked 900 seconds ago
        (stored,) = connection.execute("SELECT decided FROM approval_requests").fetchone()
        at = json.loads(stored)["at"] + answered * 1_000_000
        connection.execute("UPDATE approval_requests SET asked_at = asked_at - 900000000")
        connection.execute(
            "UPDATE approval_requests SET decided = ?", (json.dumps({**json.loads(stored), "at": at}),)
        )
    async with opened(crib) as host:
        ended = await shown(host, started["run"], lambda found: found["ended"] is not None)

    assert ended["state"] == state
    assert state == "finished" or "no one answered in time" in ended["error"]["message"]


async def test_a_session_server_lives_and_dies_with_the_run(crib: Crib) -> None:
    crib.setting(approvals={"modes": {"workflow": "off"}})
    crib.server("own", isolation="session")
    nodes = {"one": tool("own__pid"), "two": tool("own__pid")}
    workflow = chain("session", nodes, {"one": "{{one.text}}", "two": "{{two.text}}"})

    async with opened(crib) as host:
        first = (await run(host, "workflow_run", workflow=workflow))["outputs"]
        second = (await run(host, "workflow_run", workflow=workflow))["outputs"]
        await host.ready()
        left = [pid for pid in (first["one"], second["one"]) if Path(f"/proc/{pid}").exists()]

    assert first["one"] == first["two"]
    assert first["one"] != second["one"]
    assert left == []


async def test_a_question_is_answered_and_its_values_are_used(crib: Crib) -> None:
    asking = {
        "type": "AskUser",
        "settings": {"message": "How many?", "choices": ["Go", "Stop"], "fields": {"n": {"type": "integer"}}},
    }
    workflow = chain(
        "question", {"ask": asking, "sum": add("{{ask.values.n}}", 1)}, {"n": "{{sum.data.result}}"}
    )

    async with opened(crib) as host:
        started = await run(host, "workflow_run", workflow=workflow, detach=True)
        waiting = await shown(host, started["run"], in_state("waiting"))
        (item,) = (await run(host, "waiting"))["items"]
        with pytest.raises(UsageError, match="not a choice"):
            await run(host, "workflow_answer", run="last", step="ask", choice="Perhaps")
        await run(host, "workflow_answer", run="last", step="ask", choice="Go", values={"n": 41})
        ended = await shown(host, started["run"], in_state("finished"))

    assert waiting["questions"][0]["text"] == "How many?"
    assert (item["kind"], item["id"], item["run"]) == ("workflow", "ask", started["run"])
    assert ended["outputs"] == {"n": 42}


async def test_a_run_pauses_at_a_breakpoint_steps_and_resumes(crib: Crib) -> None:
    nodes = {"one": add(1, 1), "two": add(2, 2), "three": add(3, 3)}

    async with opened(crib) as host:
        started = await run(
            host, "workflow_run", workflow=chain("debug", nodes), breakpoints=["two"], detach=True
        )
        paused = await shown(host, started["run"], in_state("paused"))
        await run(host, "workflow_step_once", run=started["run"])
        stepped = await shown(host, started["run"], lambda found: found["paused_at"] == ["three"])
        await run(host, "workflow_resume", run=started["run"])
        await shown(host, started["run"], in_state("finished"))

    assert paused["paused_at"] == ["two"]
    assert [step["step"] for step in stepped["steps"] if step["state"] == "done"] == ["one", "two"]


async def test_a_rerun_from_a_node_keeps_the_steps_before_it(crib: Crib) -> None:
    nodes = {"one": add("{{input.a}}", 1), "two": add("{{one.data.result}}", "{{input.b}}")}
    inputs = {"a": {"type": "integer"}, "b": {"type": "integer", "default": 5}}
    workflow = chain("again", nodes, {"sum": "{{two.data.result}}"}, inputs=inputs)

    async with opened(crib) as host:
        first = await run(host, "workflow_run", workflow=workflow, inputs={"a": 1})
        again = await run(host, "workflow_rerun", run=first["run"], from_node="two", texts={"b": "50"})
        found = await run(host, "workflow_show", run=again["run"])
        compared = await run(host, "workflow_compare", run_a=first["run"], run_b=again["run"])
        with pytest.raises(UsageError, match="never came"):
            await run(host, "workflow_rerun", run=first["run"], from_node="nowhere")
        calls = await run(host, "audit", tool="demo__add")

    assert (first["outputs"], again["outputs"]) == ({"sum": 7}, {"sum": 52})
    assert [(step["step"], step["reused"]) for step in found["steps"]] == [("one", True), ("two", False)]
    assert found["parent"] == first["run"]
    assert (compared["inputs"], compared["outputs"]) == (["b"], ["sum"])
    assert [(step["step"], step["differences"]) for step in compared["steps"]] == [
        ("one", []),
        ("two", ["inputs", "value"]),
    ]
    assert len(calls) == 3


@pytest.mark.acceptance
async def test_an_event_reaches_the_node_that_waits_for_it(crib: Crib) -> None:
    workflow = chain(
        "wait", {"wait": {"type": "Wait", "settings": {"event": "paid"}}}, {"data": "{{wait.data}}"}
    )

    async with opened(crib) as host:
        started = await run(host, "workflow_run", workflow=workflow, detach=True)
        await run(host, "workflow_event", run=started["run"], name="paid", data={"amount": 3})
        ended = await shown(host, started["run"], in_state("finished"))

    assert ended["outputs"] == {"data": {"amount": 3}}


async def test_a_secret_input_is_masked_everywhere(crib: Crib) -> None:
    crib.setting(approvals={"modes": {"workflow": "off"}})
    inputs = {"key": {"secret": True}}
    workflow = chain("secret", {"say": tool("box__echo", text="key {{input.key}}")}, inputs=inputs)

    async with opened(crib) as host:
        result = await run(host, "workflow_run", workflow=workflow, inputs={"key": "s3cr3t-value"})
        texts = [
            await run(host, "workflow_show", run="last", definition=True),
            await run(host, "workflow_step", run="last", step="say"),
            await run(host, "workflow_runs"),
            await run(host, "audit"),
        ]

    assert result["state"] == "finished"
    assert "s3cr3t-value" not in json.dumps(texts)


@pytest.mark.acceptance
async def test_a_picture_of_a_result_is_an_artifact_of_the_run(crib: Crib) -> None:
    crib.setting(approvals={"modes": {"workflow": "off"}})
    workflow = chain("look", {"see": tool("camera")}, {"pictures": "{{see.pictures}}"})

    async with opened(crib) as host:

        @host.tool(read_only=True)
        def camera() -> dict[str, Any]:
            """A picture."""
            data = base64.b64encode(PICTURE).decode()
            return {"content": [{"type": "image", "data": data, "mimeType": "image/png"}]}

        result = await run(host, "workflow_run", workflow=workflow)
        (id_,) = result["outputs"]["pictures"]
        artifact = await run(host, "workflow_artifact", run=result["run"], id=id_)
        with pytest.raises(NotFound):
            await run(host, "workflow_artifact", run=result["run"], id="../../../mcp.json")

    assert base64.b64decode(artifact["data"]) == PICTURE
    assert artifact["media_type"] == "image/png"


async def test_code_computes_with_its_inputs(crib: Crib) -> None:
    code = {"type": "Code", "settings": {"code": "return sorted(words)", "inputs": {"words": ["b", "a"]}}}

    async with opened(crib) as host:
        result = await run(
            host, "workflow_run", workflow=chain("code", {"sort": code}, {"words": "{{sort.value}}"})
        )

    assert result["outputs"] == {"words": ["a", "b"]}


async def test_code_cannot_return_a_file_that_only_the_host_may_read(crib: Crib, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('["token"]')
    swap = f"import os\nos.remove('result.json')\nos.symlink({str(secret)!r}, 'result.json')"
    text = f"import atexit\natexit.register(exec, {swap!r}, {{}})\nreturn 1"
    code = {"type": "Code", "settings": {"code": text, "inputs": {}}}

    async with opened(crib) as host:
        result = await run(
            host, "workflow_run", workflow=chain("code", {"read": code}, {"value": "{{read.value}}"})
        )

    assert result["state"] == "failed"
    assert "token" not in str(result["outputs"])


async def test_a_model_decides_and_a_replay_repeats_its_decisions_without_one(crib: Crib) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    settings = {"prompt": "Add 17 and 25.", "allowed_tools": ["demo__add"], "answer_schema": schema}
    workflow = chain("think", {"think": {"type": "AiStep", "settings": settings}}, {"n": "{{think.data.n}}"})
    adding = call(("demo__add", {"a": 17, "b": 25}))

    with vendor(adding, Say("It is 42."), Say('```json\n{"n": 42}\n```')) as model:
        crib.setting(agent=model.settings)
        async with opened(crib) as host:
            first = await run(host, "workflow_run", workflow=workflow)
            requests = len(model.requests)
            again = await run(host, "workflow_run", workflow=workflow, replay=first["run"])
            asked = len(model.requests) - requests
            calls = await run(host, "audit", tool="demo__add")
            chats = await run(host, "chat_list")

    assert (first["outputs"], again["outputs"]) == ({"n": 42}, {"n": 42})
    assert asked == 0
    assert [(one["principal"], one["session"]) for one in calls] == [
        ("workflow:think", again["run"]),
        ("workflow:think", first["run"]),
    ]
    assert chats == []


@pytest.mark.acceptance
async def test_a_model_has_no_more_calls_than_its_step_allows(crib: Crib) -> None:
    settings = {"prompt": "Add.", "allowed_tools": ["demo__add"], "max_tool_calls": 1}
    workflow = chain("think", {"think": {"type": "AiStep", "settings": settings}}, {"said": "{{think.text}}"})
    adding = call(("demo__add", {"a": 1, "b": 2}))

    with vendor(adding, adding, Say("Enough.")) as model:
        crib.setting(agent=model.settings)
        async with opened(crib) as host:
            result = await run(host, "workflow_run", workflow=workflow)
            calls = await run(host, "audit", tool="demo__add")

    assert result["state"] == "finished"
    assert len(calls) == 1


@pytest.mark.acceptance
async def test_a_broken_runs_database_is_an_error_with_a_hint_and_the_host_goes_on(crib: Crib) -> None:
    runs = crib.home / "data" / "runs"
    runs.mkdir(parents=True)
    (runs / "runs.sqlite").write_bytes(b"this is no database" * 100)

    async with opened(crib) as host:
        with pytest.raises(Exception, match="cannot be used") as caught:
            await run(host, "workflow_run", workflow=chain("sum", {"one": add(1, 2)}))
        result = await host.call("demo__add", {"a": 1, "b": 2})

    assert str(runs / "runs.sqlite") in getattr(caught.value, "hint", "")
    assert result["structuredContent"]["result"] == 3


async def test_a_workflow_marked_as_a_tool_is_called_like_one_with_its_own_approvals(crib: Crib) -> None:
    inputs = {"n": {"type": "integer", "description": "How many."}}
    nodes = {"sum": add("{{input.n}}", 1), "act": tool("box__pid")}
    workflow = chain("plus-one", nodes, {"n": "{{sum.data.result}}"}, inputs=inputs, options={"tool": True})

    async with opened(crib) as host:
        await run(host, "workflow_save", workflow=workflow)
        offered = host.toolset.registry.resolve("workflows__plus_one")
        with pytest.raises(InvalidArguments):
            await host.call("workflows__plus_one", {"n": "many"})
        calling = asyncio.create_task(host.call("workflows__plus_one", {"n": 1}))
        started = await _first_run(host)
        await shown(host, started, in_state("waiting"))
        (question,) = await run(host, "approvals")
        await run(host, "approval_answer", id=question["id"], allow=True)
        result = await asyncio.wait_for(calling, 60)
        await run(host, "workflow_remove", name="plus-one")
        names = [found.name for found in host.tools("workflows")]

    assert offered.definition.input_schema["properties"] == {
        "n": {"type": "integer", "description": "How many."}
    }
    assert question["principal"] == "workflow:plus-one"
    assert result["structuredContent"] == {"run": started, "outputs": {"n": 2}}
    assert names == []


@pytest.mark.acceptance
async def test_a_caller_that_gives_up_cancels_the_run_of_its_tool(crib: Crib) -> None:
    workflow = chain(
        "slow", {"wait": {"type": "Wait", "settings": {"seconds": 1000}}}, options={"tool": True}
    )

    async with opened(crib) as host:
        await run(host, "workflow_save", workflow=workflow)
        calling = asyncio.create_task(host.call("workflows__slow", {}))
        started = await _first_run(host)
        calling.cancel()
        await asyncio.wait([calling])
        ended = await shown(host, started, in_state("cancelled"))

    assert ended["state"] == "cancelled"


async def _first_run(host: Any) -> str:
    async with asyncio.timeout(60):
        with host.events.subscribe() as events:
            while not (found := (await run(host, "workflow_runs"))["runs"]):
                await events.next()
    return str(found[0]["run"])


@pytest.mark.acceptance
async def test_a_desktop_command_is_trusted_once_and_runs_only_with_its_run(
    crib: Crib, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOOLCRIB_TRUST_CONFIG", raising=False)
    crib.setting(approvals={"modes": {"workflow": "off"}})
    server = Path(__file__).with_name("desktop_program.py")
    options = {"desktop": f"{sys.executable} {server}"}
    windows = {"type": "ListWindows", "settings": {}}
    workflow = chain("desk", {"look": windows}, {"first": "{{look.windows[0].title}}"}, options=options)

    async with opened(crib, trust_config=False) as host:
        started = await run(host, "workflow_run", workflow=workflow, detach=True)
        async with asyncio.timeout(60):
            with host.events.subscribe() as events:
                while not (waits := _untrusted(host)):
                    await events.next()
        (name,) = waits
        await host.agree(name)
        first = await shown(host, started["run"], in_state("finished"))
        async with asyncio.timeout(60):
            with host.events.subscribe() as events:
                while name in host.servers:
                    await events.next()
        second = await run(host, "workflow_run", workflow=workflow)

    assert first["outputs"] == second["outputs"] == {"first": "Notes"}


def _untrusted(host: Any) -> list[str]:
    return [
        status.name
        for status in host.servers.statuses()
        if status.state is ServerState.NEEDS_TRUST and status.name.startswith("desktop-")
    ]
