"""Trying a tool on the page: the call, its approval, and what its server asks meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, cast

from pydantic import Field

from toolcrib.agent.approval_prompt import read_answer
from toolcrib.agent.events import AgentEvent
from toolcrib.agent.ports import AgentQuestion, User
from toolcrib.approvals.question import ApprovalAnswer, ApprovalRequest
from toolcrib.errors import NoModel
from toolcrib.host import Host
from toolcrib.llm.model import Model
from toolcrib.operations.calls import report_progress
from toolcrib.operations.event_relay import relay
from toolcrib.operations.lookup import find_tool, possible_owners
from toolcrib.operations.operation import Configured, Invocation, JsonObject, Needs, operation
from toolcrib.operations.results.approvals import shown_question
from toolcrib.operations.results.call_result import result_json
from toolcrib.operations.results.tools import PAGE, Tried, TryEvent
from toolcrib.tools.ports import Decision


def _try_tool_needs(params: Any, configured: Configured) -> Needs:
    return Needs(servers=possible_owners(params.tool, configured()), lazy=True, running=True)


@operation(page=True, needs=_try_tool_needs)
async def try_tool(
    host: Host,
    invocation: Invocation[TryEvent],
    tool: str,
    *,
    arguments: JsonObject,
    timeout: Annotated[float | None, Field(gt=0, le=86_400)] = None,
    project: str = "",
) -> Tried:
    """Call a tool from the page, with approval if the policy asks for it.

    The call is cancelled if the reader disconnects.
    """
    found = await find_tool(host, tool)
    mode = host.approvals.policy.mode_of(PAGE)
    began = 0.0

    def decided(decision: Decision) -> None:
        nonlocal began
        began = time.perf_counter()

    async with relay(invocation.emit) as put:
        asker = _PageAsker(host, put)
        session = host.session(PAGE.name, mode=mode, asker=asker, project=project)
        user = _PageUser(host.chats.questions, put)
        async with session as principal:
            with host.core.question_router.watch(found.name, _model(host), user, _ignore):
                result = await host.call(
                    found.name,
                    arguments,
                    principal=principal,
                    timeout=timeout,
                    on_progress=partial(report_progress, put),
                    on_decided=decided,
                )
    ms = (time.perf_counter() - began) * 1000
    outcome = "tool_error" if result.get("isError") else "ok"
    return cast("Tried", {"tool": found.name, "outcome": outcome, "ms": ms, "result": result_json(result)})


def _model(host: Host) -> Model | None:
    """The model that a server may ask, if there is one."""
    try:
        return host.chats.models.get(host.chats.models.choose(None))
    except NoModel:
        return None


def _ignore(event: AgentEvent) -> None:
    """`_PageUser` shows questions on the page; there is no chat for the other events."""


class _PageAsker:
    """Asks for approval on the page that tries the tool, and wherever open questions are shown."""

    def __init__(self, host: Host, put: Callable[[Any], None]) -> None:
        self._host = host
        self._user: User = host.chats.questions
        self._put = put

    async def ask(self, question: ApprovalRequest) -> ApprovalAnswer:
        """Show the call and wait for the answer."""
        detail = await shown_question(self._host, _without_session(question))
        asked = AgentQuestion(
            id=question.id,
            about="call",
            server=question.server or "",
            text=f"May {question.tool} run?",
            detail=dict(detail),
        )
        self._put({"asking": detail})
        answer = read_answer(await self._user.answer(asked))
        self._put({"answered": question.id, "allowed": answer.allow})
        return answer


def _without_session(question: ApprovalRequest) -> dict[str, Any]:
    """Each try is its own session, so a rule for the session would never apply again."""
    shown = question.as_json()
    scopes = [scope for scope in question.scopes if scope != "chat"]
    return {**shown, "session": None, "scopes": scopes}


class _PageUser:
    """Shows a server's questions on the page that tries the tool."""

    def __init__(self, user: User, put: Callable[[Any], None]) -> None:
        self._user = user
        self._put = put

    async def answer(self, question: AgentQuestion) -> Mapping[str, Any]:
        """Show the question and wait for the answer."""
        shown = {key: value for key, value in vars(question).items() if key != "chat"}
        self._put({"server_asking": {"event": "asking", "call": None, **shown}})
        reply = await self._user.answer(question)
        self._put({"answered": question.id, "allowed": reply.get("action") == "accept"})
        return reply
