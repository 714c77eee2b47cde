"""Stores the user's approval rules (also those switched off) and unanswered approval questions across
restarts, and removes questions that have expired.

Rules are kept in memory and written in the background; questions and answers are on disk before the call
continues.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from concurrent.futures import Future
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from toolcrib.approvals.question import ApprovalAnswer, ApprovalRequest, WaitingQuestion, read_flow_exception
from toolcrib.approvals.rule_match import BrokenRule, check_examples
from toolcrib.clock import Clock
from toolcrib.errors import UsageError
from toolcrib.schema.deciders import decider, deciding
from toolcrib.store.columns import Row, from_stored, to_stored
from toolcrib.store.connection import DatabaseConnection, transact
from toolcrib.store.decisions import Decided, Decisions, select, upsert_decision
from toolcrib.store.work_queue import AsyncDatabase, read_current

if TYPE_CHECKING:
    from toolcrib.approvals.rule import Rule

logger = logging.getLogger(__name__)


_UPSERT = upsert_decision("approval_rules")
_REQUESTS = "approval_requests"
_PUT = "INSERT INTO approval_requests (id, digest, question, asked_at, decided) VALUES (?, ?, ?, ?, ?)"
_ANSWER = "UPDATE approval_requests SET answer = ?, decided = ? WHERE id = ? AND answer IS NULL"
STORED_WITHIN = 2.0
"""Seconds; a change that a stalled database has not stored by then is stored later."""


class ApprovalRules:
    """Created by `open`."""

    def __init__(self, database: AsyncDatabase, clock: Clock, rows: Sequence[Row]) -> None:
        self._database = database
        self._clock = clock
        self.active: Sequence[Rule] = ()
        """The rules that apply, in the order in which they were made."""
        self._take_over(rows)
        self._changes = 0
        self._last_write: Future[None] | None = None

    @classmethod
    async def open(cls, database: AsyncDatabase, *, clock: Clock) -> ApprovalRules:
        """Read all rules; a broken one is logged and not active."""
        return cls(database, clock, await database.run(partial(_rows, database.decisions)))

    async def refresh(self) -> None:
        """Read all rules again, after another host changed them."""
        read = partial(_rows, self._database.decisions)
        self._take_over(await read_current(self._database, read, lambda: self._changes))

    def _take_over(self, rows: Sequence[Row]) -> None:
        self._rules, self._broken = _read_all(rows)
        self._off = {row[0] for row in rows if row[3]}
        self._made = {row[0]: row[2] for row in rows}
        self._decided = {row[0]: Decided.read(row[4]) for row in rows}
        self.active = self._find_active()

    def decided(self, rule_id: str) -> Decided:
        """Who made or last changed a rule, where and when."""
        return self._decided.get(rule_id, Decided())

    def listed(self) -> Sequence[tuple[Rule, bool]]:
        """Active and disabled rules, each with whether it is active."""
        return tuple((rule, rule.id not in self._off) for rule in self._rules.values())

    def switch(self, rule_id: str, on: bool) -> bool:
        if rule_id not in self._rules:
            return False
        (self._off.discard if on else self._off.add)(rule_id)
        self.active = self._find_active()
        self._write(self._rules[rule_id], self._made[rule_id])
        return True

    def replace(self, rule_id: str, rule: Rule) -> bool:
        """Replace a rule in its position; the new one is active."""
        if rule_id not in self._rules and rule_id not in self._broken:
            return False
        self._broken.pop(rule_id, None)
        others = [
            (known, known_rule)
            for known, known_rule in self._rules.items()
            if known == rule_id or known != rule.id
        ]
        self._rules = dict(
            (rule.id, rule) if known == rule_id else (known, known_rule) for known, known_rule in others
        )
        self._rules.setdefault(rule.id, rule)
        self._off -= {rule_id, rule.id}
        self.active = self._find_active()
        self._submit("DELETE FROM approval_rules WHERE id = ?", (rule_id,))
        self._write(rule, self._made.pop(rule_id))
        return True

    def _find_active(self) -> tuple[Rule, ...]:
        return tuple(rule for rule in self._rules.values() if rule.id not in self._off)

    def broken(self) -> Sequence[BrokenRule]:
        return tuple(self._broken.values())

    def add(self, rule: Rule) -> None:
        self._broken.pop(rule.id, None)
        self._rules[rule.id] = rule
        self._off.discard(rule.id)
        self.active = self._find_active()
        self._write(rule, to_stored(self._clock.now()))

    def _write(self, rule: Rule, made_at: int) -> None:
        row = (rule.id, json.dumps(rule.as_json()), made_at, int(rule.id in self._off))
        decided = self._database.decisions.decide("approval_rules", *row)
        self._made[rule.id], self._decided[rule.id] = made_at, Decided.read(decided)
        self._submit(_UPSERT, (*row, decided))

    def remove(self, rule_id: str) -> bool:
        known = self._rules.pop(rule_id, None), self._broken.pop(rule_id, None)
        if known == (None, None):
            return False
        self._off.discard(rule_id)
        self.active = self._find_active()
        self._submit("DELETE FROM approval_rules WHERE id = ?", (rule_id,))
        return True

    def _submit(self, statement: str, row: tuple[Any, ...]) -> None:
        self._changes += 1
        self._last_write = self._database.keep(
            lambda connection: _execute(connection, statement, row), "A rule"
        )

    async def stored(self) -> bool:
        """Wait until the changes so far are stored; they are written in order."""
        last = self._last_write
        if last is None:
            return True
        if not last.done():
            await asyncio.wait({asyncio.wrap_future(last)}, timeout=STORED_WITHIN)
        return last.done() and not last.cancelled() and last.exception() is None


class ApprovalRequests:
    """Unanswered questions."""

    def __init__(self, database: AsyncDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def put(self, question: ApprovalRequest) -> str:
        """Store a question; the same call asks only once. Returns the id of the stored one."""
        moment = to_stored(self._clock.now())
        row = (question.id, question.digest, json.dumps(question.as_json(), default=str), moment)
        decided = self._database.decisions.decide(_REQUESTS, *row, None)

        def put(connection: DatabaseConnection) -> str:
            _remove_expired(connection, self._clock.now())
            asked = self._signed(connection, "WHERE digest = ? AND answer IS NULL", question.digest)
            if asked:
                return str(asked[0][0])
            connection.execute(_PUT, (*row, decided))
            return question.id

        return await self._database.run(lambda connection: transact(connection, put))

    def _signed(self, connection: DatabaseConnection, where: str, value: str) -> list[Row]:
        """The questions that a host stored, as their columns and `decided`."""
        rows = connection.execute(f"{select(_REQUESTS)} {where}", (value,)).fetchall()
        return [tuple(row) for row in rows if self._database.decisions.fits(_REQUESTS, row)]

    async def answer(self, question_id: str, answer: ApprovalAnswer) -> bool:
        said = json.dumps(
            {
                "allow": answer.allow,
                "scope": answer.scope,
                "message": answer.message,
                "any_arguments": answer.any_arguments,
                "lift": answer.lift,
                "whole_turn": answer.whole_turn,
            }
        )
        by = decider()

        def store(connection: DatabaseConnection) -> bool:
            """The signature is that of the question as it was shown, with its answer."""
            asked = self._signed(connection, "WHERE id = ? AND answer IS NULL", question_id)
            if not asked:
                return False
            with deciding(by):
                decided = self._database.decisions.decide(_REQUESTS, *asked[0][:4], said)
            return connection.execute(_ANSWER, (said, decided, question_id)).rowcount > 0

        return await self._database.run(lambda connection: transact(connection, store))

    async def take(self, digest: str) -> ApprovalAnswer | None:
        """The oldest answer for this digest, which is then removed."""
        row = await self._database.run(
            lambda connection: transact(connection, lambda within: self._take(within, digest))
        )
        if row is None:
            return None
        said, decided = json.loads(row[4]), Decided.read(row[5])
        waited = (decided.at - row[3]) / 1_000_000 if decided.at else 0.0
        known = {"by": decided.by, "host": decided.host, "waited": waited}
        return ApprovalAnswer(**{**said, "lift": read_flow_exception(said.get("lift")), **known})

    def _take(self, connection: DatabaseConnection, digest: str) -> Row | None:
        where = "WHERE digest = ? AND answer IS NOT NULL ORDER BY asked_at"
        for row in self._signed(connection, where, digest):
            statement = "DELETE FROM approval_requests WHERE id = ?"
            removed = connection.execute(statement, (row[0],)).rowcount
            self._database.decisions.retire(Decided.read(row[5]).signature)
            # Another host may have removed it in the meantime: only one call may take the answer.
            if removed and not _is_expired(row[2], self._clock.now()):
                return row
        return None

    async def waiting(self) -> list[WaitingQuestion]:
        where = "WHERE answer IS NULL AND id <> ? ORDER BY asked_at, id"
        rows = await self._database.run(lambda connection: self._signed(connection, where, ""))
        now = self._clock.now()
        return [
            WaitingQuestion(question=json.loads(question), asked_at=from_stored(asked_at))
            for _, _, question, asked_at, _, _ in rows
            if not _is_expired(question, now)
        ]

    async def withdraw(self, question_id: str) -> None:
        statement = "DELETE FROM approval_requests WHERE id = ? AND answer IS NULL"
        await self._database.run(lambda connection: _execute(connection, statement, (question_id,)))


def _rows(decisions: Decisions, connection: DatabaseConnection) -> list[Row]:
    """The signed rules, and of the others those that deny or ask, which stay on: they allow nothing."""
    rows = decisions.read(connection, "approval_rules")
    refused = decisions.refused.get("approval_rules", {}).values()
    kept = [(*row[:3], 0, "") for row in refused if _restricts(row[1])]
    return sorted([*rows, *kept], key=lambda row: (row[2], row[0]))


def _restricts(stored: str) -> bool:
    try:
        return _read(stored).effect in ("deny", "ask")
    except UsageError:
        return False


def _read_all(rows: Sequence[Row]) -> tuple[dict[str, Rule], dict[str, BrokenRule]]:
    """The rules and the broken ones."""
    rules: dict[str, Rule] = {}
    broken: dict[str, BrokenRule] = {}
    for rule_id, stored, *_ in rows:
        try:
            rules[rule_id] = _read(stored)
        except UsageError as error:
            logger.warning("a rule is not active", extra={"rule": rule_id, "reason": error.message})
            broken[rule_id] = BrokenRule(id=rule_id, rule=stored, reason=error.message)
    return rules, broken


def _read(stored: str) -> Rule:
    """The rule, checked against its examples; raises `UsageError`."""
    from pydantic import ValidationError

    from toolcrib.approvals.rule import read_rule
    from toolcrib.schema.mistakes import first_mistake

    try:
        rule = read_rule(json.loads(stored))
    except ValidationError as error:
        raise UsageError(first_mistake(error, {})[0]) from None
    except (ValueError, AttributeError) as error:
        raise UsageError(f"It cannot be read: {error}") from None
    check_examples(rule)
    return rule


def _execute(connection: DatabaseConnection, statement: str, row: tuple[Any, ...]) -> None:
    connection.execute(statement, row)


def _is_expired(question: str, now: datetime) -> bool:
    expires = json.loads(question).get("expires")
    return expires is not None and datetime.fromisoformat(expires) <= now


def _remove_expired(connection: DatabaseConnection, now: datetime) -> None:
    rows = connection.execute("SELECT id, question FROM approval_requests").fetchall()
    for question_id, question in rows:
        if _is_expired(question, now):
            connection.execute("DELETE FROM approval_requests WHERE id = ?", (question_id,))
