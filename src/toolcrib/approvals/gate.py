"""Decides whether a call may run, and asks a person where that is for a person to say.

The judgement is pure (`judging`); here it meets the session, the person and the memory. A call that waits for
an answer and is cancelled withdraws its question. One answer is for one call.
"""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from toolcrib import plugins
from toolcrib.approvals.facts import Facts, PastCall, shell_argument_named
from toolcrib.approvals.places import Disk, Ground, ThisDisk
from toolcrib.approvals.ports import RulesInMemory, RuleStore
from toolcrib.approvals.question import Answer, Asker, Question
from toolcrib.approvals.reach import brings_outside, brings_private, source_of
from toolcrib.approvals.rule_match import speaks_of
from toolcrib.approvals.rules import protected_files, session_mode
from toolcrib.approvals.sessions import Session, Sessions
from toolcrib.approvals.verdict import conclude
from toolcrib.config.settings import ApprovalSettings
from toolcrib.schema.approvals import LIFTS, SCOPES, Effect, Finding, Judgement, Lift, Mode, Scope
from toolcrib.schema.tools import Principal, Tool, ToolCall
from toolcrib.tools.definitions import digest
from toolcrib.tools.ports import Decision

if TYPE_CHECKING:
    from toolcrib.approvals.rule import Rule

RULES = "toolcrib.approvals.rules"
_ALLOWED = Decision(allowed=True)

DEFAULT_MODES: Mapping[str, Mode] = {"cli": "off", "python": "off", "gateway": "on_rule"}
"""A person who calls by hand has decided already; a client behind the gateway asks its own person."""


class AllowAll:
    """A gate that stands open."""

    async def check(self, call: ToolCall) -> Decision:
        """Yes."""
        return _ALLOWED


class RuleModule(Protocol):
    """What a module of `rules/` offers."""

    def check(self, call: ToolCall, facts: Facts) -> Finding | None:
        """What it says of the call, if anything."""


