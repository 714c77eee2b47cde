"""Approvals of a run's calls: they wait durably; their deadline counts from when they were first asked.
Secret inputs are hidden in the question; code of imported workflows is asked about.
"""

from __future__ import annotations

from collections.abc import Collection
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from toolcrib.approvals.facts import WORKFLOW_CODE, PastCall
from toolcrib.approvals.question import ApprovalAnswer, ApprovalRequest, DurableAsker, WaitingQuestion
from toolcrib.clock import Clock
from toolcrib.features.workflows.imports import IMPORTED
from toolcrib.features.workflows.records import belongs_to
from toolcrib.features.workflows.secret_inputs import SecretInputs
from toolcrib.host import Host
from toolcrib.schema.tools import Principal, ToolCall
from toolcrib.tools.definitions import digest
from toolcrib.tools.results import refusal

if TYPE_CHECKING:
    from toolcrib.features.workflows.ports import VisitScope


@dataclass(frozen=True, kw_only=True)
class PendingCall:
    """A call of a run on its way to its tool."""

    visit: VisitScope
    tool: str
    begun: bool
    """Recorded as begun, because it must not be repeated."""


pending: ContextVar[PendingCall | None] = ContextVar("pending", default=None)
"""The call that is under way in this task."""


class RunAsker:
    """Asks the user about the calls of one run."""

    def __init__(
        self, questions: DurableAsker, clock: Clock, deadline: float | None, secrets: SecretInputs
    ) -> None:
        self._questions = questions
        self._clock = clock
        self._deadline = deadline
        self._secrets = secrets

    async def ask(self, question: ApprovalRequest) -> ApprovalAnswer:
        """Wait for the answer. Meanwhile the call has not begun: an interruption leaves nothing unclear."""
        shown = _without_secrets(question, self._secrets)
        answer = await self._ask(shown)
        # A lasting rule would have the secret in it.
        return answer if shown is question else replace(answer, scope="once")

    async def _ask(self, question: ApprovalRequest) -> ApprovalAnswer:
        call = pending.get()
        if call is None:
            return await self._wait(question)
        if call.begun:
            await call.visit.take_back()
        with call.visit.asking():
            answer = await self._wait(question)
        if call.begun and answer.allow:
            await call.visit.begin(call.tool)
        return answer

    async def _wait(self, question: ApprovalRequest) -> ApprovalAnswer:
        answer = await self._questions.answer_within(question, await self._left(question))
        if answer is None and (asked := await self._asked(question)):
            await self._questions.withdraw(asked.question["id"])
        late = answer is not None and self._deadline is not None and answer.waited > self._deadline
        if answer is None or late:
            return ApprovalAnswer(allow=False, message="no one answered in time")
        return answer

    async def _left(self, question: ApprovalRequest) -> float | None:
        """Seconds until the deadline of a question that may have been asked before a restart."""
        if self._deadline is None or (asked := await self._asked(question)) is None:
            return self._deadline
        return max(0.0, self._deadline - (self._clock.now() - asked.asked_at).total_seconds())

    async def _asked(self, question: ApprovalRequest) -> WaitingQuestion | None:
        waiting = await self._questions.requests.waiting()
        return next((known for known in waiting if _is_same(known.question, question)), None)


def _without_secrets(question: ApprovalRequest, secrets: SecretInputs) -> ApprovalRequest:
    """The question as it is stored and shown: the names of inputs instead of secret values."""
    told = {"arguments": dict(question.arguments), "preview": question.preview, "why": question.reasons}
    if not secrets.used_in(told):
        return question
    from toolcrib.approvals.rule import Examples

    shown = secrets.shown(told, lambda name: f"•••• (input {name})")
    called = [question.principal, question.session, question.tool, shown["arguments"]]
    return replace(
        question,
        arguments=shown["arguments"],
        preview=shown["preview"],
        reasons=tuple(shown["why"]),
        rule=question.rule.model_copy(update={"arguments": {}, "why": "", "examples": Examples()}),
        scopes=("once",),
        tool_rule=None,
        grant=None,
        digest=digest(called),
    )


def _is_same(stored: dict[str, Any], question: ApprovalRequest) -> bool:
    asked = question.as_json()
    return all(stored.get(key) == asked[key] for key in ("principal", "session", "tool", "arguments"))


def run_principal(workflow: str, run: str) -> Principal:
    """Who makes the calls of a run."""
    return Principal(name=f"workflow:{workflow}", session=run)


async def begin_approvals(
    host: Host,
    principal: Principal,
    deadline: float | None,
    called: Collection[str],
    secrets: SecretInputs,
) -> None:
    """Ask about this run's calls durably. It has the results of the tools in `called`."""
    policy = host.approvals.policy
    policy.begin(principal, asker=RunAsker(host.approvals.questions, host.core.clock, deadline, secrets))
    await policy.recall(principal, _past_calls(host, called))


async def add_results(host: Host, principal: Principal, tools: Collection[str]) -> None:
    """A sub-workflow returned results of these tools: they count as read by this run too."""
    await host.approvals.policy.add_results(principal, _past_calls(host, tools))


async def withdraw_questions(host: Host, run: str) -> None:
    """Remove the unanswered questions of a run that has ended, and of its sub-workflows."""
    questions = host.approvals.questions
    for known in await questions.requests.waiting():
        if belongs_to(known.question.get("session"), run):
            await questions.withdraw(known.question["id"])


def _past_calls(host: Host, tools: Collection[str]) -> list[PastCall]:
    known = {**host.toolset.registry.snapshot.tools, WORKFLOW_CODE.name: WORKFLOW_CODE}
    return [
        PastCall(name=name, tool=known.get(name), arguments={}) for name in sorted(tools) if name != IMPORTED
    ]


async def check_code(host: Host, principal: Principal, code: str, visit: VisitScope) -> None:
    """Ask about code of a workflow that was made elsewhere; raises `Denied`."""
    call = ToolCall(f"{visit.info.id}/{visit.step}", WORKFLOW_CODE, {"code": code}, principal)
    token = pending.set(PendingCall(visit=visit, tool=WORKFLOW_CODE.name, begun=False))
    try:
        decision = await host.approvals.gate.check(call)
    finally:
        pending.reset(token)
    if not decision.allowed:
        raise refusal(WORKFLOW_CODE, decision)
