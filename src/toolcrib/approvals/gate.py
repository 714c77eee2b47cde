"""Decides whether a call may run, and asks the user if necessary. Has the default approval modes of the
command line, Python and the gateway, the scopes of an answer, and the result if no one can be asked.

The verdict itself is pure (`verdict`); the gate adds session state, questions and stored rules. Cancelling a
waiting call withdraws its question. An answer applies to one call unless it stores a rule.
"""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from toolcrib import plugins
from toolcrib.approvals import sessions
from toolcrib.approvals.facts import (
    Facts,
    PastCall,
    brings_outside,
    brings_private,
    found_texts,
    reach_of,
    reads_file,
    sent_addresses,
    source_of,
    what_is_read,
)
from toolcrib.approvals.paths import Disk, LocalDisk, PathContext
from toolcrib.approvals.question import ApprovalAnswer, ApprovalRequest, Asker
from toolcrib.approvals.rule_match import RulesInMemory, RuleStore
from toolcrib.approvals.rules import protected_files, session_mode
from toolcrib.approvals.sessions import SessionState, SessionStates
from toolcrib.approvals.verdict import Case, RuleModule, judge, judge_beside_loop, remember_commands
from toolcrib.config.settings import ApprovalSettings
from toolcrib.schema.approvals import (
    FLOW_EXCEPTIONS,
    SCOPES,
    CallScope,
    Effect,
    FlowException,
    Judgement,
    Mode,
    Scope,
)
from toolcrib.schema.deciders import decider, deciding, this_host
from toolcrib.schema.tools import Principal, Tool, ToolCall, ToolResult
from toolcrib.tools.definitions import digest
from toolcrib.tools.ports import Decision

if TYPE_CHECKING:
    from toolcrib.approvals.rule import Rule

RULES = "toolcrib.approvals.rules"
_ALLOWED = Decision(allowed=True)

DEFAULT_MODES: Mapping[str, Mode] = {"cli": "off", "python": "off", "gateway": "on_rule"}
"""Users who call a tool themselves have already decided. Clients behind the gateway ask their own user about
most calls; the rule `outgoing` asks about those that reach other people."""
GATEWAY = "gateway"
"""The first part of the name of every client behind the gateway."""


Preview = Callable[[ToolCall], Awaitable[Mapping[str, Any] | None]]
"""Describes a call for the user: a mail, an event or a message as it will look; None if nothing is known."""


FindScope = Callable[[ToolCall], Awaitable[CallScope | None]]
"""What a call acts on, if its tool says so."""


async def _nothing(call: ToolCall) -> None:
    return None


class AllowAll:
    """Allows every call."""

    async def check(self, call: ToolCall) -> Decision:
        return _ALLOWED