class Gate:
    """The gate that all surfaces share.

    `ours` tells tools that came with Toolcrib from those of others. `modes` are by the first word of the
    principal's name, `mode` is for all others. `asker` is asked where a session has none of its own; without
    one the answer is no. `folders` are those that a person works in besides a session's project.
    """

    def __init__(
        self,
        *,
        rules: RuleStore | None = None,
        ours: Callable[[Tool], bool] = lambda tool: False,
        mode: Mode = "on_miss",
        modes: Mapping[str, Mode] = DEFAULT_MODES,
        asker: Asker | None = None,
        protected: Sequence[Path] = (),
        folders: Sequence[str] = (),
        disk: Disk | None = None,
    ) -> None:
        self.mode = mode
        self.modes = modes
        self.asker = asker
        self.rules: RuleStore = rules or RulesInMemory()
        self.sessions = Sessions()
        self.asking: dict[str, Question] = {}
        """What a person is asked now, by the id of the call that waits for it."""
        self._ours = ours
        self._protected = tuple(protected)
        self._folders = tuple(folders)
        self._disk = disk or ThisDisk()
        self._plain = Facts(ours=False, protected=self._protected)
        modules = [(name, plugins.find(RULES, name)) for name in plugins.names(RULES)]
        self._own = [(name, cast("RuleModule", module)) for name, module in modules]
        self._has_foreign_rules = any(module.__package__ != RULES for _, module in modules)
        self._ids = map(f"{secrets.token_hex(4)}-{{:x}}".format, itertools.count(1))

    def adopt(self, settings: ApprovalSettings) -> None:
        """Take over the modes of the settings."""
        self.mode = settings.mode
        self.modes = {**DEFAULT_MODES, **settings.modes}

    def begin(
        self, principal: Principal, *, asker: Asker | None = None, project: str = "", mode: Mode | None = None
    ) -> Session:
        """Say who is asked for a session, which folder it works in, and in which mode."""
        session = self.sessions.of(principal)
        session.asker, session.project, session.mode = asker, project, mode
        return session

    def recall(self, principal: Principal, calls: Iterable[PastCall]) -> None:
        """Tell of what a session did before this process knew of it; what was granted then is not any more.

        A tool that is no longer there counts as one of others.
        """
        session = self.sessions.of(principal)
        if session.recalled:
            return
        session.recalled = True
        for past in calls:
            if past.tool is None:
                session.saw(past.name, untrusted=True, private_from=past.name)
            else:
                self._saw(session, ToolCall("", past.tool, past.arguments, principal))

    def end_turn(self, principal: Principal) -> None:
        """A turn is over: what was granted for it is over too, and nobody is there to be asked."""
        self.sessions.of(principal).end_turn()

    def end(self, principal: Principal) -> None:
        """A session is over."""
        self.sessions.end(principal)

    def project_of(self, session: str | None) -> str:
        """The folder that an agent's session works in; empty when it is not known."""
        return self.sessions.project(session)

    def mode_of(self, principal: Principal) -> Mode:
        """When this principal's person is asked."""
        return self._mode_in(self.sessions.of(principal), principal)

    def _mode_in(self, session: Session, principal: Principal) -> Mode:
        if session.granted is not None:
            return "session"
        return session.mode or self.modes.get(principal.name.partition(":")[0], self.mode)

    def explain(self, tool: Tool, arguments: Mapping[str, Any], principal: Principal) -> Judgement:
        """What would be decided about a call; nothing runs and nobody is asked."""
        return self._judge(ToolCall("", tool, arguments, principal))

    async def check(self, call: ToolCall) -> Decision:
        """Decide, asking a person if need be."""
        # A rule of another package may have a say about any call.
        if call.tool.origin == "mcp" and not self._has_foreign_rules and not self.rules.all():
            session = self.sessions.of(call.principal)
            if self._is_clear(call, session):
                # The common case of a person who calls by hand, or of a client, at little cost.
                if call.tool.name not in session.untrusted and call.tool.name not in session.private:
                    self._saw(session, call)
                return _ALLOWED
        began = time.perf_counter()
        judgement = self._judge(call)
        noted = {**self._noted(call, judgement), "judged_ms": _milliseconds(began)}
        if judgement.decision == "ask":
            return await self._ask(call, noted)
        return self._decided(call, judgement, noted)

    def _is_clear(self, call: ToolCall, session: Session) -> bool:
        """Whether no rule of ours could have a say: those on commands and code are for our own tools."""
        mode = self._mode_in(session, call.principal)
        if mode != "on_rule" or self._ours(call.tool):
            return mode == "off"
        return protected_files.check(call, self._plain) is None

    def _judge(self, call: ToolCall) -> Judgement:
        session = self.sessions.of(call.principal)
        mode = self._mode_in(session, call.principal)
        theirs = self._findings_of_person(call, session)
        facts = Facts(
            ours=self._ours(call.tool),
            untrusted=session.untrusted,
            private=session.private,
            private_from=session.private_from,
            lifted=session.is_lifted(call.tool),
            vouched=any(one.effect == "allow" for one in theirs),
            protected=self._protected,
            project=session.project,
            disk=self._disk,
        )
        own = [found for _, rule in self._own if (found := rule.check(call, facts)) is not None]
        return conclude(own, theirs, mode, declared_reading=call.tool.definition.read_only)

    def _findings_of_person(self, call: ToolCall, session: Session) -> list[Finding]:
        ours, ground = self._ours(call.tool), self._ground(call.tool, session)
        return [
            _finding(rule)
            for rule in self.rules.all()
            if _in_scope(rule, call.principal, session)
            and speaks_of(rule, call.tool, call.arguments, ours=ours, ground=ground)
        ]

    def _ground(self, tool: Tool, session: Session) -> Ground:
        """Our own tools of no server work in the project; where others begin, nobody here knows."""
        start = session.project if tool.origin != "mcp" and self._ours(tool) else ""
        return Ground(self._disk, start)

    async def _ask(self, call: ToolCall, noted: Mapping[str, Any]) -> Decision:
        session = self.sessions.of(call.principal)
        asker = session.asker or self.asker
        before = digest(dict(call.arguments))
        async with session.asking:
            judgement = self._judge(call)  # An answer to the question before may have settled this one.
            noted = {**noted, **self._noted(call, judgement)}
            if judgement.decision != "ask":
                return self._decided(call, judgement, noted)
            if asker is None:
                reason = f"{judgement.reasons[0]} Nobody is there to be asked"
                return Decision(allowed=False, reason=reason, rule=judgement.rule, noted=noted)
            question = self._question(call, judgement, session)
            self.asking[call.id] = question
            began = time.perf_counter()
            try:
                answer = await asker.ask(question)
            finally:
                self.asking.pop(call.id, None)
            waited = _milliseconds(began)
            if digest(dict(call.arguments)) != before:
                return Decision(allowed=False, reason="its arguments changed while it was asked about")
            noted = {**noted, **_answer_noted(judgement, answer, waited)}
            return self._answered(call, judgement, question, answer, noted)

    def _noted(self, call: ToolCall, judgement: Judgement) -> dict[str, Any]:
        return {"mode": self.mode_of(call.principal), "decision": judgement.decision}

    def _answered(
        self,
        call: ToolCall,
        judgement: Judgement,
        question: Question,
        answer: Answer,
        noted: Mapping[str, Any],
    ) -> Decision:
        if not answer.allow:
            reason = answer.message or "the person said no"
            self._remember(question, answer, effect="deny")
            return Decision(allowed=False, reason=reason, rule=judgement.rule, noted=noted)
        session = self.sessions.of(call.principal)
        session.lift(answer.lift, call.tool)
        if answer.whole_turn:
            session.granted = "asked for in an answer"
        self._remember(question, answer, effect="allow")
        self._note(call)
        reason = f"a person allowed it ({answer.scope})"
        return Decision(allowed=True, reason=reason, rule="asked", noted=noted)

    def _remember(self, question: Question, answer: Answer, *, effect: Effect) -> None:
        if answer.scope != "once" and answer.scope in question.scopes:
            whole = question.tool_rule if answer.any_arguments else None
            self.rules.add(question.rule_for(answer.scope, effect, answer.rule or whole))

    def _decided(self, call: ToolCall, judgement: Judgement, noted: Mapping[str, Any]) -> Decision:
        allowed = judgement.decision == "allow"
        if allowed:
            self._note(call)
        return Decision(
            allowed=allowed,
            reason=" ".join(judgement.reasons),
            rule=judgement.rule,
            noted=noted,
        )

    def _note(self, call: ToolCall) -> None:
        """What a call that runs means for the calls after it."""
        tool, session = call.tool, self.sessions.of(call.principal)
        ours = self._ours(tool)
        if ours and tool.server == session_mode.SERVER:
            if tool.definition.name == session_mode.REQUEST:
                session.granted = str(call.arguments.get("reason", ""))
            elif tool.definition.name == session_mode.END:
                session.granted = None
        self._saw(session, call)

    def _saw(self, session: Session, call: ToolCall) -> None:
        ours = self._ours(call.tool)
        private_from = source_of(call.tool, ours=ours) if brings_private(call, ours=ours) else ""
        session.saw(call.tool.name, untrusted=brings_outside(call, ours=ours), private_from=private_from)

    def _question(self, call: ToolCall, judgement: Judgement, session: Session) -> Question:
        wanted = call.tool.definition.name == session_mode.REQUEST and call.tool.server == session_mode.SERVER
        scopes: Sequence[Scope] = ("once",) if wanted or judgement.flow else SCOPES
        if not session.project:
            scopes = [scope for scope in scopes if scope != "project"]
        from toolcrib.approvals.proposal import proposed_rule, tool_rule  # few calls are asked about

        lasting = any(scope != "once" for scope in scopes)
        return Question(
            id=next(self._ids),
            principal=call.principal.name,
            session=call.principal.session,
            project=session.project,
            tool=call.tool.name,
            server=call.tool.server,
            arguments=call.arguments,
            reasons=judgement.reasons,
            rule=proposed_rule(
                call,
                ours=self._ours(call.tool),
                ground=self._ground(call.tool, session),
                folders=(session.project, *self._folders),
            ),
            tool_rule=tool_rule(call, ours=self._ours(call.tool)) if lasting else None,
            scopes=tuple(scopes),
            flow=judgement.flow,
            lifts=_lifts(call.principal) if judgement.flow else (),
            session_mode=wanted,
            digest=digest(
                [
                    call.principal.name,
                    call.principal.session,
                    call.tool.name,
                    call.tool.hash,
                    dict(call.arguments),
                ]
            ),
        )


