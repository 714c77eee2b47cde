"""The user's rules as the gate reads them, and whether one matches a call: its tool, its arguments, a command
word by word. Has the error messages for rules that contradict their examples.

Allow rules are read narrowly, deny and ask rules widely: allowing `npm run *` allows no other command beside
it, and denying `git push *` also finds it among other commands and inside wrappers. Rules about folders
get a disk.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Protocol
from unicodedata import normalize

from toolcrib.approvals.facts import shell_argument, shell_argument_named
from toolcrib.approvals.paths import NO_DISK, PathContext, is_inside
from toolcrib.errors import UsageError
from toolcrib.schema.tools import Tool
from toolcrib.tools.definitions import canonical_json

if TYPE_CHECKING:
    from toolcrib.approvals.rule import Pattern, Rule

INERT = frozenset({"timeout", "pty", "background"})
"""Arguments of shell tools that do not affect what is run."""
_MISSING = object()


class RuleStore(Protocol):
    @property
    def active(self) -> Sequence[Rule]:
        """The rules that apply, in the order in which they were made."""

    def add(self, rule: Rule) -> None:
        """Add a rule; adding it again changes nothing."""


@dataclass(frozen=True, kw_only=True)
class BrokenRule:
    """A stored rule that is invalid or contradicts its examples."""

    id: str
    rule: str
    """As stored."""
    reason: str


class RulesInMemory:
    """Rules for the lifetime of the process."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        self._rules = {rule.id: rule for rule in rules}

    @property
    def active(self) -> Sequence[Rule]:
        return tuple(self._rules.values())

    def add(self, rule: Rule) -> None:
        self._rules[rule.id] = rule


def speaks_of(
    rule: Rule, tool: Tool, arguments: Mapping[str, Any], *, ours: bool, ground: PathContext = NO_DISK
) -> bool:
    """Whether the rule matches this call, apart from its scope."""
    if not fnmatchcase(tool.server or "", rule.server) or not fnmatchcase(tool.definition.name, rule.tool):
        return False
    if rule.definition and rule.definition != tool.hash:
        return False
    return fits(rule, arguments, shell_argument(tool, ours=ours), ground)


def fits(rule: Rule, arguments: Mapping[str, Any], shell: str | None, ground: PathContext = NO_DISK) -> bool:
    """Whether the rule matches the arguments; `shell` names the one that is a command."""
    wide = rule.effect != "allow"
    if rule.closed:
        further = arguments.keys() - rule.arguments.keys() - (INERT if shell else frozenset())
        counts_null = rule.exact and not wide
        if any(counts_null or arguments[name] is not None for name in further):
            return False
    cwd = "" if "cwd" in rule.arguments else str(arguments.get("cwd") or "")
    enough = any if wide else all
    return all(
        enough(
            _fits_command(pattern.like, value, cwd, ground, wide=wide)
            if name == shell and pattern.like is not None and isinstance(value, str)
            else _fits(pattern, value, ground, wide=wide)
            for value in _values(arguments, name)
        )
        for name, pattern in rule.arguments.items()
    )


def check_examples(rule: Rule) -> None:
    """Raise `UsageError` if the rule contradicts its examples."""
    shell = shell_argument_named(rule.server, rule.tool)
    for given in rule.examples.match:
        if not fits(rule, given, shell):
            raise UsageError(f"The rule does not match its own example {_shown(given)}.", hint=_HINT)
    for given in rule.examples.not_match:
        if fits(rule, given, shell):
            raise UsageError(f"The rule matches {_shown(given)}, which its examples exclude.", hint=_HINT)


_HINT = "Change the rule's patterns, or its examples."


def _fits(pattern: Pattern, value: Any, ground: PathContext, *, wide: bool) -> bool:
    if pattern.any:
        return True
    if value is _MISSING:
        return wide and pattern.exact and pattern.equals is None
    if pattern.under is not None:
        return is_inside(value, pattern.under, ground, wide=wide)
    if pattern.like is None:
        return _is_same(value, pattern.equals, wide=wide)
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    if not wide and ".." in text.replace("\\", "/").split("/") and ".." not in pattern.like:
        return False  # a path that leaves the pattern's folder
    return fnmatchcase(text, pattern.like)


def _is_same(value: Any, wanted: Any, *, wide: bool) -> bool:
    """Whether both are the same JSON, in which `1`, `1.0` and `true` differ.

    If `wide`, they are equal, and so are texts that only compose their characters differently.
    """
    if wide and (value == wanted or _is_same_text(value, wanted)):
        return True
    try:
        return canonical_json(value) == canonical_json(wanted)
    except (TypeError, ValueError, RecursionError):
        return False  # not JSON, so it was never shown


def _is_same_text(value: Any, wanted: Any) -> bool:
    if not isinstance(value, str) or not isinstance(wanted, str) or (value.isascii() and wanted.isascii()):
        return False
    return normalize("NFC", value) == normalize("NFC", wanted)


def _fits_command(like: str, command: str, cwd: str, ground: PathContext, *, wide: bool) -> bool:
    from toolcrib.serverkit.shell import rough_commands, simple_commands

    try:
        wanted = shlex.split(like)
    except ValueError:
        return False
    if wide:
        return any(_fits_words(wanted, words) for words in rough_commands(command))
    if like == "*":
        return True
    found = simple_commands(command, cwd, ground.start)
    return bool(found) and all(_fits_words(wanted, words) for words in found or ())


def _fits_words(wanted: Sequence[str], words: Sequence[str]) -> bool:
    """Word by word; a `*` at the end matches any further words."""
    if wanted and wanted[-1] == "*":
        wanted, words = wanted[:-1], words[: len(wanted) - 1]
    return len(wanted) == len(words) and all(map(fnmatchcase, words, wanted))


def _values(arguments: Mapping[str, Any], name: str) -> list[Any]:
    """The argument of this name; `a.b` is also `b` in `a`, and a call may have both."""
    found = [arguments[name]] if name in arguments else []
    if "." in name:
        found += _nested(arguments, name.split("."))
    return found or [_MISSING]


def _nested(value: Any, parts: Sequence[str]) -> list[Any]:
    for part in parts:
        if not isinstance(value, Mapping) or part not in value:
            return []
        value = value[part]
    return [value]


def _shown(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False)
