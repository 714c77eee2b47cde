"""A rule in words, whole and exact: what it says, of which tool, when, where, and for which definition."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.approvals.question import revealed

if TYPE_CHECKING:
    from toolcrib.approvals.rule import Pattern, Rule

_PLAIN = re.compile(r"[\w.@+/-]+")
"""Paths of which nobody could take a part for the words around them."""
HASH_SHOWN = 7
"""Characters of a definition's hash that are shown; enough to compare by eye."""


def rule_words(rule: Rule) -> str:
    """`allow files.write when path is "a.txt" and nothing else`; nothing is cut.

    Places in the person's home are written `~/…`, without the quotes that just these characters would have.
    """
    named = ".".join(part for part in (rule.server, rule.tool) if part)
    bound = [_condition(name, one) for name, one in rule.arguments.items() if not one.any]
    free = [name for name, one in rule.arguments.items() if one.any]
    when = f" when {' and '.join(bound)}" if bound else ""
    if free:
        when += f" with any {' and any '.join(free)}"
    if rule.closed:
        when += " and nothing else" if when else " when it is given nothing"
    return revealed(f"{rule.effect} {named}{when}")


def homely(path: str) -> str | None:
    """A path in the person's home as it is written there; None for others, and for those that need quotes."""
    home = str(Path.home())
    if home == "/" or not path.startswith(f"{home}/") or not _PLAIN.fullmatch(path):
        return None
    return f"~{path[len(home) :]}"


def rule_place(rule: Rule) -> str:
    """Where the rule holds and which definition it speaks of: `project exporter · definition 9f3c1ae`."""
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
