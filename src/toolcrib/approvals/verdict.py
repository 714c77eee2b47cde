"""Judges a call by all rules and the mode: the order in which user rules, built-in rules and each mode
(always, plan, session, off) decide, and the reasons shown. Touches nothing but the disk.

`STEPS` is the whole policy, one row for each mode: the first step that decides is the verdict. A shell
command is judged in a thread: 16 KB of it take 0.5 s, its files are looked up, and the first one loads the
parser. The event loop goes on meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeVar

from toolcrib.approvals.facts import Facts, brings_outside, shell_argument, shell_argument_named
from toolcrib.approvals.paths import PathContext
from toolcrib.approvals.rule_match import speaks_of
from toolcrib.schema.approvals import Effect, Judgement, Mode, RuleResult
from toolcrib.schema.tools import ToolCall

if TYPE_CHECKING:
    from toolcrib.approvals.rule import Rule

R = TypeVar("R")

FLOW, PRIVATE = "untrusted_flow", "private_flow"
OUTGOING = "outgoing"
NO_RULE = "No rule allows it."
READ_ONLY_MARK = "The server marks this tool as read-only. Toolcrib does not rely on that"
_WORDS = {
    "always": "The mode is to always ask.",
    "on_miss": NO_RULE,
    "on_rule": "No rule applies.",
    "session": "Steps without approval were granted for this turn.",
    "off": "This mode does not ask.",
    "plan": "In plan mode, only read-only calls are allowed.",
}


def result_of(rule: Rule) -> RuleResult:
    told = rule.why or f"one of your rules says {rule.effect}"
    # A rule for a whole tool does not answer what a command does; a rule for the command does.
    # A rule for a folder does not answer for special files in it.
    final = rule.effect != "allow" or ((bool(rule.arguments) or rule.closed) and not _roams(rule))
    return RuleResult(effect=rule.effect, rule=rule.id, reason=f"{told[0].upper()}{told[1:]}.", final=final)


def _roams(rule: Rule) -> bool:
    """Whether the rule is for folders and not for a command."""
    if shell_argument_named(rule.server, rule.tool) in rule.arguments:
        return False
    return any(pattern.under is not None for pattern in rule.arguments.values())


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
    if "allow" in [result.effect for result in theirs]:
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


class _Case(NamedTuple):  # created for each call, and cheaper than a frozen dataclass
    """A call with the results of built-in rules, of the user's rules, and of both."""

    own: Sequence[RuleResult]
    theirs: Sequence[RuleResult]
    found: Sequence[RuleResult]
    mode: Mode
    declared_reading: bool
    once: bool
    """A yes is for this one call."""


Step = Callable[[_Case], Judgement | None]
"""Decides, or leaves the call to the next step."""


def conclude(
    own: Sequence[RuleResult], theirs: Sequence[RuleResult], mode: Mode, *, declared_reading: bool
) -> Judgement:
    """`own` are the results of built-in rules, `theirs` of the user's; `declared_reading` is the tool's
    annotation.

    An ask that is not final is answered by a user's rule for these arguments (marked final), not by one for
    the whole tool.
    """
    if mode == "on_rule":
        # The client's own user sees each call; only what is dangerous in itself counts.
        own = [finding for finding in own if finding.rule != FLOW and finding.on_rule]
    elif FLOW in [finding.rule for finding in own]:
        own = [finding for finding in own if finding.rule != PRIVATE]  # one question for both
    once = True in [finding.once for finding in own]
    case = _Case(own, theirs, [*own, *theirs], mode, declared_reading, once)
    for step in STEPS[mode]:
        judgement = step(case)
        if judgement is not None:
            return judgement
    raise AssertionError(f"No step of the mode {mode!r} decides.")


@dataclass(frozen=True, slots=True)
class _First:
    """Decides as the first result with this effect does; with `final`, only a final one counts."""

    among: Literal["own", "theirs", "found"]
    effect: Effect
    final: bool = False

    def __call__(self, case: _Case) -> Judgement | None:
        results: Sequence[RuleResult] = getattr(case, self.among)
        for result in results:
            if result.effect == self.effect and (result.final or not self.final):
                return _because(result, case)
        return None


def _only_reading(case: _Case) -> Judgement | None:
    """Denies what is not read-only; the annotation alone counts only with a user's rule."""
    if any(finding.reads for finding in case.own):
        return None
    if not case.declared_reading:
        return Judgement(decision="deny", rule=None, reasons=(_WORDS["plan"],))
    if any(finding.effect == "allow" for finding in case.theirs):
        return None
    return Judgement(decision="ask", rule=None, reasons=(f"{READ_ONLY_MARK}.",))


def _ask_always(case: _Case) -> Judgement:
    doubts = (finding.reason for finding in case.found if finding.effect == "ask")
    return Judgement(decision="ask", rule=None, reasons=(_WORDS["always"], *doubts), once=case.once)


def _ask(case: _Case) -> Judgement:
    return Judgement(decision="ask", rule=None, reasons=(_WORDS[case.mode],))


def _allow(case: _Case) -> Judgement:
    return Judgement(decision="allow", rule=None, reasons=(_WORDS[case.mode],))


_DENIED = _First("found", "deny")
_SETTLED = _First("own", "allow", final=True)
_FINAL_ASK = _First("found", "ask", final=True)
_EXACT_RULE = _First("theirs", "allow", final=True)
_RULES: tuple[Step, ...] = (
    _FINAL_ASK,
    _EXACT_RULE,
    _First("found", "ask"),
    _First("theirs", "allow"),
    _First("own", "allow"),
)
STEPS: Mapping[Mode, tuple[Step, ...]] = {
    "always": (_DENIED, _SETTLED, _FINAL_ASK, _ask_always),
    "on_miss": (_DENIED, _SETTLED, *_RULES, _ask),
    "on_rule": (_DENIED, _SETTLED, *_RULES, _allow),
    "plan": (_DENIED, _SETTLED, _only_reading, *_RULES, _ask),
    "session": (_DENIED, _SETTLED, _FINAL_ASK, _EXACT_RULE, _allow),
    "off": (_DENIED, _SETTLED, _allow),
}
"""The steps of each mode; the last one always decides."""


def _because(finding: RuleResult, case: _Case) -> Judgement:
    others = [other.reason for other in case.found if other is not finding and other.effect == finding.effect]
    return Judgement(
        decision=finding.effect,
        rule=finding.rule,
        reasons=(finding.reason, *others),
        flow=finding.rule in (FLOW, PRIVATE) and not finding.overridable,
        once=case.once,
    )
