"""Shell commands: read-only ones run, destructive ones are denied, others ask."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.approvals.facts import Facts, shell_argument
from toolcrib.approvals.paths import at_home, lies_in
from toolcrib.schema.approvals import RuleResult
from toolcrib.schema.tools import ToolCall

if TYPE_CHECKING:
    from toolcrib.serverkit.shell import Verdict


_NO_FILES = ("/dev/", "/proc/")
"""Links are not followed there; the verdict knows which of these paths are harmless."""


def check(call: ToolCall, facts: Facts) -> RuleResult | None:
    """The result of the command check."""
    argument = shell_argument(call.tool, ours=facts.ours)
    if argument is None:
        return None
    from toolcrib.serverkit.shell import judge

    cwd = str(call.arguments.get("cwd") or "")
    verdict = judge(str(call.arguments.get(argument, "")), cwd, facts.project)
    if verdict.kind == "destructive":
        return RuleResult(effect="deny", rule="shell", reason=verdict.reason)
    if verdict.kind == "unknown":
        return RuleResult(effect="ask", rule="shell", reason=verdict.reason)
    private = next(_private(verdict, facts), None)
    if private is not None:
        reason = f"{private} leads to a folder with secrets."
        return RuleResult(effect="ask", rule="shell", reason=reason)
    return RuleResult(effect="allow", rule="shell", reason=verdict.reason, reads=True)


def _private(verdict: Verdict, facts: Facts) -> Iterator[str]:
    """Paths that lead through links to private files or to Toolcrib's own."""
    if facts.disk is None:
        return
    for path in (*verdict.paths, *verdict.trees):
        place = os.path.normpath(Path(facts.project, at_home(path)))
        if place.startswith("/") and not place.startswith(_NO_FILES):
            real = facts.disk.real(place)
            if real is None or _is_private(real, place, facts.protected, tree=path in verdict.trees):
                yield path


def _is_private(real: str, place: str, own: Sequence[Path], *, tree: bool) -> bool:
    from toolcrib.serverkit.secret_places import is_secret_path

    if any(lies_in(real, str(folder)) or (tree and lies_in(str(folder), real)) for folder in own):
        return True
    return real != place and is_secret_path(real)