class ApprovalGate:
    """The gate that all surfaces share.

    `ours` recognises tools that ship with Toolcrib. `modes` are by the first part of the principal's name,
    `mode` is the default. `asker` is used by sessions without their own; without any, calls that need
    approval are denied. `folders` are the user's working folders besides a session's project. `preview`
    shows what one of our tools would do, and `scope_of` finds what it acts on.
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
        default_project: str = "",
        disk: Disk | None = None,
        preview: Preview = _nothing,
        scope_of: FindScope = _nothing,
    ) -> None:
        self.mode = mode
        self.modes = modes
        self.asker = asker
        self.askers: dict[str, Asker] = {}
        """By the first part of the principal's name, for sessions without their own."""
        self.unasked: frozenset[str] = frozenset()
        """Clients behind the gateway that the rule `outgoing` does not apply to, by name."""
        self.rules: RuleStore = rules or RulesInMemory()
        self.sessions = SessionStates()
        self.asking: dict[str, ApprovalRequest] = {}
        """Questions being asked, by the id of the waiting call."""
        self.is_ours = ours
        """Whether a tool ships with Toolcrib."""
        self._protected = tuple(protected)
        self._folders = tuple(folders)
        self._default_project = default_project  # where commands of sessions without a project run
        self._disk = disk or LocalDisk()
        self._preview = preview
        self._scope_of = scope_of
        self._plain = Facts(ours=False, protected=self._protected)
        self._has_foreign_rules = bool(plugins.names_elsewhere(RULES))
        if self._has_foreign_rules:
            _ = self._modules  # one that cannot be loaded fails the start
        self._ids = map(f"{secrets.token_hex(4)}-{{:x}}".format, itertools.count(1))

    @cached_property
    def _modules(self) -> list[RuleModule]:
        """The built-in rules and those of other packages."""
        return [cast("RuleModule", plugins.find(RULES, name)) for name in plugins.names(RULES)]

    def adopt(self, settings: ApprovalSettings) -> None:
        self.mode = settings.mode
        self.modes = {**DEFAULT_MODES, **settings.modes}

    def begin(
        self, principal: Principal, *, asker: Asker | None = None, project: str = "", mode: Mode | None = None
    ) -> SessionState:
        """Set who is asked in a session, its working folder and its mode."""
        session = self.sessions.of(principal)
        session.asker, session.project, session.mode = asker, project, mode
        return session

    async def recall(self, principal: Principal, calls: Iterable[PastCall]) -> None:
        """Add what a session did before this process; earlier grants no longer apply.

        A tool that no longer exists counts as untrusted.
        """
        session = self.sessions.of(principal)
        if session.recalled:
            return
        await self.add_results(principal, calls)
        session.recalled = True

    def given(self, principal: Principal, texts: Iterable[str], files: Iterable[str] = ()) -> None:
        """The user of a session wrote these texts: the addresses in them may be read.

        They attached files with these names, whose text is untrusted and may be private.
        """
        session = self.sessions.of(principal)
        for text in texts:
            session.addresses.give(text)
        for name in files:
            session.saw(name, untrusted=True, private_from=name)

    async def add_results(self, principal: Principal, calls: Iterable[PastCall]) -> None:
        """The results of calls that were made elsewhere are part of the session from now on."""
        session, known = self.sessions.of(principal), list[tuple[ToolCall, str | None]]()
        for past in calls:
            if past.tool is None:
                session.saw(past.name, untrusted=True, private_from=past.name)
            else:
                known.append((ToolCall("", past.tool, past.arguments, principal), past.answer))
        await remember_commands((call, self.is_ours(call.tool)) for call, _ in known)
        for call, answer in known:
            self._saw(session, call)
            if answer is not None:
                self._found(session, call, {"content": [{"type": "text", "text": answer}]})

    def end_turn(self, principal: Principal) -> None:
        """A turn has ended, and with it everything granted for it."""
        self.sessions.of(principal).end_turn()

    def end(self, principal: Principal) -> None:
        self.sessions.end(principal)

    def project_of(self, session: str | None) -> str:
        """The session's working folder; empty if unknown."""
        return self.sessions.project(session)

    def results_in(self, session: str | None) -> tuple[str, ...]:
        """The tools whose results the session has that are untrusted or private."""
        return self.sessions.results(session)

    def mode_of(self, principal: Principal) -> Mode:
        return self._mode_in(self.sessions.of(principal), principal)

    def _mode_in(self, session: SessionState, principal: Principal) -> Mode:
        if session.granted is not None:
            return "session"
        return session.mode or self.modes.get(principal.name.partition(":")[0], self.mode)

    def explain_tool(self, tool: Tool, principal: Principal) -> Judgement:
        """The verdict about a call without arguments."""
        return judge(self._case(ToolCall("", tool, {}, principal)))

    async def explain(self, tool: Tool, arguments: Mapping[str, Any], principal: Principal) -> Judgement:
        """The verdict about a call; nothing runs and no one is asked."""
        return await judge_beside_loop(self._case(ToolCall("", tool, arguments, principal)))

    async def check(self, call: ToolCall) -> Decision:
        # The common case, kept cheap: no user's or other package's rules, and no built-in rule applies.
        if call.tool.origin == "mcp" and not self._has_foreign_rules and not self.rules.active:
            session = self.sessions.of(call.principal)
            mode = self._mode_in(session, call.principal)
            harmless = mode == "off" or (
                # No built-in rule applies; those for commands and code are for our own tools.
                mode == "on_rule"
                and not self.is_ours(call.tool)
                and protected_files.check(call, self._plain) is None
            )
            if harmless and not session.rules:
                if call.tool.name not in session.untrusted and call.tool.name not in session.private:
                    self._saw(session, call)
                return _ALLOWED
        began = time.perf_counter()
        case = self._case(call)
        judgement = await judge_beside_loop(case)
        noted = {
            "mode": case.mode,
            "decision": judgement.decision,
            "judged_ms": round((time.perf_counter() - began) * 1000, 1),
        }
        if judgement.decision == "ask":
            decision = await self._ask(call, noted)
        else:
            decision = self._decided(call, judgement, noted)
        return self._learning(call, decision) if decision.allowed else decision

    def _learning(self, call: ToolCall, decision: Decision) -> Decision:
        """The session learns which addresses are read now, and later those in the result."""
        ours = self.is_ours(call.tool)
        reach = reach_of(call, ours=ours)
        session = self.sessions.of(call.principal)
        if reach == "anybody" and call.tool.definition.read_only and (sent := sent_addresses(call)):
            session.addresses.send(sent, private=bool(session.private))
        if reach in ("service", "anybody") or reads_file(call, ours=ours):
            return replace(decision, on_result=partial(self._found, session, call))
        return decision

    def _found(self, session: SessionState, call: ToolCall, result: ToolResult) -> None:
        ours = self.is_ours(call.tool)
        if not (session.wrote and reads_file(call, ours=ours)):
            session.addresses.find(found_texts(call, result, ours=ours))

    def _case(self, call: ToolCall) -> Case:
        principal, session = call.principal, self.sessions.of(call.principal)
        facts = Facts(
            ours=self.is_ours(call.tool),
            untrusted=session.untrusted,
            private=session.private,
            private_from=session.private_from,
            read=session.read,
            addresses=session.addresses,
            lifted=session.lifted is not None or call.tool.hash in session.lifted_tools,
            protected=self._protected,
            project=session.project or self._default_project,
            disk=self._disk,
            asks_before_sending=_kind(principal) == GATEWAY and principal.name not in self.unasked,
        )
        mode = self._mode_in(session, principal)
        # Our own tools resolve paths in the project; for others the folder is unknown.
        ground = PathContext(self._disk, session.project if facts.ours and call.tool.origin != "mcp" else "")
        rules = [rule for rule in self.rules.active if _in_scope(rule, principal, session)]
        return Case(call, facts, mode, [*rules, *session.rules], ground, self._modules)

    def _asker_in(self, session: SessionState, principal: Principal) -> Asker | None:
        if session.asker is not None or principal.name in self.unasked:
            return session.asker or self.asker
        return self.askers.get(_kind(principal), self.asker)

    async def _ask(self, call: ToolCall, noted: Mapping[str, Any]) -> Decision:
        session = self.sessions.of(call.principal)
        asker = self._asker_in(session, call.principal)
        before = digest(dict(call.arguments))
        # A client gets the response to each of its calls soon, so none waits for the answer to another.
        async with nullcontext() if _kind(call.principal) == GATEWAY else session.asking:
            # The answer to the previous question may apply to this call too.
            case = self._case(call)
            judgement = await judge_beside_loop(case)
            noted = {**noted, "mode": case.mode, "decision": judgement.decision}
            if judgement.decision != "ask":
                return self._decided(call, judgement, noted)
            scope = await self._scope_of(call) if self.is_ours(call.tool) else None
            if scope is not None and session.grants.cover(scope, judgement, case.mode):
                return self._granted(call, scope, noted)
            if scope is not None and scope.refusal:
                return Decision(allowed=False, reason=scope.refusal, noted=noted)
            if asker is None:
                reason = f"{judgement.reasons[0]} No one is available to approve it"
                return Decision(allowed=False, reason=reason, rule=judgement.rule, noted=noted)
            preview = await self._preview(call) if self.is_ours(call.tool) else None
            question = self._question(case, judgement, session, preview, scope)
            self.asking[call.id] = question
            began = time.perf_counter()
            try:
                answer = await asker.ask(question)
            finally:
                self.asking.pop(call.id, None)
            waited = round((time.perf_counter() - began) * 1000, 1)
            await remember_commands([(call, self.is_ours(call.tool))])
            if digest(dict(call.arguments)) != before:
                return Decision(allowed=False, reason="its arguments changed while the user was asked")
            noted = {**noted, **_answer_noted(question, answer, waited)}
            return self._answered(call, judgement, question, answer, noted)

    def _answered(
        self,
        call: ToolCall,
        judgement: Judgement,
        question: ApprovalRequest,
        answer: ApprovalAnswer,
        noted: Mapping[str, Any],
    ) -> Decision:
        if not answer.allow:
            reason = answer.message or "the user denied it"
            self._remember(call.principal, question, answer, effect="deny")
            return Decision(allowed=False, reason=reason, rule=judgement.rule, noted=noted)
        session = self.sessions.of(call.principal)
        if question.grant is not None and answer.scope == "chat" and "chat" in question.scopes:
            # What such a tool shows of its own target is part of what the user allows.
            untrusted = judgement.flow or brings_outside(call, ours=self.is_ours(call.tool))
            session.grants.add(question.grant, untrusted=untrusted)
        if answer.lift in question.lifts:
            session.lift(answer.lift, call.tool)
        if answer.whole_turn and call.principal.owns_session and not question.hazard:
            session.granted = "granted with an answer"
        self._remember(call.principal, question, answer, effect="allow")
        self._note(call)
        reason = f"the user allowed it ({answer.scope})"
        return Decision(allowed=True, reason=reason, rule="asked", noted=noted)

    def _remember(
        self, principal: Principal, question: ApprovalRequest, answer: ApprovalAnswer, *, effect: Effect
    ) -> None:
        if question.grant is not None or answer.scope == "once" or answer.scope not in question.scopes:
            return
        whole = question.tool_rule if answer.any_arguments else None
        rule = question.rule_for(answer.scope, effect, answer.rule or whole)
        if answer.scope == "chat" and _kind(principal) == GATEWAY:
            session = self.sessions.of(principal)  # it never continues after it ended, unlike a chat
            session.rules = (*session.rules, rule)
        else:
            with deciding(answer.by):
                self.rules.add(rule)

    def _granted(self, call: ToolCall, scope: CallScope, noted: Mapping[str, Any]) -> Decision:
        self._note(call)
        reason = f"The user allowed this in this chat: {scope.label}"
        return Decision(allowed=True, reason=reason, rule=sessions.RULE, noted={**noted, "decision": "allow"})

    def _decided(self, call: ToolCall, judgement: Judgement, noted: Mapping[str, Any]) -> Decision:
        allowed = judgement.decision == "allow"
        if allowed:
            self._note(call, reads=judgement.rule == "shell")
        return Decision(allowed=allowed, reason=" ".join(judgement.reasons), rule=judgement.rule, noted=noted)

    def _note(self, call: ToolCall, *, reads: bool = False) -> None:
        """Update the session after a call was allowed; `reads` if it is a command that changes nothing."""
        tool, session = call.tool, self.sessions.of(call.principal)
        ours = self.is_ours(tool)
        if ours and tool.server == session_mode.SERVER:
            if tool.definition.name == session_mode.REQUEST:
                session.granted = str(call.arguments.get("reason", ""))
            elif tool.definition.name == session_mode.END:
                session.granted = None
        self._saw(session, call, reads=reads)

    def _saw(self, session: SessionState, call: ToolCall, *, reads: bool = False) -> None:
        ours = self.is_ours(call.tool)
        private = brings_private(call, ours=ours)
        session.saw(
            call.tool.name,
            untrusted=brings_outside(call, ours=ours),
            private_from=source_of(call.tool, ours=ours) if private else "",
            read=what_is_read(call) if private else "",
        )
        session.wrote = session.wrote or not (reads or (ours and call.tool.definition.read_only))

    def _question(
        self,
        case: Case,
        judgement: Judgement,
        session: SessionState,
        preview: Mapping[str, Any] | None,
        scope: CallScope | None,
    ) -> ApprovalRequest:
        call, ours = case.call, case.facts.ours
        wanted = call.tool.definition.name == session_mode.REQUEST and call.tool.server == session_mode.SERVER
        scopes: Sequence[Scope] = ("once",) if wanted or judgement.flow or judgement.once else SCOPES
        if scope is not None:
            scopes = ("once", "chat") if scope.key else ("once",)
        scopes = _possible(scopes, call.principal, session)
        from toolcrib.approvals.proposal import proposed_rule, tool_rule  # few calls need it

        lasting = any(scope != "once" for scope in scopes)
        return ApprovalRequest(
            id=next(self._ids),
            principal=call.principal.name,
            session=call.principal.session,
            project=session.project,
            tool=call.tool.name,
            server=call.tool.server,
            arguments=call.arguments,
            reasons=(*judgement.reasons, *filter(None, [scope.reason if scope else ""])),
            rule=proposed_rule(
                call, ours=ours, ground=case.ground, folders=(session.project, *self._folders)
            ),
            tool_rule=tool_rule(call, ours=ours) if lasting and not scope else None,
            scopes=tuple(scopes),
            flow=judgement.flow,
            hazard=judgement.once,
            lifts=_flow_exceptions(call.principal) if judgement.flow and not scope else (),
            session_mode=wanted,
            preview=preview,
            grant=scope if scope is not None and "chat" in scopes else None,
            digest=_digest(call, scope, preview),
        )


