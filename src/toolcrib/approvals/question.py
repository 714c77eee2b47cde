"""Questions to the user about one call, and their answers; surfaces that can show them implement `Asker`. Has
the labels of a preview ("To", "Subject", "Invites"), and waits for answers to stored questions.

`DurableAsker` stores questions until someone answers. If the waiting call is cancelled or its process ends,
the question stays, and a later answer applies to the next identical call.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from toolcrib.approvals.rule_text import revealed, rule_text, rule_words
from toolcrib.config.hidden import HIDDEN
from toolcrib.errors import DatabaseUnavailable
from toolcrib.schema.approvals import FLOW_EXCEPTIONS, CallScope, Effect, FlowException, Scope

if TYPE_CHECKING:
    from toolcrib.approvals.rule import Rule

_LABELS = {
    "account": "Account",
    "sender": "From",
    "to": "To",
    "cc": "Cc",
    "bcc": "Bcc",
    "subject": "Subject",
    "title": "Event",
    "start": "Start",
    "end": "End",
    "where": "Where",
    "attendees": "Invites",
    "recurrence": "Repeats",
    "calendar": "Calendar",
    "channel": "Channel",
    "mentions": "Mentions",
    "attachments": "Attached",
    "application": "Application",
    "element": "Element",
}


POLL = 1.0
"""Seconds between checks: an answer may come from another process."""


def preview_text(preview: Mapping[str, Any]) -> str:
    """One line for each field, then the text itself; hidden characters are escaped."""
    return "\n".join(_lines(preview))


def _lines(preview: Mapping[str, Any]) -> Iterator[str]:
    labels = {**_LABELS, "title": "Window"} if preview.get("kind") == "screen" else _LABELS
    for key, label in labels.items():
        shown = _value(preview.get(key))
        if shown:
            yield f"{label}: {_revealed(shown)}"
    if preview.get("attendees") and isinstance(preview.get("notify"), bool):
        yield f"Notifies them: {'yes' if preview['notify'] else 'no'}"
    text = preview.get("text")
    if isinstance(text, str) and text:
        yield ""
        yield from (_revealed(line) for line in text.splitlines())


def _revealed(text: str) -> str:
    """One line: a line break within a field could imitate another field."""
    return HIDDEN.sub(lambda match: json.dumps(match.group())[1:-1], text)


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(_value, value)))
    if isinstance(value, Mapping):
        return str(value.get("name", ""))
    return "" if value is None else str(value)


@dataclass(frozen=True, kw_only=True)
class ApprovalRequest:
    """One call that needs approval. The arguments are shown exactly and completely."""

    id: str
    principal: str
    session: str | None
    project: str
    """The session's working folder; empty if unknown."""
    tool: str
    server: str | None
    arguments: Mapping[str, Any]
    reasons: tuple[str, ...]
    rule: Rule
    """The exact rule that "always" stores."""
    scopes: tuple[Scope, ...]
    """How long it can be allowed for."""
    tool_rule: Rule | None = None
    """What `ApprovalAnswer.any_arguments` stores instead: a rule for the tool with any arguments."""
    flow: bool = False
    """Asked because untrusted content was read; `ApprovalAnswer.lift` turns that off."""
    hazard: bool = False
    """It runs code that nobody has seen: from the internet, or hidden."""
    lifts: tuple[FlowException, ...] = ()
    """How far that can be turned off, narrowest first."""
    session_mode: bool = False
    """Asks for a whole turn without questions, not for one call."""
    preview: Mapping[str, Any] | None = None
    """What the call would send or change, as the tool's server describes it."""
    grant: CallScope | None = None
    """What an answer for the chat allows instead of storing a rule: every call of the same scope."""
    digest: str = ""
    """Identifies the same call of the same session."""
    expires: datetime | None = None
    """When it is withdrawn, with an answer that no call has taken; None for never."""

    @property
    def call_text(self) -> str:
        """The call as text, with hidden characters escaped, and its preview below."""
        call = f"{self.tool} {revealed(json.dumps(dict(self.arguments), ensure_ascii=False, indent=2))}"
        if self.preview is None:
            return call

        return f"{call}\n{preview_text(self.preview)}"

    @property
    def rule_text(self) -> str:
        return rule_text(self.rule)

    def rule_for(self, scope: Scope, effect: Effect = "allow", rule: Rule | None = None) -> Rule:
        """The exact rule that an answer of this scope stores; `rule` replaces the question's own."""
        within = {"chat": self.session or "", "project": self.project}
        changes = {"effect": effect, "scope": scope, "within": within.get(scope, "")}
        return (rule or self.rule).model_copy(update=changes)

    def rule_texts(self, rule: Rule | None = None) -> dict[str, dict[str, str]]:
        """The rules that could be stored, as text, by scope and effect."""
        if self.grant is not None:
            return {}
        lasting = [scope for scope in self.scopes if scope != "once"]
        effects: tuple[Effect, ...] = ("allow", "deny")
        return {
            scope: {effect: rule_text(self.rule_for(scope, effect, rule)) for effect in effects}
            for scope in lasting
        }

    def as_json(self) -> dict[str, Any]:
        whole = self.tool_rule
        return {
            "id": self.id,
            "principal": self.principal,
            "session": self.session,
            "project": self.project,
            "tool": self.tool,
            "server": self.server,
            "arguments": dict(self.arguments),
            "call": self.call_text,
            "reasons": list(self.reasons),
            "rule": self.rule.as_json(),
            "rules": self.rule_texts(),
            "rule_words": rule_words(self.rule),
            "tool_rule": None if whole is None else whole.as_json(),
            "tool_rules": {} if whole is None else self.rule_texts(whole),
            "tool_rule_words": "" if whole is None else rule_words(whole),
            "scopes": list(self.scopes),
            "flow": self.flow,
            "hazard": self.hazard,
            "lifts": list(self.lifts),
            "session_mode": self.session_mode,
            **({} if self.preview is None else {"preview": dict(self.preview)}),
            **({} if self.grant is None else {"grant": self.grant.label}),
            **({} if self.expires is None else {"expires": self.expires.isoformat()}),
        }


