"""Conditions written as text or with the operators of programming languages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from toolcrib.features.workflows.planner.catalog import PlannerCatalog
from toolcrib.features.workflows.planner.draft import PlannedNode, WorkflowDraft

_OPERATORS = {
    "==": "equals",
    "===": "equals",
    "=": "equals",
    "eq": "equals",
    "is": "equals",
    "equal": "equals",
    "!=": "not_equals",
    "<>": "not_equals",
    "ne": "not_equals",
    "not_equal": "not_equals",
    ">": "greater_than",
    "gt": "greater_than",
    "<": "less_than",
    "lt": "less_than",
    ">=": "greater_or_equal",
    "gte": "greater_or_equal",
    "<=": "less_or_equal",
    "lte": "less_or_equal",
    "includes": "contains",
    "empty": "is_empty",
    "not_empty": "is_not_empty",
    "exists": "is_not_empty",
    "regex": "matches",
}
_KEYS = ("condition", "exit_condition")
_VALUE = r"""\{\{[^{}]+\}\}|"[^"]*"|'[^']*'|-?\d+(?:\.\d+)?|true|false|null"""
_WORD = r"===?|!=|<>|>=|<=|[<>]|not contains|contains"
_TEXT = re.compile(rf"\s*({_VALUE})\s*({_WORD})\s*({_VALUE})\s*", re.IGNORECASE)
_EMPTY = re.compile(rf"\s*({_VALUE})\s+is\s+(not\s+)?empty\s*", re.IGNORECASE)


def apply(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    for node in draft.new_nodes():
        for key in _KEYS:
            if key in node.settings:
                node.settings[key] = _condition(draft, node, node.settings[key])
        cases = node.settings.get("cases")
        for case in cases if isinstance(cases, list) else ():
            if isinstance(case, dict) and "condition" in case:
                case["condition"] = _condition(draft, node, case["condition"])


def _condition(draft: WorkflowDraft, node: PlannedNode, given: Any) -> Any:
    if isinstance(given, str):
        return _from_text(draft, node, given)
    if not isinstance(given, Mapping):
        return given
    for key in ("all", "any"):
        if isinstance(given.get(key), list):
            return {**given, key: [_condition(draft, node, inner) for inner in given[key]]}
    if "not" in given:
        return {**given, "not": _condition(draft, node, given["not"])}
    return _with_operator(draft, node, given)


def _with_operator(draft: WorkflowDraft, node: PlannedNode, given: Mapping[str, Any]) -> dict[str, Any]:
    operator = given.get("operator", given.get("op"))
    if not isinstance(operator, str):
        return dict(given)
    plain = re.sub(r"[\s-]+", "_", operator.strip().lower())
    known = _OPERATORS.get(plain, plain)
    if known != operator:
        draft.doubt(node.id, f"The operator {operator[:40]!r} is read as {known}.")
    return {**{key: value for key, value in given.items() if key != "op"}, "operator": known}


def _from_text(draft: WorkflowDraft, node: PlannedNode, text: str) -> Any:
    """A comparison; text of another form is left to validation."""
    empty, compared = _EMPTY.fullmatch(text), _TEXT.fullmatch(text)
    if empty is not None:
        operator = "is_not_empty" if empty[2] else "is_empty"
        read: dict[str, Any] = {"left": _value(empty[1]), "operator": operator}
    elif compared is not None:
        word = compared[2].lower().replace(" ", "_")
        read = {
            "left": _value(compared[1]),
            "operator": _OPERATORS.get(word, word),
            "right": _value(compared[3]),
        }
    else:
        return text
    draft.doubt(node.id, f"The condition {text.strip()[:200]!r} is read as {json.dumps(read)}.")
    return read


def _value(text: str) -> Any:
    if text[0] in "\"'":
        return text[1:-1]
    return text if text.startswith("{{") else json.loads(text.lower())
