"""Asks about calls of gateway clients: in the client if it can show a form, else on the page.

A client is never left waiting: if nobody answers soon, its call fails as pending, the question stays for an
hour, and the next identical call of the same client takes the answer. Whether the user or the program behind
the client answers a form cannot be seen, so such an answer is for one call only.
"""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from datetime import timedelta
from typing import Any

from toolcrib.approvals.gate import GATEWAY
from toolcrib.approvals.question import ApprovalAnswer, CallQuestion
from toolcrib.errors import ApprovalPending, PeerError
from toolcrib.gateway.bridge import WAIT_SECONDS, RelayedCall
from toolcrib.gateway.profile import approvals_of
from toolcrib.host import Host
from toolcrib.schema.tools import Principal
from toolcrib.servers.sessions.caller_context import relayed_client

EXPIRES_AFTER = timedelta(hours=1)
MAX_PENDING = 32
"""Unanswered questions of one client; further calls that need approval are refused."""
REPORT_EVERY = 5.0
"""Seconds between two notifications of progress."""
_NAMELESS = (
    "no one answered in time, and a client that does not name itself (clientInfo) gets no later answer"
)
_FORM = {
    "type": "object",
    "properties": {"decision": {"type": "string", "title": "This call", "enum": ["allow once", "deny"]}},
    "required": ["decision"],
}


class ClientAsker:
    """Asks about the call of the client that the current task works for."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._pending: dict[Principal, set[str]] = {}
        """Questions of clients with a session, by id."""

    @classmethod
    def of(cls, host: Host) -> ClientAsker:
        """The one of this host, for all its views."""
        known = host.approvals.policy.askers.get(GATEWAY)
        if not isinstance(known, cls):
            host.approvals.policy.askers[GATEWAY] = known = cls(host)
        return known

    async def ask(self, question: CallQuestion) -> ApprovalAnswer:
        """Raises `ApprovalPending` if nobody answers soon."""
        call = relayed_client.get()
        if not isinstance(call, RelayedCall) or _whose(call.principal) != (
            question.principal,
            question.session,
        ):
            return ApprovalAnswer(allow=False, message="its client is not known")
        how = approvals_of(self._host.settings, question.principal.partition(":")[2])
        if how == "client" and call.can_elicit:
            answer = await _ask_client(call, question)
            if answer is not None:
                return answer
        return await self._ask_page(call, question)

    async def end_session(self, principal: Principal) -> None:
        """Withdraw the questions of a client whose session ended, because no call can take the answers."""
        for question in self._pending.pop(principal, ()):
            await self._host.approvals.questions.withdraw(question)

    async def _ask_page(self, call: RelayedCall, question: CallQuestion) -> ApprovalAnswer:
        core, questions = self._host.core, self._host.approvals.questions
        if await self._has_many(question):
            return ApprovalAnswer(
                allow=False, message=f"{MAX_PENDING} calls of this client wait for approval"
            )
        question = replace(question, expires=core.clock.now() + EXPIRES_AFTER)
        left = self._host.settings.gateway.approval_wait
        for turn in itertools.count():
            call.report(turn / 1000, f"Waiting for approval of {question.tool}.")
            answer = await questions.answer_within(question, min(left, REPORT_EVERY))
            if answer is not None:
                return answer
            left -= REPORT_EVERY
            if left <= 0:
                break
        if call.principal.identity == "anonymous":
            await questions.withdraw(question.id)
            return ApprovalAnswer(allow=False, message=_NAMELESS)
        stored = await questions.requests.put(question)  # another call may have taken the answer to it
        if call.principal.owns_session:
            self._pending.setdefault(call.principal, set()).add(stored)
        page = self._host.pages.address
        place = f"at {page} (Activity, Waiting) or " if page else ""
        raise ApprovalPending(
            f"Waiting for approval: {question.tool} was not run.",
            question=stored,
            hint=f"Approve it {place}with `toolcrib approvals allow {stored}`,"
            " then call again with the same arguments.",
        )

    async def _has_many(self, question: CallQuestion) -> bool:
        waiting = [request.question for request in await self._host.approvals.questions.requests.waiting()]
        whose = (question.principal, question.session)
        return sum((asked["principal"], asked["session"]) == whose for asked in waiting) >= MAX_PENDING


def _whose(principal: Principal) -> tuple[str, str | None]:
    return principal.name, principal.session


async def _ask_client(call: RelayedCall, question: CallQuestion) -> ApprovalAnswer | None:
    """The answer of the client's user; None if the client refuses to ask."""
    reasons = " ".join(question.reasons)
    params: dict[str, Any] = {
        "message": f"Allow this call of {question.tool}? {reasons}\n\n{question.call_text}",
        "requestedSchema": _FORM,
    }
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            reply = await call.ask("elicitation/create", params)
    except PeerError:
        return None
    except TimeoutError:
        return ApprovalAnswer(allow=False, message="no one answered in time")
    content = reply.get("content")
    said = content.get("decision") if isinstance(content, dict) else None
    if reply.get("action") == "accept" and said == "allow once":
        return ApprovalAnswer(allow=True, message="answered in the client")
    return ApprovalAnswer(allow=False, message="the client's user did not allow it")
