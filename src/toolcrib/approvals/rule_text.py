"""Rules as text, complete and exact: the sentence that users see, paths as `~/…`, and the hidden characters
that are escaped.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolcrib.approvals.rule import Pattern, Rule

_HIDING = re.compile(
    r"[\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    r"\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_PLAIN = re.compile(r"[\w.@+/-]+")
"""Paths that need no quotes."""
HASH_SHOWN = 7
"""Characters shown of a definition's hash."""


def rule_words(rule: Rule) -> str:
    """`allow files.write when path is "a.txt" and nothing else`; nothing is cut.

    Paths in the user's home are written `~/…` without quotes.
    """
    named = ".".join(part for part in (rule.server, rule.tool) if part)
    bound = [_condition(name, condition) for name, condition in rule.arguments.items() if not condition.any]
    free = [name for name, condition in rule.arguments.items() if condition.any]
    when = f" when {' and '.join(bound)}" if bound else ""
    if free:
        when += f" with any {' and any '.join(free)}"
    if rule.closed:
        when += " and nothing else" if when else " without arguments"
    return revealed(f"{rule.effect} {named}{when}")


def homely(path: str) -> str | None:
    """A path in the user's home as `~/…`; None for others, and if it needs quotes."""
    home = str(Path.home())
    if home == "/" or not path.startswith(f"{home}/") or not _PLAIN.fullmatch(path):
        return None
    return f"~{path[len(home) :]}"


def rule_place(rule: Rule) -> str:
    """Where the rule applies and to which definition: `project exporter · definition 9f3c1ae`."""
    places = {"chat": "this chat", "project": f"project {Path(rule.within).name or rule.within}"}
    parts = [places.get(rule.scope, "everywhere")]
    if rule.definition:
        parts.append(f"definition {rule.definition[:HASH_SHOWN]}")
    return revealed(" · ".join(parts))


def _condition(name: str, pattern: Pattern) -> str:
    if pattern.under is not None:
        return f"{name} in {_all_of(pattern.under)}"
    if pattern.like is not None:
        return f"{name} is like {json.dumps(pattern.like, ensure_ascii=False)}"
    value = pattern.equals
    known = homely(value) if isinstance(value, str) else None
    return f"{name} is {known or json.dumps(value, ensure_ascii=False)}"


def _all_of(folder: str) -> str:
    whole = f"{folder.rstrip('/')}/**"
    known = homely(folder)
    if known is not None:
        return f"{known}/**"
    return whole if _PLAIN.fullmatch(folder) else json.dumps(whole, ensure_ascii=False)


def rule_text(rule: Rule) -> str:
    """The rule as JSON, with hidden characters escaped."""
    return revealed(json.dumps(rule.as_json(), ensure_ascii=False))


def revealed(text: str) -> str:
    """JSON text with every character that could hide or rearrange others escaped; still the same JSON."""
    return _HIDING.sub(lambda match: json.dumps(match.group())[1:-1], text)
