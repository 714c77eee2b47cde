"""Asks before a call changes files that make programs run, or Toolcrib's own files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from toolcrib.approvals.facts import Facts, code_argument, shell_argument
from toolcrib.schema.approvals import RuleResult
from toolcrib.schema.tools import ToolCall
from toolcrib.serverkit.confined.protected import protected_part

_MOST_VALUES = 1000
_LONGEST_PATH = 4096


def check(call: ToolCall, facts: Facts) -> RuleResult | None:
    """Ask for a call that names such a file and is not declared read-only."""
    if call.tool.definition.read_only:
        return None
    if facts.ours and (shell_argument(call.tool, ours=True) or code_argument(call.tool, ours=True)):
        return None  # decided by the rules for commands and code
    for value in _strings(call.arguments):
        if "." not in value and "/" not in value and "_" not in value:
            continue  # every protected name contains one of these, and most values do not
        found = _protected(value, facts)
        if found:
            reason = f"{found} controls what runs on this machine."
            return RuleResult(effect="ask", rule="protected_files", reason=reason)
    return None


def _protected(value: str, facts: Facts) -> str:
    if len(value) > _LONGEST_PATH or "\n" in value or "\0" in value:
        return ""
    path = os.path.normpath(value.removeprefix("file://"))
    part = protected_part([name for name in path.split("/") if name not in ("", "..")])
    if part is not None:
        return part
    return next((own for own in map(str, facts.protected) if path == own or path.startswith(f"{own}/")), "")


def _strings(arguments: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    left, seen = list(arguments.values()), 0
    while left and seen < _MOST_VALUES:
        value = left.pop()
        seen += 1
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            left.extend(value.values())
        elif isinstance(value, list | tuple):
            left.extend(value)
    return found
