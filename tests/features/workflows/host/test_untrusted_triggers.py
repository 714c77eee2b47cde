"""What a webhook receives is outside content: the run that gets it asks before it writes or sends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.conftest import DEADLINE, Crib
from tests.features.workflows.host.workflow_sample import chain, in_state, opened, run, shown, tool
from toolcrib.features.workflows.webhooks.request import HookRequest
from toolcrib.host import Host
from toolcrib.schema.workflows import Workflow

SOURCE = "webhook trigger"
ACT = {"act": tool("box__pid")}


@asynccontextmanager
async def unattended(crib: Crib, **options: Any) -> AsyncIterator[Host]:
    """A host with a rule that allows what the runs do."""
    async with opened(crib, **options) as host:
        await run(host, "policy_add", rule={"effect": "allow", "server": "box", "tool": "pid"})
        yield host


def triggered(settings: dict[str, Any], **given: str) -> Workflow:
    inputs = {"subject": {"required": False, "default": "nothing"}}
    trigger = {"type": "webhook", "settings": settings, "input": given}
    return Workflow.model_validate(chain("report", ACT, inputs=inputs, triggers=[trigger]))


async def post(host: Host, workflow: Workflow, body: dict[str, Any]) -> None:
    """Send a request to the webhook of this workflow."""
    await host.workflows.save(workflow)
    _, token = await host.workflows.triggers.turn_on(workflow.name, 0)
    headers = {"content-type": "application/json"}
    request = HookRequest(headers=headers, query="", body=json.dumps(body).encode())
    await host.workflows.triggers.receiver.receive(token or "", request)


async def started(host: Host) -> str:
    """The only run, once it has started."""
    async with asyncio.timeout(DEADLINE):
        while not (runs := await host.workflows.runs.list(limit=2)):  # noqa: ASYNC110 - another task's
            await asyncio.sleep(0.05)
    (only,) = runs
    return only.run


async def reason(host: Host, run_id: str) -> str:
    """Why the call of a run is asked about."""
    await shown(host, run_id, in_state("waiting"))
    (question,) = [asked for asked in await run(host, "approvals") if asked["session"] == run_id]
    return " ".join(question["reasons"])


async def test_a_run_with_data_of_a_request_asks_before_it_acts_and_so_does_its_repetition(
    crib: Crib,
) -> None:
    async with unattended(crib) as host, host.workflows.triggers.running():
        await post(host, triggered({}, subject="{{event.body.subject}}"), {"subject": "Hello"})
        first = await started(host)

        assert SOURCE in await reason(host, first)
        await run(host, "workflow_cancel", run=first)
        again = (await run(host, "workflow_rerun", run=first, detach=True))["run"]
        assert SOURCE in await reason(host, again)
        await run(host, "workflow_cancel", run=again)


@pytest.mark.parametrize(
    ("settings", "given"), [({"trusted": True}, {"subject": "{{event.body.subject}}"}), ({}, {})]
)
async def test_a_trusted_request_and_one_without_data_for_the_run_change_nothing(
    crib: Crib, settings: dict[str, Any], given: dict[str, str]
) -> None:
    async with unattended(crib) as host, host.workflows.triggers.running():
        await post(host, triggered(settings, **given), {"subject": "Hello"})

        await shown(host, await started(host), in_state("finished"))


async def test_an_event_of_a_webhook_counts_also_after_a_restart_and_one_of_the_user_does_not(
    crib: Crib,
) -> None:
    target = {"name": "paid", "value": "{{event.body.run}}"}
    waits = {"payment": {"type": "Wait", "settings": {"event": "paid"}}, **ACT}
    triggers = [{"type": "webhook", "settings": {"send": target}}]
    workflow = Workflow.model_validate(chain("ship", waits, triggers=triggers))
    async with unattended(crib) as host:
        engine = await host.workflows.runs.open()
        own, outside = [await engine.start(workflow, {}) for _ in range(2)]
        await run(host, "workflow_event", run=own, name="paid", data={"sum": 5})
        await post(host, workflow, {"run": outside})

        await shown(host, own, in_state("finished"))
        assert SOURCE in await reason(host, outside)

    async with unattended(crib, continue_runs=True) as host:
        assert SOURCE in await reason(host, outside)
        await run(host, "workflow_cancel", run=outside)