def _in_scope(rule: Rule, principal: Principal, session: SessionState) -> bool:
    if rule.scope == "chat":
        return principal.owns_session and rule.within == principal.session
    if rule.scope == "project":
        return bool(session.project) and rule.within == session.project
    return True


def _kind(principal: Principal) -> str:
    return principal.name.partition(":")[0]


_PICTURE = ("picture", "width", "height", "target")
"""What differs between two previews of the same call."""


def _digest(call: ToolCall, scope: CallScope | None, preview: Mapping[str, Any] | None) -> str:
    """Equal for the same call of the same session; a caller without any identity has no second call.

    A stored answer is not for another window, or for other recipients of a reply.
    """
    principal = call.principal
    known = call.id if principal.identity == "anonymous" else principal.session
    target = scope.key if scope is not None else ""
    shown = {key: value for key, value in (preview or {}).items() if key not in _PICTURE}
    return digest(
        [principal.name, known, call.tool.name, call.tool.hash, dict(call.arguments), target, shown]
    )


def _possible(scopes: Sequence[Scope], principal: Principal, session: SessionState) -> list[Scope]:
    """The scopes that mean something for the caller: not "this chat" without a session of its own."""
    if principal.identity == "anonymous":
        return ["once"]
    missing = {"chat": not principal.owns_session, "project": not session.project}
    return [scope for scope in scopes if not missing.get(scope)]


def _flow_exceptions(principal: Principal) -> tuple[FlowException, ...]:
    """Narrowest first; only an agent's session has turns, and a caller without a session has nothing."""
    if not principal.owns_session:
        return ()
    return FLOW_EXCEPTIONS if _kind(principal) == "agent" else ("tool", "session")


def _answer_noted(question: ApprovalRequest, answer: ApprovalAnswer, waited: float) -> dict[str, Any]:
    """The question and its answer, for the record."""
    return {
        "asked": list(question.reasons),
        **({"preview": dict(question.preview)} if question.preview else {}),
        **({"grant": question.grant.label} if question.grant and answer.scope == "chat" else {}),
        "allowed": answer.allow,
        "scope": answer.scope,
        **({"any_arguments": True} if answer.any_arguments else {}),
        **({"lift": answer.lift} if answer.lift else {}),
        "message": answer.message,
        "answered_by": answer.by or decider(),
        "answered_on": answer.host or this_host(),
        "waited_ms": waited,
    }
