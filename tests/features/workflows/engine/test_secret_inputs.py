"""Runs with secret inputs: no value is found in the database, in no state of a run, and every step has it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.features.workflows.engine.conftest import KEY, OPTIONS, Bench
from tests.features.workflows.engine.sample_services import SampleServices
from tests.features.workflows.engine.sample_workflows import call, workflow
from toolcrib.features.workflows.engine.opening import open_engine, open_viewer
from toolcrib.features.workflows.ports import VisitScope
from toolcrib.features.workflows.secret_inputs import RunKey
from toolcrib.graph.node_type import NodeCall, UserAnswer
from toolcrib.schema.tools import ToolResult

SECRETS: dict[str, Any] = {
    "pw": "hunter2-Qx",
    "pin": 13579246,
    "login": {"user": "mallory-Qx", "key": "k3y-Qx-9"},
}
INPUTS = {
    "pw": {"secret": True},
    "pin": {"type": "integer", "secret": True},
    "login": {"type": "object", "secret": True},
}
LEAVES = ("hunter2-Qx", "13579246", "mallory-Qx", "k3y-Qx-9")


class Echo(SampleServices):
    """A tool that returns its arguments, and remembers them."""

    def __init__(self, log: Path) -> None:
        super().__init__(log)
        self.given: list[Any] = []

    async def call(self, use: NodeCall, visit: VisitScope) -> ToolResult:
        self.given.append(dict(use.arguments))
        text = f"got {use.arguments}"
        return {"content": [{"type": "text", "text": text}], "structuredContent": dict(use.arguments)}


@asynccontextmanager
async def opened(folder: Path, key: RunKey = KEY) -> AsyncIterator[tuple[Bench, Echo]]:
    services, changed = Echo(folder / "calls"), asyncio.Event()
    async with open_engine(
        folder / "home", services, options=OPTIONS, on_change=lambda run, step: changed.set(), key=key
    ) as engine:
        yield Bench(engine, services, changed), services


def stored(folder: Path) -> bytes:
    """All that is on the disk, in every encoding of the database."""
    return b"".join(file.read_bytes() for file in (folder / "home").rglob("*") if file.is_file())


def assert_hidden(folder: Path) -> None:
    content = stored(folder)
    assert [leaf for leaf in LEAVES if leaf.encode() in content] == []


EVERYTHING = workflow(
    {
        "first": call(text="{{input.pw}}", pin="{{input.pin}}", login="{{input.login}}"),
        "each": {"type": "Map", "settings": {"items": ["{{input.pw}}", "{{input.pin}}"], "at_once": 1}},
        "inside": call(item="{{item}}", before="{{first.data.text}}"),
        "end": {"type": "EndMap", "settings": {"map": "each", "value": "{{inside.data}}"}},
        "sub": {
            "type": "SubWorkflow",
            "settings": {"workflow": "inner", "inputs": {"plain": "{{input.pw}}"}},
        },
        "ask": {"type": "AskUser", "settings": {"message": "Use {{input.pw}}?", "choices": ["Yes"]}},
        "last": call(sub="{{sub.outputs.text}}", pin="{{first.data.pin}}", key="{{input.login.key}}"),
    },
    ["first each", "each.body inside", "inside end", "each.done sub", "sub ask", "ask last"],
    inputs=INPUTS,
    outputs={"text": "{{last.text}}", "pin": "{{input.pin}}"},
)
INNER = workflow(
    {"say": call(text="{{input.plain}}")},
    [],
    name="inner",
    inputs={"plain": {}},
    outputs={"text": "{{say.data.text}}"},
)


async def test_no_secret_is_in_the_database_in_any_state_of_a_run(tmp_path: Path) -> None:
    async with opened(tmp_path) as (bench, services):
        services.workflows["inner"] = INNER
        run = await bench.engine.start(EVERYTHING, SECRETS)
        waiting = await bench.until(run, "waiting")
        assert_hidden(tmp_path)
        assert waiting.questions[0].text == "Use •••?"

    async with opened(tmp_path) as (bench, services):  # a restart: the steps so far are read again
        await bench.until(run, "waiting")
        await bench.engine.answer(run, "ask", UserAnswer(choice="Yes"))
        record = await bench.ended(run)
        again = await bench.engine.rerun(run, from_step="last")
        repeated = await bench.ended(again)
        shown = [await bench.engine.steps(name) for name in (run, again, f"{run}/sub")]
        await bench.engine.prune(older_than=float("inf"))

    assert record.state == repeated.state == "finished", (record, repeated)
    expected = {"sub": "hunter2-Qx", "pin": 13579246, "key": "k3y-Qx-9"}
    assert services.given == [expected, expected]
    assert record.outputs is not None
    assert record.outputs["pin"] == "•••"
    assert [leaf for leaf in LEAVES if leaf in str((record, repeated, shown))] == []
    assert_hidden(tmp_path)


async def test_a_host_without_the_key_says_so_and_can_look(tmp_path: Path) -> None:
    other = RunKey(find=lambda: b"other", create=lambda: b"other")
    ask = {"type": "AskUser", "settings": {"message": "{{input.pw}}?", "choices": ["Yes"]}}
    asking = workflow({"ask": ask}, [], inputs=INPUTS)
    async with opened(tmp_path) as (bench, _):
        run = await bench.engine.start(asking, SECRETS)
        await bench.until(run, "waiting")

    async with open_viewer(tmp_path / "home", key=other) as viewer:
        (step,) = await viewer.steps(run)
        assert step.state == "waiting"
        assert "hunter2" not in str(await viewer.inputs(run))
    async with opened(tmp_path, other) as (bench, _):
        record = await bench.ended(run)

    assert record.error is not None
    assert "cannot be read on this host" in record.error["message"]
    assert "Start it again" in record.error["hint"]


@pytest.mark.parametrize("failing", ["tool", "settings"])
async def test_no_secret_is_in_a_stored_error(tmp_path: Path, failing: str) -> None:
    class Failing(Echo):
        async def call(self, use: NodeCall, visit: VisitScope) -> ToolResult:
            return {"isError": True, "content": [{"type": "text", "text": f"bad {use.arguments}"}]}

    node = call(text="{{input.pw}}")
    if failing == "settings":
        node = {"type": "Wait", "settings": {"until": "{{input.pw}}"}}
    services = Failing(tmp_path / "calls")
    async with open_engine(tmp_path / "home", services, options=OPTIONS, key=KEY) as engine:
        bench = Bench(engine, services, asyncio.Event())
        record = await bench.finished(workflow({"only": node}, [], inputs=INPUTS), SECRETS)

    assert record.state == "failed"
    assert "hunter2" not in str(record)
    assert_hidden(tmp_path)


@pytest.mark.parametrize("secret", ["hunter2-Qx", "hunter2-Qx " * 40])
async def test_no_part_of_a_secret_is_in_the_reason_of_a_decision(tmp_path: Path, secret: str) -> None:
    condition = {"left": "{{input.pw}}", "operator": "contains", "right": "zzz"}
    nodes = {"is": {"type": "If", "settings": {"condition": condition}}, "no": call(text="no")}

    async with opened(tmp_path) as (bench, _):
        record = await bench.finished(
            workflow(nodes, ["is.false no"], inputs={"pw": {"secret": True}}), {"pw": secret}
        )
        path = await bench.engine.path(record.run)

    assert path.decisions[0].reason.endswith("does not contain “zzz”")
    assert "hunter2" not in str((path, record))
    assert "hunter2" not in stored(tmp_path).decode("utf-8", "replace")
