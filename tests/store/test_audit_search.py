"""The record of calls is searched by words, page by page, counted, and asked which rule decided."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from tests.store.records import NOON, Noon, record
from toolcrib.store.audit import AuditLog
from toolcrib.store.audit_search import CallFilter, count, find, find_one, place_of, sums, uses_of_rules
from toolcrib.store.database import open_database

YES = {"rule": "asked", "reason": "the user allowed it (once)", "asked": ["No rule."], "allowed": True}
NO = {"rule": None, "reason": "no", "asked": ["No rule."], "allowed": False}


@pytest.fixture
async def audit(tmp_path: Path) -> AsyncIterator[AuditLog]:
    async with (
        open_database(tmp_path / "x.db") as database,
        AuditLog(database, clock=Noon()) as log,
    ):
        for one in (
            record(0, principal="gateway:editor", session="s-12"),
            record(1, tool="git__push", server="git", outcome="failed", error="timeout: 100% of 5 s"),
            record(2, tool="git__log", server="git", principal="agent", extra=YES),
            record(3, tool="git__drop", server="git", principal="agent", outcome="denied", extra=NO),
            record(4, tool="grep", server=None, arguments='{"text": "a_b"}', extra={"rule": "r1"}),
        ):
            log.record(one)
        yield log


async def found(audit: AuditLog, limit: int = 10, **wanted: object) -> list[str]:
    calls = await audit.look(partial(find, wanted=CallFilter(**wanted), limit=limit))  # type: ignore[arg-type]
    return [one.record.call_id for one in calls]


@pytest.mark.parametrize(
    ("wanted", "calls"),
    [
        ({}, ["c-4", "c-3", "c-2", "c-1", "c-0"]),
        ({"servers": ("git",)}, ["c-3", "c-2", "c-1"]),
        ({"servers": ("g*", "demo")}, ["c-3", "c-2", "c-1", "c-0"]),
        ({"tools": ("git__l?g",)}, ["c-2"]),
        ({"principals": ("gateway",)}, ["c-0"]),
        ({"principals": ("gateway:editor",)}, ["c-0"]),
        ({"sessions": ("s-1",)}, ["c-0"]),
        ({"outcomes": ("failed", "denied")}, ["c-3", "c-1"]),
        ({"outcomes": ("failed", "denied"), "principals": ("agent",)}, ["c-3"]),
        ({"rules": ("r1",)}, ["c-4"]),
        ({"texts": ("PUSH",)}, ["c-1"]),
        ({"texts": ("100%",)}, ["c-1"]),
        ({"texts": ("a_b",)}, ["c-4"]),
        ({"texts": ("aXb",)}, []),
        ({"asked": True}, ["c-3", "c-2"]),
        ({"since": NOON + timedelta(seconds=3)}, ["c-4", "c-3"]),
        ({"until": NOON + timedelta(seconds=1)}, ["c-0"]),
    ],
)
async def test_only_the_calls_that_fit_are_found(
    audit: AuditLog, wanted: dict[str, object], calls: list[str]
) -> None:
    assert await found(audit, **wanted) == calls
    assert await audit.look(partial(count, wanted=CallFilter(**wanted))) == len(calls)  # type: ignore[arg-type]


async def test_pages_follow_each_other_without_gap_or_repetition(audit: AuditLog) -> None:
    everything = CallFilter()
    first = await audit.look(partial(find, wanted=everything, limit=2))
    rest = await audit.look(partial(find, wanted=everything, limit=9, before=place_of(first[-1])))
    newer = await audit.look(partial(find, wanted=everything, limit=9, after=place_of(first[-1])))

    assert [one.record.call_id for one in (*first, *rest)] == ["c-4", "c-3", "c-2", "c-1", "c-0"]
    assert newer == first[:1]


async def test_calls_are_summed_up_by_how_they_went(audit: AuditLog) -> None:
    found = await audit.look(partial(sums, since=NOON))

    assert (found.total, found.asked) == (5, 2)
    assert found.ended == {"failed": 1, "denied": 1}


async def test_a_rule_knows_how_often_it_decided_and_when_last(audit: AuditLog) -> None:
    uses = await audit.look(partial(uses_of_rules, rules=["r1", "r2"]))

    assert uses == {"r1": (1, NOON + timedelta(seconds=4))}


async def test_one_call_is_found_by_its_id(audit: AuditLog) -> None:
    one = await audit.look(partial(find_one, call_id="c-2"))

    assert one is not None
    assert dict(one.record.extra) == YES
    assert await audit.look(partial(find_one, call_id="c-9")) is None
