"""Stores the user's rules and unanswered questions across restarts.

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
from typing import TYPE_CHECKING, Any

from toolcrib.approvals.question import ApprovalAnswer, CallQuestion, WaitingQuestion, read_lift
from toolcrib.approvals.rule_match import check_examples
from toolcrib.approvals.rule_store import BrokenRule
from toolcrib.clock import Clock
from toolcrib.errors import UsageError
from toolcrib.store.columns import from_stored, to_stored
from toolcrib.store.connection import Connection, transact
from toolcrib.store.refresh import read_current
from toolcrib.store.work_queue import Database

if TYPE_CHECKING:
    from toolcrib.approvals.rule import Rule

logger = logging.getLogger(__name__)


STORED_WITHIN = 2.0
"""Seconds; a change that a stalled database has not stored by then is stored later."""


class ApprovalRules:
    """Created by `open`."""

    def __init__(
        self,
        database: Database,
        rules: dict[str, Rule],
        broken: dict[str, BrokenRule],
        clock: Clock,
        off: set[str],
    ) -> None:
        self._database = database
        self._rules = rules
        self._off = off
        self.active: Sequence[Rule] = self._find_active()
        """The rules that apply, in the order in which they were made."""
        self._broken = broken
        self._clock = clock
        self._changes = 0
        self._last_write: Future[None] | None = None

    @classmethod
    async def open(cls, database: Database, *, clock: Clock) -> ApprovalRules:
        """Read all rules; a broken one is logged and not active."""
        rules, broken, off = _read_all(await database.run(_rows))
        return cls(database, rules, broken, clock, off)

    async def refresh(self) -> None:
        """Read all rules again, after another host changed them."""
        rows = await read_current(self._database, _rows, lambda: self._changes)
        self._rules, self._broken, self._off = _read_all(rows)
        self.active = self._find_active()

    def listed(self) -> Sequence[tuple[Rule, bool]]:
        """Active and disabled rules, each with whether it is active."""
        return tuple((rule, rule.id not in self._off) for rule in self._rules.values())

    def switch(self, rule_id: str, on: bool) -> bool:
        if rule_id not in self._rules:
            return False
        (self._off.discard if on else self._off.add)(rule_id)
        self.active = self._find_active()
        self._submit("UPDATE approval_rules SET off = ? WHERE id = ?", (int(not on), rule_id))
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
        self._submit("DELETE FROM approval_rules WHERE id = ? AND id <> ?", (rule.id, rule_id))
        statement = "UPDATE approval_rules SET id = ?, rule = ?, off = 0 WHERE id = ?"
        self._submit(statement, (rule.id, json.dumps(rule.as_json()), rule_id))
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
        row = (rule.id, json.dumps(rule.as_json()), to_stored(self._clock.now()))
        statement = (
            "INSERT INTO approval_rules (id, rule, made_at) VALUES (?, ?, ?) ON CONFLICT (id)"
            " DO UPDATE SET rule = excluded.rule, made_at = excluded.made_at, off = 0"
        )
        self._submit(statement, row)

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
        self._last_write = self._database.keep(lambda connection: _execute(connection, statement, row))
        self._last_write.add_done_callback(_take_in)

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

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def put(self, question: CallQuestion) -> str:
        """Store a question; the same call asks only once. Returns the id of the stored one."""
        moment = to_stored(self._clock.now())
        row = (question.id, question.digest, json.dumps(question.as_json(), default=str), moment)
        statement = (
            "INSERT INTO approval_requests (id, digest, question, asked_at) SELECT ?, ?, ?, ?"
            " WHERE NOT EXISTS (SELECT 1 FROM approval_requests WHERE digest = ? AND answer IS NULL)"
        )

        def store(within: Connection) -> str:
            _remove_expired(within, self._clock.now())
            within.execute(statement, (*row, question.digest))
            found = within.execute(
                "SELECT id FROM approval_requests WHERE digest = ? AND answer IS NULL", (question.digest,)
            ).fetchone()
            return str(found[0])

        return await self._database.run(lambda connection: transact(connection, store))

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
        statement = "UPDATE approval_requests SET answer = ? WHERE id = ? AND answer IS NULL"
        return bool(
            await self._database.run(
                lambda connection: connection.execute(statement, (said, question_id)).rowcount
            )
        )

    async def take(self, digest: str) -> ApprovalAnswer | None:
        """The oldest answer for this digest, which is then removed."""
        now = self._clock.now()
        stored = await self._database.run(
            lambda connection: transact(connection, lambda within: _take(within, digest, now))
        )
        if stored is None:
            return None
        said = json.loads(stored)
        return ApprovalAnswer(**{**said, "lift": read_lift(said.get("lift"))})

    async def waiting(self) -> list[WaitingQuestion]:
        rows = await self._database.run(
            lambda connection: connection.execute(
                "SELECT question, asked_at FROM approval_requests WHERE answer IS NULL ORDER BY asked_at, id"
            ).fetchall()
        )
        now = self._clock.now()
        return [
            WaitingQuestion(question=json.loads(question), asked_at=from_stored(asked_at))
            for question, asked_at in rows
            if not _is_expired(question, now)
        ]

    async def withdraw(self, question_id: str) -> None:
        statement = "DELETE FROM approval_requests WHERE id = ? AND answer IS NULL"
        await self._database.run(lambda connection: _execute(connection, statement, (question_id,)))


def _rows(connection: Connection) -> list[tuple[str, str, int]]:
    return connection.execute("SELECT id, rule, off FROM approval_rules ORDER BY made_at, id").fetchall()


def _read_all(
    rows: Sequence[tuple[str, str, int]],
) -> tuple[dict[str, Rule], dict[str, BrokenRule], set[str]]:
    """The rules, the broken ones, and the ids of disabled ones."""
    rules: dict[str, Rule] = {}
    broken: dict[str, BrokenRule] = {}
    for rule_id, stored, _ in rows:
        try:
            rules[rule_id] = _read(stored)
        except UsageError as error:
            logger.warning("a rule is not active", extra={"rule": rule_id, "reason": error.message})
            broken[rule_id] = BrokenRule(id=rule_id, rule=stored, reason=error.message)
    return rules, broken, {rule_id for rule_id, _, is_off in rows if is_off}


def _read(stored: str) -> Rule:
    """The rule, checked against its examples; raises `UsageError`."""
    from pydantic import ValidationError

    from toolcrib.approvals.rule import read_rule

    try:
        rule = read_rule(json.loads(stored))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise UsageError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (ValueError, AttributeError) as error:
        raise UsageError(f"It cannot be read: {error}") from None
    check_examples(rule)
    return rule


def _execute(connection: Connection, statement: str, row: tuple[Any, ...]) -> None:
    connection.execute(statement, row)


def _take(connection: Connection, digest: str, now: datetime) -> str | None:
    found = connection.execute(
        "SELECT id, answer, question FROM approval_requests WHERE digest = ? AND answer IS NOT NULL"
        " ORDER BY asked_at LIMIT 1",
        (digest,),
    ).fetchone()
    if found is None:
        return None
    removed = connection.execute("DELETE FROM approval_requests WHERE id = ?", (found[0],)).rowcount
    # Another host may have removed it in the meantime: only one call may take the answer.
    return str(found[1]) if removed and not _is_expired(found[2], now) else None


def _is_expired(question: str, now: datetime) -> bool:
    expires = json.loads(question).get("expires")
    return expires is not None and datetime.fromisoformat(expires) <= now


def _remove_expired(connection: Connection, now: datetime) -> None:
    rows = connection.execute("SELECT id, question FROM approval_requests").fetchall()
    for question_id, question in rows:
        if _is_expired(question, now):
            connection.execute("DELETE FROM approval_requests WHERE id = ?", (question_id,))


def _take_in(written: Future[None]) -> None:
    error = written.exception()
    if error is not None:
        logger.error("A rule cannot be written: %s", error)
