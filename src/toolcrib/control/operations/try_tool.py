"""`try_tool`: run a tool by hand from the page: through the one door and the gate, which may ask first."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, cast

from pydantic import Field

from toolcrib.agent.approval_prompt import read_answer
from toolcrib.agent.events import AgentEvent
from toolcrib.agent.ports import Person
from toolcrib.agent.ports import Question as OpenQuestion
from toolcrib.approvals.question import Answer, Question
from toolcrib.control.answers.ranking import Tried, TryEvent
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import find_tool, possible_owners
from toolcrib.control.needs import Configured, Emit, Needs
from toolcrib.control.question_shapes import shown_question
from toolcrib.control.relay import relay
from toolcrib.control.shapes import result_json
from toolcrib.control.shelf_shapes import PAGE
from toolcrib.errors import NoModel
from toolcrib.host import Host
from toolcrib.llm.model import Model
from toolcrib.tools.ports import Decision

FOR_PAGES = True

Event = TryEvent


class Params(OperationParams):
    """The tool and its arguments; `project` is the folder that it works in."""

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    timeout: float | None = Field(default=None, gt=0, le=86_400)
    project: str = ""


def needs(params: Params, configured: Configured) -> Needs:
    """The one server that is meant."""
    return Needs(servers=possible_owners(params.tool, configured()), lazy=True, running=True)


async def run(host: Host, params: Params, emit: Emit) -> Tried:
    """What it answered; whoever stops listening cancels the call, and withdraws its question."""
    tool = await find_tool(host, params.tool)
    mode = host.approvals.mode_of(PAGE)
    began = 0.0

    def decided(decision: Decision) -> None:
        nonlocal began
        began = time.perf_counter()

    async with relay(emit) as put:
        asker = _PageAsker(host, put)
        session = host.session(PAGE.name, mode=mode, asker=asker, project=params.project)
        person = _PagePerson(host.client_requests.questions, put)
        async with session as principal:
            with host.client_requests.watch(tool.name, _model(host), person, _unheard):
                result = await host.call(
                    tool.name,
                    params.arguments,
                    principal=principal,
                    timeout=params.timeout,
                    on_progress=_teller(put),
                    on_decided=decided,
                )
    ms = (time.perf_counter() - began) * 1000
    outcome = "tool_error" if result.get("isError") else "ok"
    return cast("Tried", {"tool": tool.name, "outcome": outcome, "ms": ms, "result": result_json(result)})


def _model(host: Host) -> Model | None:
    """The model that a server may ask, where there is one."""
    try:
        return host.models.get(host.models.choose(None))
    except NoModel:
        return None


def _unheard(event: AgentEvent) -> None:
    """The page hears of questions by `_PagePerson`; what a model was asked is no part of a chat."""


def _teller(put: Callable[[Any], None]) -> Callable[[float, float | None, str | None], None]:
    def tell(progress: float, total: float | None, message: str | None) -> None:
        put({"progress": progress, "total": total, "message": message})

    return tell


class _PageAsker:
    """Asks on the page that tries the tool, and wherever else open questions are shown."""

    def __init__(self, host: Host, put: Callable[[Any], None]) -> None:
        self._host = host
        self._person: Person = host.client_requests.questions
        self._put = put

    async def ask(self, question: Question) -> Answer:
        """Show the call, and wait."""
        detail = await shown_question(self._host, _without_session(question))
        asked = OpenQuestion(
            id=question.id,
            about="call",
            server=question.server or "",
            text=f"May {question.tool} run?",
            detail=dict(detail),
        )
        self._put({"asking": detail})
        answer = read_answer(await self._person.answer(asked))
        self._put({"answered": question.id, "allowed": answer.allow})
        return answer


def _without_session(question: Question) -> dict[str, Any]:
    """A try is a session of its own, so that a rule for it would never be met again."""
    shown = question.as_json()
    scopes = [scope for scope in question.scopes if scope != "chat"]
    return {**shown, "session": None, "scopes": scopes}


class _PagePerson:
    """Shows what a server asks during the call on the page that tries the tool."""

    def __init__(self, person: Person, put: Callable[[Any], None]) -> None:
        self._person = person
        self._put = put

    async def answer(self, question: OpenQuestion) -> Mapping[str, Any]:
        """Show the question, and wait."""
        shown = {key: value for key, value in vars(question).items() if key != "chat"}
        self._put({"server_asking": {"event": "asking", "call": None, **shown}})
        reply = await self._person.answer(question)
        self._put({"answered": question.id, "allowed": reply.get("action") == "accept"})
        return reply
