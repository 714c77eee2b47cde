"""Runs whose servers are not ready: they wait for trust, also over restarts, and say what else is missing."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.conftest import Crib
from tests.features.workflows.host.workflow_sample import chain, in_state, opened, run, shown, tool
from tests.web.vendor import Say, vendor
from toolcrib.host import Host

ASK = chain("ask", {"act": tool("box__pid")}, {"pid": "{{act.text}}"})
FREE = {"modes": {"workflow": "off"}}


@pytest.fixture(autouse=True)
def _no_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOOLCRIB_TRUST_CONFIG")


async def trust(host: Host, *names: str) -> None:
    found = await run(host, "trust", names=list(names))
    marks = {server["name"]: server["mark"] for server in found["servers"]}
    await run(host, "trust", names=list(names), agree=marks)


async def started(host: Host, workflow: Any) -> Any:
    """A run that waits for trust."""
    result = await run(host, "workflow_run", workflow=workflow, detach=True)
    return await shown(host, result["run"], in_state("waiting"))


async def test_a_run_says_that_its_server_needs_trust_and_continues_with_it(crib: Crib) -> None:
    crib.setting(approvals=FREE)
    async with opened(crib, trust_config=False) as host:
        waiting = await started(host, ASK)
        items = (await run(host, "waiting"))["items"]
        listed = await run(host, "workflow_runs", state="waiting")
        await trust(host, "box")
        ended = await shown(host, waiting["run"], lambda found: found["ended"] is not None)

    (question,) = waiting["questions"]
    assert "The server box needs your trust." in question["text"]
    assert "toolcrib trust box" in question["text"]
    assert {(item["kind"], item["run"]) for item in items} >= {("workflow", waiting["run"])}
    assert [one["run"] for one in listed["runs"]] == [waiting["run"]]
    assert (ended["state"], ended["questions"]) == ("finished", [])
    assert ended["outputs"]["pid"].isdigit()


@pytest.mark.parametrize("before", [False, True])
async def test_a_run_waits_for_trust_over_restarts(crib: Crib, before: bool) -> None:
    """The call cannot be repeated, but it has not begun: nothing is uncertain."""
    crib.setting(approvals=FREE)
    nodes = {"act": tool("box__pid"), "sure": {"type": "AskUser", "settings": {"message": "Sure?"}}}
    async with opened(crib, trust_config=False) as host:
        first = await started(host, chain("ask", nodes))
    async with opened(crib, trust_config=False, continue_runs=not before) as host:
        again = await shown(host, first["run"], in_state("waiting"))
        await trust(host, "box")
    async with opened(crib, trust_config=False) as host:
        asked = await shown(host, first["run"], lambda found: "sure" in str(found["questions"]))

    assert again["questions"] == first["questions"]
    assert [question["step"] for question in asked["questions"]] == ["sure"]
    assert asked["steps"][0]["state"] == "done"


@pytest.mark.parametrize("choice", [None, "Stop here"])
async def test_a_run_without_trust_fails_at_the_deadline_or_when_it_is_stopped(
    crib: Crib, choice: str | None
) -> None:
    options = {} if choice else {"question_deadline": 0.2}
    async with opened(crib, trust_config=False) as host:
        waiting = await run(host, "workflow_run", workflow={**ASK, "options": options}, detach=True)
        if choice:
            await shown(host, waiting["run"], in_state("waiting"))
            await run(host, "workflow_answer", run=waiting["run"], step="act", choice=choice)
        ended = await shown(host, waiting["run"], in_state("failed"))

    assert ended["error"]["kind"] == "server_not_ready"
    assert "The server box needs your trust." in ended["error"]["message"]
    assert "toolcrib trust box" in ended["error"]["hint"]


async def test_a_model_gets_its_tools_once_their_server_is_trusted(crib: Crib) -> None:
    crib.setting(approvals=FREE)
    step = {"type": "AiStep", "settings": {"prompt": "Go", "allowed_tools": ["box__pid"]}}
    with vendor(Say("done")) as model:
        crib.setting(agent=model.settings)
        async with opened(crib, trust_config=False) as host:
            waiting = await started(host, chain("ask", {"think": step}))
            await trust(host, "box")
            ended = await shown(host, waiting["run"], lambda found: found["ended"] is not None)

    assert ended["state"] == "finished", ended["error"]


@pytest.mark.parametrize(
    ("entry", "message", "hint"),
    [
        ({"enabled": False}, "box is off.", "toolcrib enable box"),
        ({"env": {"KEY": "${secret:MISSING_ONE}"}}, "MISSING_ONE", "toolcrib secret set MISSING_ONE"),
        ({"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]}, "box is", "toolcrib logs box"),
    ],
)
async def test_other_reasons_are_named_with_what_to_do(
    crib: Crib, entry: dict[str, Any], message: str, hint: str
) -> None:
    crib.server("box")
    crib.document["mcpServers"]["box"].update(entry)
    async with crib.open(trust_config=True) as host:
        await host.servers.settle()
        result = await run(host, "workflow_run", workflow=ASK)

    assert result["error"]["kind"] == "server_not_ready"
    assert message in result["error"]["message"]
    assert hint in result["error"]["hint"]