@dataclass(frozen=True, kw_only=True)
class ApprovalAnswer:
    allow: bool
    scope: Scope = "once"
    """How long; beyond `once` the question's rule is stored, or `rule` instead."""
    rule: Rule | None = None
    any_arguments: bool = False
    """The question's rule for the whole tool is stored, if it has one."""
    message: str = ""
    """Reason for the caller if the call is denied."""
    lift: FlowException | None = None
    """Untrusted content may cause calls from now on: of this tool, in this turn, or in this session."""
    whole_turn: bool = False
    """Do not ask again until the turn ends."""
    by: str = ""
    """Who answered; empty if it is the one who asked, or unknown."""
    host: str = ""
    """The machine on which it was answered, if it was another one."""
    waited: float = field(default=0.0, compare=False)
    """Seconds after which a stored question was answered."""


class Asker(Protocol):
    """A surface that can ask the user: a terminal, a page, a client behind the gateway."""

    async def ask(self, question: ApprovalRequest) -> ApprovalAnswer:
        """Show the question and wait for the answer; cancelled with the call."""


@dataclass(frozen=True, kw_only=True)
class WaitingQuestion:
    """A stored question without an answer."""

    question: dict[str, Any]
    asked_at: datetime


class RequestStore(Protocol):
    """Questions that outlive the process that asked them."""

    async def put(self, question: ApprovalRequest) -> str:
        """Store a question, unless the same one is stored already; returns the id of the stored one."""

    async def answer(self, question_id: str, answer: ApprovalAnswer) -> bool:
        """Store an answer; False if no such question waits."""

    async def take(self, digest: str) -> ApprovalAnswer | None:
        """The answer to a question of this digest, once; None if there is none yet."""

    async def waiting(self) -> list[WaitingQuestion]:
        """All unanswered questions, oldest first."""

    async def withdraw(self, question_id: str) -> None:
        """Remove an unanswered question."""


class DurableAsker:
    """An `Asker` for sessions without a user; `timeout` in seconds, None to wait forever."""

    def __init__(self, requests: RequestStore, *, timeout: float | None = None) -> None:
        self.requests = requests
        self.on_change: Callable[[], object] = lambda: None
        """Called whenever a question was stored or answered."""
        self._timeout = timeout
        self._news = asyncio.Event()

    async def ask(self, question: ApprovalRequest) -> ApprovalAnswer:
        """Wait for the answer; denies after the timeout."""
        return await self.ask_within(question, self._timeout)

    async def ask_within(self, question: ApprovalRequest, timeout: float | None) -> ApprovalAnswer:
        """The same with another timeout."""
        answer = await self.answer_within(question, timeout)
        return answer or ApprovalAnswer(allow=False, message="no one answered in time")

    async def answer_within(self, question: ApprovalRequest, timeout: float | None) -> ApprovalAnswer | None:
        """The answer; None after the timeout, and the question stays."""
        loop = asyncio.get_running_loop()
        until = float("inf") if timeout is None else loop.time() + timeout
        answer = await self.requests.take(question.digest)
        if answer is not None:
            return answer
        await self.requests.put(question)
        self.on_change()
        while True:
            news = self._news
            # Not interrupted by the timeout: a taken answer would be lost. A question outlasts a shared
            # database that is away for a while.
            with contextlib.suppress(DatabaseUnavailable):
                answer = await self.requests.take(question.digest)
            left = until - loop.time()
            if answer is not None or left <= 0:
                return answer
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(POLL, left)):
                    await news.wait()

    async def answer(self, question_id: str, answer: ApprovalAnswer) -> bool:
        """Answer a waiting question; False if the id is unknown or has expired."""
        waiting = {str(waiting.question["id"]) for waiting in await self.requests.waiting()}
        known = question_id in waiting and await self.requests.answer(question_id, answer)
        self.look_again()
        return known

    def look_again(self) -> None:
        """Questions or answers were stored, by this process or another."""
        self._news.set()
        self._news = asyncio.Event()
        self.on_change()

    async def withdraw(self, question_id: str) -> None:
        """Remove a question whose call will not be made any more."""
        await self.requests.withdraw(question_id)
        self.on_change()


def read_flow_exception(said: object) -> FlowException | None:
    """Reads the value from a surface; `True`, from older versions, means the session."""
    if said is True:
        return "session"
    return next((exception for exception in FLOW_EXCEPTIONS if exception == said), None)
