"""Asks before a call changes files that make programs run, or reads or changes Toolcrib's own files. The list
of the former is in `serverkit/confined/protected.py`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from toolcrib.approvals.facts import Facts, code_argument, shell_argument
from toolcrib.approvals.paths import at_home, lies_in
from toolcrib.schema.approvals import RuleResult
from toolcrib.schema.tools import ToolCall
from toolcrib.serverkit.confined.protected import protected_part
from toolcrib.serverkit.own_places import folded

_MOST_VALUES = 1000
_LONGEST_PATH = 4096


def check(call: ToolCall, facts: Facts) -> RuleResult | None:
    """Ask for a call that names such a file; our own reading tools refuse Toolcrib's files themselves."""
    reads = call.tool.definition.read_only
    if facts.ours and (reads or shell_argument(call.tool, ours=True) or code_argument(call.tool, ours=True)):
        return None  # decided by the rules for commands and code
    for value in _strings(call.arguments):
        if "." not in value and "/" not in value and "_" not in value:
            continue  # every protected name contains one of these, and most values do not
        found = _own(value, facts) if reads else _protected(value, facts)
        if found:
            does = (
                "belongs to Toolcrib and may hold secrets" if reads else "controls what runs on this machine"
            )
            return RuleResult(effect="ask", rule="protected_files", reason=f"{found} {does}.")
    return None


def _protected(value: str, facts: Facts) -> str:
    if not _may_be_path(value):
        return ""
    path = os.path.normpath(value.removeprefix("file://"))
    part = protected_part([name for name in path.split("/") if name not in ("", "..")])
    return part if part is not None else _own(value, facts)


def _own(value: str, facts: Facts) -> str:
    """The place of Toolcrib that the value leads to, as written or through links."""
    if not _may_be_path(value) or "/" not in value:
        return ""
    path = os.path.normpath(os.path.join(facts.project, at_home(value.removeprefix("file://"))))  # noqa: PTH118
    real = facts.disk.real(path) if facts.disk is not None and path.startswith("/") else None
    plain = folded(path)
    routes = (plain,) if real is None or real == path else (plain, folded(real))
    places = _places(facts.protected)
    return next((own for own, place in places for route in routes if lies_in(route, place)), "")


@lru_cache(maxsize=8)
def _places(protected: tuple[Path, ...]) -> tuple[tuple[str, str], ...]:
    """As texts: this is part of every call."""
    return tuple((str(own), folded(str(own))) for own in protected)


def _may_be_path(value: str) -> bool:
    return len(value) <= _LONGEST_PATH and "\n" not in value and "\0" not in value


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
