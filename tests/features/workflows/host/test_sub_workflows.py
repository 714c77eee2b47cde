"""Sub-workflows in a host: what was read travels with results, and their approvals are those of the run."""

from __future__ import annotations

from typing import Any

from tests.conftest import Crib
from tests.features.workflows.host.workflow_sample import chain, in_state, opened, run, shown, tool
from toolcrib.features.workflows.approvals import run_principal
from toolcrib.host import Host

ASK = {"type": "AskUser", "settings": {"message": "Go on?", "choices": ["Yes"]}}
READ = tool("box__echo", text="Hello")


def sub(workflow: str) -> dict[str, Any]:
    return {"type": "SubWorkflow", "settings": {"workflow": workflow, "inputs": {}}}


async def test_what_a_run_has_read_counts_in_its_sub_workflows_and_the_other_way_round(crib: Crib) -> None:
    crib.setting(approvals={"modes": {"workflow": "off"}})
    failing = chain("fails", {"read": READ, "stop": tool("box__fail")})
    async with opened(crib) as host:
        for inner in (chain("asks", {"ask": ASK}), chain("reads", {"read": READ}), failing):
            await run(host, "workflow_save", workflow=inner)
        below = await _waiting(host, chain("above", {"read": READ, "part": sub("asks")}))
        above = await _waiting(host, chain("below", {"part": sub("reads"), "ask": ASK}))
        rescued = chain("rescue", {"part": sub("fails"), "ask": ASK})
        rescued["edges"] = [{"from": "part", "to": "ask", "output": "error"}]
        failed = await _waiting(host, rescued)
        assert "box__echo" in _read_by(host, "below", above)
        await run(host, "workflow_cancel", run=above)
        again = (await run(host, "workflow_rerun", run=above, from_node="ask", detach=True))["run"]
        await shown(host, again, in_state("waiting"))

        assert "box__echo" in _read_by(host, "asks", f"{below}/part")
        assert "box__echo" in _read_by(host, "rescue", failed)
        assert "box__echo" in _read_by(host, "below", again)
        await run(host, "workflow_cancel", run=again)


async def test_an_approval_of_a_sub_workflow_is_one_of_the_run(crib: Crib) -> None:
    async with opened(crib) as host:
        await run(host, "workflow_save", workflow=chain("acts", {"act": tool("box__pid")}))
        started = (
            await run(host, "workflow_run", workflow=chain("all", {"part": sub("acts")}), detach=True)
        )["run"]
        now = await shown(host, started, in_state("waiting"))
        (question,) = await run(host, "approvals")
        assert question["session"] == f"{started}/part"
        assert [step["state"] for step in now["steps"]] == ["waiting"]

        await run(host, "workflow_cancel", run=started)

        assert await run(host, "approvals") == []


async def _waiting(host: Host, workflow: dict[str, Any]) -> str:
    """A run of this workflow that waits for its answer."""
    started: str = (await run(host, "workflow_run", workflow=workflow, detach=True))["run"]
    await shown(host, started, in_state("waiting"))
    return started


def _read_by(host: Host, workflow: str, run: str) -> tuple[str, ...]:
    return host.approvals.policy.sessions.of(run_principal(workflow, run)).untrusted
