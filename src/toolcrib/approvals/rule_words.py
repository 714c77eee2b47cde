"""A rule in words, whole and exact: what it says, of which tool, when, where, and for which definition."""

from __future__ import annotations

import json
from pathlib import Path

from toolcrib.approvals.question import revealed
from toolcrib.approvals.rule import Pattern, Rule

HASH_SHOWN = 7
"""Characters of a definition's hash that are shown; enough to compare by eye."""


def rule_words(rule: Rule) -> str:
    """`allow files.write when path is "a.txt" and nothing else`; nothing is cut."""
    named = ".".join(part for part in (rule.server, rule.tool) if part)
    conditions = [_condition(name, pattern) for name, pattern in rule.arguments.items()]
    if rule.closed:
        conditions.append("nothing else" if conditions else "it is given nothing")
    when = f" when {' and '.join(conditions)}" if conditions else ""
    return revealed(f"{rule.effect} {named}{when}")


def rule_place(rule: Rule) -> str:
    """Where the rule holds and which definition it speaks of: `project exporter · definition 9f3c1ae`."""
    places = {"chat": "this chat", "project": f"project {Path(rule.within).name or rule.within}"}
    parts = [places.get(rule.scope, "everywhere")]
    if rule.definition:
        parts.append(f"definition {rule.definition[:HASH_SHOWN]}")
    return revealed(" · ".join(parts))


def _condition(name: str, pattern: Pattern) -> str:
    if pattern.exact:
        return f"{name} is {json.dumps(pattern.equals, ensure_ascii=False)}"
    return f"{name} is like {json.dumps(pattern.like, ensure_ascii=False)}"
