"""Rules and questions outlive the process that made them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.approvals.people import Tools, gate_with, is_ours
from tests.store.records import Noon
from toolcrib.approvals.gate import Gate
from toolcrib.approvals.question import Answer
from toolcrib.approvals.rule import Rule
from toolcrib.approvals.waiting import DurableAsker
from toolcrib.store.approvals import ApprovalRequests, ApprovalRules
from toolcrib.store.database import Database, open_database

WAIT = 30


async def waiting_question(requests: ApprovalRequests) -> str:
    async with asyncio.timeout(WAIT):
        while not (found := await requests.waiting()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return str(found[0].question["id"])


async def test_rules_are_there_again_after_a_restart(tmp_path: Path) -> None:
    async with open_database(tmp_path / "x.db") as database:
        rules = await ApprovalRules.open(database, clock=Noon())
        kept, dropped = Rule(effect="deny", server="web"), Rule(effect="allow", server="x")
        rules.add(kept)
        rules.add(dropped)
        assert rules.remove(dropped.id)
        assert not rules.remove("unknown")

    async with open_database(tmp_path / "x.db") as database:
        assert (await ApprovalRules.open(database, clock=Noon())).all() == (kept,)


def headless(database: Database) -> tuple[Gate, DurableAsker]:
    asker = DurableAsker(ApprovalRequests(database, Noon()))
    return Gate(ours=is_ours, asker=asker), asker


async def test_a_question_waits_until_somebody_answers_it(tmp_path: Path) -> None:
    async with open_database(tmp_path / "x.db") as database:
        gate, asker = headless(database)
        call = asyncio.create_task(gate.check(Tools().run("make")))
        asked = await waiting_question(ApprovalRequests(database, Noon()))

        assert await asker.answer(asked, Answer(allow=True))

        assert (await asyncio.wait_for(call, WAIT)).allowed
        assert not await asker.answer(asked, Answer(allow=False))
        assert await asker.requests.waiting() == []


async def test_an_answer_that_comes_after_the_end_is_found_by_the_next_same_call(tmp_path: Path) -> None:
    async with open_database(tmp_path / "x.db") as database:
        gate, _ = headless(database)
        call = asyncio.create_task(gate.check(Tools().run("make")))
        asked = await waiting_question(ApprovalRequests(database, Noon()))
        call.cancel()
        await asyncio.wait([call])

    async with open_database(tmp_path / "x.db") as database:
        requests = ApprovalRequests(database, Noon())
        assert await requests.answer(asked, Answer(allow=True))

    async with open_database(tmp_path / "x.db") as database:
        gate, _ = headless(database)
        other = asyncio.create_task(gate.check(Tools().run("make install")))
        await waiting_question(ApprovalRequests(database, Noon()))
        other.cancel()
        await asyncio.wait([other])
        assert (await asyncio.wait_for(gate.check(Tools().run("make")), WAIT)).allowed


async def test_nobody_answers_in_time(tmp_path: Path) -> None:
    async with open_database(tmp_path / "x.db") as database:
        asker = DurableAsker(ApprovalRequests(database, Noon()), timeout=0.05)

        decision = await gate_with(asker).check(Tools().run("make"))  # type: ignore[arg-type]

        assert not decision.allowed
        assert "in time" in decision.reason
