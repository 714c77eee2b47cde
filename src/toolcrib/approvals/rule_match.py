"""Whether a person's rule speaks of a call. Pure; for rules about folders a disk is handed in.

An allow is read narrowly, a deny or an ask widely: a rule that allows `npm run *` lets nothing by that stands
beside it, and one that denies `git push *` finds it among other commands and inside of wrappers.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from toolcrib.approvals.facts import shell_argument, shell_argument_named
from toolcrib.approvals.places import ON_PAPER, Ground, is_inside
from toolcrib.errors import UsageError
from toolcrib.schema.tools import Tool
from toolcrib.tools.definitions import canonical_json

if TYPE_CHECKING:
    from toolcrib.approvals.rule import Pattern, Rule

INERT = frozenset({"timeout", "pty", "background"})
"""Arguments of shell tools that change nothing about what is run."""
_MISSING = object()


def speaks_of(
    rule: Rule, tool: Tool, arguments: Mapping[str, Any], *, ours: bool, ground: Ground = ON_PAPER
) -> bool:
    """Whether the rule is about this call; scopes are not looked at."""
    if not fnmatchcase(tool.server or "", rule.server) or not fnmatchcase(tool.definition.name, rule.tool):
        return False
    if rule.definition and rule.definition != tool.hash:
        return False
    return fits(rule, arguments, shell_argument(tool, ours=ours), ground)


def fits(rule: Rule, arguments: Mapping[str, Any], shell: str | None, ground: Ground = ON_PAPER) -> bool:
    """Whether the arguments are those that the rule means; `shell` names the one that is a command."""
    wide = rule.effect != "allow"
    if rule.closed:
        further = arguments.keys() - rule.arguments.keys() - (INERT if shell else frozenset())
        counts_null = rule.exact and not wide
        if any(counts_null or arguments[name] is not None for name in further):
            return False
    cwd = "" if "cwd" in rule.arguments else str(arguments.get("cwd") or "")
    return all(
        _fits_command(pattern.like, value, cwd, ground, wide=wide)
        if name == shell and pattern.like is not None and isinstance(value, str)
        else _fits(pattern, value, ground, wide=wide)
        for name, pattern in rule.arguments.items()
        for value in [_value(arguments, name)]
    )


def check_examples(rule: Rule) -> None:
    """Raise `UsageError` when the rule does not mean what its examples say."""
    shell = shell_argument_named(rule.server, rule.tool)
    for given in rule.examples.match:
        if not fits(rule, given, shell):
            raise UsageError(f"The rule does not match its own example {_shown(given)}.", hint=_HINT)
    for given in rule.examples.not_match:
        if fits(rule, given, shell):
            raise UsageError(f"The rule matches {_shown(given)}, which it says it must not.", hint=_HINT)


_HINT = "Change the rule's patterns, or its examples."


def _fits(pattern: Pattern, value: Any, ground: Ground, *, wide: bool) -> bool:
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
        return False  # a path that leaves the folder which the pattern names
    return fnmatchcase(text, pattern.like)


def _is_same(value: Any, wanted: Any, *, wide: bool) -> bool:
    """Whether both are the same JSON: `1`, `1.0` and `true` are not, at any depth. Widely, they are."""
    if wide and value == wanted:
        return True
    try:
        return canonical_json(value) == canonical_json(wanted)
    except (TypeError, ValueError, RecursionError):
        return False  # no JSON; it was never shown to anybody as such


def _fits_command(like: str, command: str, cwd: str, ground: Ground, *, wide: bool) -> bool:
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
    """Word by word; a `*` at the end stands for any further words, or none."""
    if wanted and wanted[-1] == "*":
        wanted, words = wanted[:-1], words[: len(wanted) - 1]
    return len(wanted) == len(words) and all(map(fnmatchcase, words, wanted))


def _value(arguments: Mapping[str, Any], name: str) -> Any:
    value: Any = arguments.get(name, _MISSING)
    if value is not _MISSING or "." not in name:
        return value
    value = arguments
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return _MISSING
        value = value[part]
    return value


def _shown(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False)
