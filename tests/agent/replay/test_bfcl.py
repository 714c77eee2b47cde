"""The solutions of the BFCL v4 multi-turn entries, call by call through our loop and our door.

The state at the end is that of the same calls made directly, in all 800 entries but the four of `CANNOT`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import toolcrib
from tests.agent.replay import bfcl
from toolcrib.agent.compaction import _ASK as ASKS_FOR_A_NOTE
from toolcrib.approvals.gate import AllowAll
from toolcrib.llm.model import CompletionRequest
from toolcrib.schema.messages import FromUser
from toolcrib.testing.model import ScriptedCalls, ScriptedModel, calls

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]
CANNOT = {f"multi_turn_{category}_173" for category in bfcl.CATEGORIES}
"""Their solution calls `close_ticket(ticket_id='ticket_001')`, where the tool's own schema wants an
integer: the door refuses it, as it should."""


@pytest.fixture(scope="session", autouse=True)
def _installed() -> None:
    bfcl.install()


class Solver:
    """A model that knows the solution: one call a round, then an answer."""

    def __init__(self) -> None:
        self.left: Iterator[bfcl.Call] = iter(())

    def __call__(self, request: CompletionRequest) -> str | ScriptedCalls:
        first = request.messages[0]
        if isinstance(first, FromUser) and first.text.startswith(ASKS_FOR_A_NOTE[:40]):
            return "A long talk about files."
        call = next(self.left, None)
        return "Done." if call is None else calls((call.tool, call.arguments))


async def replay(
    host: toolcrib.Host, world: bfcl.Instances, entry: bfcl.Entry
) -> tuple[list[str], list[str]]:
    """Take every turn of an entry; what differs in the end, and how its calls ended."""
    world.clear()
    world.update(entry.begin())
    solver = Solver()
    agent = host.agent(ScriptedModel(solver), max_rounds=200)
    chat = await host.chats.store.create("scripted")
    outcomes: list[str] = []
    for turn in range(len(entry.solution)):
        solver.left = iter(entry.calls(turn))
        ended = await agent.ask(entry.questions[turn], chat=chat)
        outcomes += [call.outcome for call in ended.calls]
    reference = directly(entry)
    differing = [
        name for name in entry.classes if bfcl.public_state(world[name]) != bfcl.public_state(reference[name])
    ]
    return differing, outcomes


def directly(entry: bfcl.Entry) -> bfcl.Instances:
    """The same calls without us."""
    instances = entry.begin()
    for turn in range(len(entry.solution)):
        for call in entry.calls(turn):
            server, _, tool = call.tool.partition("__")
            owner = next(name for name in entry.classes if bfcl._MODULES[name] == server)
            try:
                getattr(instances[owner], tool)(**call.arguments)
            except Exception:  # noqa: BLE001 - some solutions contain calls that fail, as the package has them
                continue
    return instances


@pytest.mark.parametrize("category", bfcl.CATEGORIES)
async def test_the_state_is_that_of_the_solution(category: str, tmp_path: Path) -> None:
    world: bfcl.Instances = {}
    wrong: dict[str, object] = {}
    count = 0
    async with toolcrib.open_host(tmp_path, only=(), watch=False, gate=AllowAll(), trust_config=True) as host:
        for server in bfcl.servers(world):
            host.add_inline(server)
        for entry in bfcl.entries(category):
            count += 1
            differing, outcomes = await replay(host, world, entry)
            if differing or "invalid" in outcomes:
                wrong[entry.id] = (differing, [one for one in outcomes if one != "ok"])

    assert count == 200
    assert wrong.keys() == {name for name in CANNOT if name.startswith(f"multi_turn_{category}_")}, wrong