def _lifts(principal: Principal) -> tuple[Lift, ...]:
    """The narrowest first; only an agent's session has turns."""
    return LIFTS if principal.name.partition(":")[0] == "agent" else ("tool", "session")


def _milliseconds(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 1)


def _answer_noted(judgement: Judgement, answer: Answer, waited: float) -> dict[str, Any]:
    """What is written down of a question and its answer."""
    return {
        "asked": list(judgement.reasons),
        "allowed": answer.allow,
        "scope": answer.scope,
        **({"any_arguments": True} if answer.any_arguments else {}),
        **({"lift": answer.lift} if answer.lift else {}),
        "message": answer.message,
        "waited_ms": waited,
    }


def _finding(rule: Rule) -> Finding:
    told = rule.why or f"a rule of yours says {rule.effect}"
    # A rule for a whole tool leaves the question of what a command does open; one for the command answers it.
    # One for a folder leaves open what is special in it.
    firm = rule.effect != "allow" or ((bool(rule.arguments) or rule.closed) and not _roams(rule))
    return Finding(effect=rule.effect, rule=rule.id, reason=f"{told[0].upper()}{told[1:]}.", firm=firm)


def _roams(rule: Rule) -> bool:
    """Whether it speaks of folders, and not of a command."""
    if shell_argument_named(rule.server, rule.tool) in rule.arguments:
        return False
    return any(pattern.under is not None for pattern in rule.arguments.values())


def _in_scope(rule: Rule, principal: Principal, session: Session) -> bool:
    if rule.scope == "chat":
        return rule.within == (principal.session or principal.name)
    if rule.scope == "project":
        return bool(session.project) and rule.within == session.project
    return True
