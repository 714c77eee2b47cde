"""Rules and questions outlive the process that made them."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.approvals.people import Tools, gate_with, is_ours
from tests.store.records import Noon
from toolcrib.approvals.gate import ApprovalGate
from toolcrib.approvals.question import ApprovalAnswer, DurableAsker
from toolcrib.approvals.rule import Rule
from toolcrib.schema.deciders import deciding, this_host
from toolcrib.store.approvals import ApprovalRequests, ApprovalRules
from toolcrib.store.database import AsyncDatabase, open_database

WAIT = 60


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
        assert (await ApprovalRules.open(database, clock=Noon())).active == (kept,)


async def test_a_change_is_on_disk_once_it_was_waited_for(tmp_path: Path) -> None:
    async with open_database(tmp_path / "x.db") as database:
        rules = await ApprovalRules.open(database, clock=Noon())
        with closing(sqlite3.connect(tmp_path / "x.db")) as reader:
            for count in range(1, 21):
                rules.add(Rule(effect="deny", server=f"web-{count}"))
                await rules.stored()
                assert reader.execute("SELECT count(*) FROM approval_rules").fetchone() == (count,)


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        ("no json", "cannot be read"),
        ("[]", "cannot be read"),
        ('{"effect": "perhaps"}', "effect"),
        (
            '{"effect": "deny", "server": "terminal", "tool": "run_command",'
            ' "arguments": {"command": {"like": "rm *"}}, "examples": {"match": [{"command": "ls"}]}}',
            "does not match its own example",
        ),
        (
            '{"effect": "allow", "server": "", "tool": "terminal",'
            ' "arguments": {"command": {"like": "make *"}},'
            ' "examples": {"not_match": [{"command": "make x"}]}}',
            "which its examples exclude",
        ),
    ],
)
async def test_a_rule_that_is_broken_is_not_in_force_and_says_why(
    tmp_path: Path, stored: str, reason: str
) -> None:
    async with open_database(tmp_path / "x.db") as database:
        statement = "INSERT INTO approval_rules (id, rule, made_at, decided) VALUES ('odd', ?, 0, ?)"
        decided = database.decisions.decide("approval_rules", "odd", stored, 0, 0)
        await database.run(lambda connection: connection.execute(statement, (stored, decided)))
        rules = await ApprovalRules.open(database, clock=Noon())

        assert rules.active == ()
        assert [(one.id, one.rule) for one in rules.broken()] == [("odd", stored)]
        assert reason in rules.broken()[0].reason
        assert rules.remove("odd")
        assert rules.broken() == ()

        assert (await ApprovalRules.open(database, clock=Noon())).broken() == ()


def headless(database: AsyncDatabase) -> tuple[ApprovalGate, DurableAsker]:
    asker = DurableAsker(ApprovalRequests(database, Noon()))
    return ApprovalGate(ours=is_ours, asker=asker), asker


async def test_a_question_waits_until_somebody_answers_it(tmp_path: Path) -> None:
    async with open_database(tmp_path / "x.db") as database:
        gate, asker = headless(database)
        call = asyncio.create_task(gate.check(Tools().run("make")))
        asked = await waiting_question(ApprovalRequests(database, Noon()))

        assert await asker.answer(asked, ApprovalAnswer(allow=True))

        assert (await asyncio.wait_for(call, WAIT)).allowed
        assert not await asker.answer(asked, ApprovalAnswer(allow=False))
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
        assert await requests.answer(asked, ApprovalAnswer(allow=True))

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


async def test_a_rule_that_is_switched_off_is_kept_and_not_in_force(tmp_path: Path) -> None:
    off, on = Rule(effect="deny", server="web"), Rule(effect="allow", server="x")
    async with open_database(tmp_path / "x.db") as database:
        rules = await ApprovalRules.open(database, clock=Noon())
        rules.add(off)
        rules.add(on)
        assert rules.switch(off.id, False)
        assert not rules.switch("unknown", False)
        assert rules.active == (on,)

    async with open_database(tmp_path / "x.db") as database:
        rules = await ApprovalRules.open(database, clock=Noon())
        assert {rule.server: on for rule, on in rules.listed()} == {"web": False, "x": True}
        assert rules.switch(off.id, True)
        assert {rule.server for rule in rules.active} == {"web", "x"}


async def test_a_rule_takes_the_place_of_another(tmp_path: Path) -> None:
    first, second = Rule(effect="deny", server="a"), Rule(effect="deny", server="b")
    better = Rule(effect="ask", server="a")
    async with open_database(tmp_path / "x.db") as database:
        rules = await ApprovalRules.open(database, clock=Noon())
        rules.add(first)
        rules.add(second)
        rules.switch(first.id, False)
        assert rules.replace(first.id, better)
        assert rules.active == (better, second)
        assert rules.replace(better.id, second)
        assert rules.active == (second,)
        assert not rules.replace("unknown", better)

    async with open_database(tmp_path / "x.db") as database:
        assert (await ApprovalRules.open(database, clock=Noon())).active == (second,)


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ('{"allow": true, "lift": true}', ApprovalAnswer(allow=True, lift="session")),
        ('{"allow": true, "lift": false}', ApprovalAnswer(allow=True)),
        (
            '{"allow": true, "lift": "tool", "any_arguments": true}',
            ApprovalAnswer(allow=True, lift="tool", any_arguments=True),
        ),
    ],
)
async def test_an_answer_is_taken_as_it_was_given_also_by_an_older_version(
    tmp_path: Path, given: str, taken: ApprovalAnswer
) -> None:
    async with open_database(tmp_path / "x.db") as database:
        columns = "id, digest, question, asked_at, answer, decided"
        statement = f"INSERT INTO approval_requests ({columns}) VALUES ('q', 'd', '{{}}', 0, ?, ?)"
        with deciding("page Firefox"):
            decided = database.decisions.decide("approval_requests", "q", "d", "{}", 0, given)
        await database.run(lambda connection: connection.execute(statement, (given, decided)))

        answer = await ApprovalRequests(database, Noon()).take("d")

        assert answer == replace(taken, by="page Firefox", host=this_host())
