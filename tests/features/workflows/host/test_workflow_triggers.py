"""Triggers of a real host, with its engine: turned on, paused, started and told about."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import toolcrib
from tests.conftest import DEADLINE, Crib
from toolcrib.errors import NotFound, UsageError
from toolcrib.features.workflows.webhooks.request import HookRequest
from toolcrib.graph.files import write_workflow
from toolcrib.operations.client import Client
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform
from toolcrib.schema.events import Noticed
from toolcrib.schema.workflows import Workflow


def workflow(*triggers: dict[str, Any], name: str = "report") -> Workflow:
    document = {
        "name": name,
        "inputs": {"subject": {"required": False, "default": "nothing"}},
        "nodes": {"keep": {"type": "Set", "settings": {"values": {"subject": "{{input.subject}}"}}}},
        "outputs": {"subject": "{{keep.subject}}"},
        "triggers": triggers,
    }
    return Workflow.model_validate(document)


class OnHost:
    """Runs operations on a host that is open."""

    running = True

    def __init__(self, host: toolcrib.Host) -> None:
        self.socket = host.paths.socket
        self._host = host

    async def run(self, operation: str, params: dict[str, Any], on_event: Any = None) -> Any:
        return await perform(self._host, operation, params, Invocation())


async def notice(host: toolcrib.Host) -> str:
    with host.events.subscribe() as events:
        async with asyncio.timeout(DEADLINE):
            while not isinstance(event := await events.next(), Noticed):
                pass
    return event.text


async def test_a_schedule_starts_runs_and_pages_hear_of_their_end(crib: Crib) -> None:
    async with crib.open() as host:
        await host.workflows.save(workflow({"type": "schedule", "settings": {"cron": "* * * * * *"}}))
        async with host.workflows.triggers.running():
            heard = asyncio.create_task(notice(host))
            await host.workflows.triggers.turn_on("report", 0)
            text = await heard
        (state,) = await host.workflows.triggers.all("report")

    assert text.endswith("of report finished.")
    assert state.last is not None
    assert state.last.run.startswith("report-schedule-2")


async def test_a_file_starts_a_run_with_its_path(crib: Crib, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    trigger = {
        "type": "folder",
        "settings": {"path": str(folder), "settle": 0.5},
        "input": {"subject": "{{event.name}}"},
    }
    async with crib.open() as host:
        await host.workflows.save(workflow(trigger))
        await host.workflows.triggers.turn_on("report", 0)
        (folder / "a.txt").write_text("content")
        async with host.workflows.triggers.running():
            await notice(host)
        (run,) = await host.workflows.runs.list(limit=10)

    assert run.outputs == {"subject": "a.txt"}


async def test_a_request_continues_the_run_that_waits_for_it(crib: Crib) -> None:
    target = {"name": "paid", "input": "order", "value": "{{event.body.order}}"}
    waiting = Workflow.model_validate(
        {
            "name": "ship",
            "inputs": {"order": {"type": "integer"}},
            "nodes": {"payment": {"type": "Wait", "settings": {"event": "paid"}}},
            "outputs": {"sum": "{{payment.data.body.sum}}"},
            "triggers": [{"type": "webhook", "settings": {"send": target}}],
        }
    )
    request = HookRequest(
        headers={"content-type": "application/json"}, query="", body=b'{"order": 8, "sum": 5}'
    )
    async with crib.open() as host:
        await host.workflows.save(waiting)
        _, token = await host.workflows.triggers.turn_on("ship", 0)
        engine = await host.workflows.runs.open()
        runs = [await engine.start(waiting, {"order": order}) for order in (7, 8)]
        answer = await host.workflows.triggers.receiver.receive(token or "", request)
        ended = await engine.wait(runs[1], DEADLINE)
        other = await engine.status(runs[0])
        await engine.cancel(runs[0])

    assert answer.content["runs"] == [runs[1]]
    assert (ended.state, ended.outputs) == ("finished", {"sum": 5})
    assert other.state in ("running", "waiting")


async def test_an_imported_workflow_starts_nothing(crib: Crib) -> None:
    async with crib.open() as host:
        client = Client(OnHost(host))
        await host.workflows.save(workflow({"type": "schedule", "settings": {"cron": "hourly"}}))
        await host.workflows.triggers.turn_on("report", 0)
        exported = await client.workflow_export(name="report")
        await client.workflow_import(text=exported["text"], replace=True)
        (state,) = await client.workflow_triggers(name="report")

    assert state["state"] == "off"


async def test_a_trigger_of_an_unconfirmed_workflow_is_paused_with_the_reason(crib: Crib) -> None:
    async with crib.open() as host:
        client = Client(OnHost(host))
        made = workflow({"type": "webhook", "settings": {}})
        await client.workflow_import(text=write_workflow(made))
        turned = await client.workflow_trigger_set(name="report", index=0, on=True)
        (before,) = await client.workflow_triggers()
        await host.workflows.confirm((await host.workflows.get("report")).readable)
        (after,) = await client.workflow_triggers()

    assert (turned["trigger"]["state"], before["state"], after["state"]) == ("paused", "paused", "on")
    assert "toolcrib workflow run report" in before["reason"]


async def test_a_removed_workflow_is_forgotten(crib: Crib) -> None:
    async with crib.open() as host:
        await host.workflows.save(workflow({"type": "schedule", "settings": {"cron": "hourly"}}))
        await host.workflows.triggers.turn_on("report", 0)
        await host.workflows.remove("report")

        assert await host.workflows.triggers.store.activations() == []


async def test_a_trigger_of_an_invalid_workflow_is_paused_with_the_reason(crib: Crib) -> None:
    trigger = {"type": "schedule", "settings": {"cron": "hourly"}}
    async with crib.open() as host:
        client = Client(OnHost(host))
        valid = workflow(trigger)
        await host.workflows.save(valid)
        await host.workflows.triggers.turn_on("report", 0)
        await host.workflows.save({**valid.model_dump(mode="json", by_alias=True), "nodes": {}})
        (state,) = await client.workflow_triggers()
        checks = await client.doctor(wait=0)

    assert state["state"] == "paused"
    assert "not valid" in state["reason"]
    assert state["sentence"] == "Every hour at :00, UTC"
    assert any(check["name"] == "trigger report/schedule" for check in checks["checks"])


async def test_an_invalid_trigger_cannot_be_turned_on(crib: Crib) -> None:
    async with crib.open() as host:
        await host.workflows.save(workflow({"type": "schedule", "settings": {"cron": "sometimes"}}))
        with pytest.raises(UsageError, match="not understood"):
            await host.workflows.triggers.turn_on("report", 0)


async def test_a_schedule_is_set_changed_and_turned_off_by_operations(crib: Crib) -> None:
    async with crib.open() as host:
        client = Client(OnHost(host))
        await host.workflows.save(workflow())
        first = await client.workflow_schedule(
            name="report", cron="weekdays at 07:30", timezone="Europe/Berlin", texts={"subject": "sales"}
        )
        second = await client.workflow_schedule(name="report", cron="0 9 * * *", timezone="Europe/Berlin")
        off = await client.workflow_schedule(name="report", on=False)
        stored = await host.workflows.get("report")

    assert (first["sentence"], first["state"]) == ("Every weekday at 07:30, Europe/Berlin", "on")
    assert first["next"]
    assert second["sentence"] == "Every day at 09:00, Europe/Berlin"
    assert off["state"] == "off"
    assert stored.workflow is not None
    assert len(stored.workflow.triggers) == 1


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"cron": "at noon sometimes"}, "not understood"),
        ({"cron": "hourly", "timezone": "Mars/Olympus"}, "time zone"),
        ({"cron": "hourly", "inputs": {"colour": "red"}}, "colour"),
        ({}, "has no schedule"),
    ],
)
async def test_a_wrong_schedule_is_refused_and_nothing_is_saved(
    crib: Crib, given: dict[str, Any], reason: str
) -> None:
    async with crib.open() as host:
        client = Client(OnHost(host))
        before = await host.workflows.save(workflow())
        with pytest.raises(UsageError, match=reason):
            await client.workflow_schedule(name="report", **given)
        after = await host.workflows.get("report")

    assert after.version == before.version


async def test_a_start_that_failed_is_listed_with_its_reason_and_can_be_repeated(crib: Crib) -> None:
    trigger = {
        "type": "schedule",
        "settings": {"cron": "* * * * * *", "overlap": "allow"},
        "input": {"subject": "{{event.scheduled}}"},
    }
    fitting = workflow(trigger)
    numbers = fitting.model_dump(mode="json", by_alias=True)
    numbers["inputs"]["subject"] = {"type": "integer"}
    async with crib.open() as host:
        client = Client(OnHost(host))
        await host.workflows.save(Workflow.model_validate(numbers))
        async with host.workflows.triggers.running():
            heard = asyncio.create_task(notice(host))
            await client.workflow_trigger_set(name="report", index=0, on=True)
            text = await heard
        (shown,) = await client.workflow_triggers(name="report")
        failed = shown["failed"][0]
        listed = await client.workflow_runs(name="report")
        with pytest.raises(NotFound, match="was not started: The input 'subject' must be an integer"):
            await client.workflow_show(run=failed["run"])
        with pytest.raises(UsageError, match="must be an integer"):
            await client.workflow_rerun(run=failed["run"])
        await host.workflows.save(fitting)
        result = await client.workflow_rerun(run=failed["run"])
        (after,) = await client.workflow_triggers(name="report")

    assert text == "A run of report could not be started: The input 'subject' must be an integer."
    assert (failed["state"], failed["startable"]) == ("failed", True)
    assert (listed["runs"], listed["failed_starts"]) == ([], len(shown["failed"]))
    assert result["state"] == "finished"
    assert result["outputs"]["subject"].startswith("2")
    assert result["run"] == failed["run"]
    assert failed["run"] not in [start["run"] for start in after["failed"]]
