"""Judges a call by all rules, which touches nothing but the disk.

A shell command is judged in a thread: 16 KB of it take 0.5 s, its files are looked up, and the first one
loads the parser. The event loop goes on meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from toolcrib.approvals.facts import Facts, shell_argument, shell_argument_named
from toolcrib.approvals.paths import PathContext
from toolcrib.approvals.reach import brings_outside
from toolcrib.approvals.rule_match import speaks_of
from toolcrib.approvals.verdict import conclude
from toolcrib.schema.approvals import Judgement, Mode, RuleResult
from toolcrib.schema.tools import ToolCall

if TYPE_CHECKING:
    from toolcrib.approvals.rule import Rule
    from toolcrib.approvals.sessions import SessionState
    from toolcrib.schema.tools import Principal

R = TypeVar("R")


def result_of(rule: Rule) -> RuleResult:
    told = rule.why or f"one of your rules says {rule.effect}"
    # A rule for a whole tool does not answer what a command does; a rule for the command does.
    # A rule for a folder does not answer for special files in it.
    firm = rule.effect != "allow" or ((bool(rule.arguments) or rule.closed) and not _roams(rule))
    return RuleResult(effect=rule.effect, rule=rule.id, reason=f"{told[0].upper()}{told[1:]}.", firm=firm)


def _roams(rule: Rule) -> bool:
    """Whether the rule is for folders and not for a command."""
    if shell_argument_named(rule.server, rule.tool) in rule.arguments:
        return False
    return any(pattern.under is not None for pattern in rule.arguments.values())


def in_scope(rule: Rule, principal: Principal, session: SessionState) -> bool:
    if rule.scope == "chat":
        return principal.owns_session and rule.within == principal.session
    if rule.scope == "project":
        return bool(session.project) and rule.within == session.project
    return True


class RuleModule(Protocol):
    """A module of `rules/`."""

    def check(self, call: ToolCall, facts: Facts) -> RuleResult | None:
        """Its result for this call, if it applies."""


_CHANGED = Judgement(decision="deny", reasons=("Its arguments changed while it was judged.",), rule=None)


@dataclass(frozen=True, slots=True)
class Case:
    """A call and everything that is known for judging it; the session may change meanwhile."""

    call: ToolCall
    facts: Facts
    mode: Mode
    rules: Sequence[Rule]
    """The user's rules that are in scope."""
    ground: PathContext
    modules: Sequence[RuleModule]


def judge(case: Case) -> Judgement:
    call, facts = case.call, case.facts
    theirs = [
        result_of(rule)
        for rule in case.rules
        if speaks_of(rule, call.tool, call.arguments, ours=facts.ours, ground=case.ground)
    ]
    if any(result.effect == "allow" for result in theirs):
        facts = replace(facts, vouched=True)
    own = [found for module in case.modules if (found := module.check(call, facts)) is not None]
    return conclude(own, theirs, case.mode, declared_reading=call.tool.definition.read_only)


async def judge_beside_loop(case: Case) -> Judgement:
    """The same; a command is judged in a thread, and what it may bring is known afterwards."""
    if shell_argument(case.call.tool, ours=case.facts.ours) is None:
        return judge(case)
    before = dict(case.call.arguments)
    judgement = await _in_thread(_judge_command, case)
    return judgement if case.call.arguments == before else _CHANGED


async def remember_commands(calls: Iterable[tuple[ToolCall, bool]]) -> None:
    """Let it be known at once what these calls may bring; each is given with whether its tool is ours."""
    commands = [(call, ours) for call, ours in calls if shell_argument(call.tool, ours=ours) is not None]
    if commands:
        await _in_thread(_remember, commands)


def _judge_command(case: Case) -> Judgement:
    _remember([(case.call, case.facts.ours)])
    return judge(case)


def _remember(commands: Iterable[tuple[ToolCall, bool]]) -> None:
    for call, ours in commands:
        brings_outside(call, ours=ours)  # the reading of a command is cached


async def _in_thread(function: Callable[..., R], /, *arguments: object) -> R:
    from toolcrib.serverkit.threads import in_thread  # only commands need it

    return await in_thread(function, *arguments)
