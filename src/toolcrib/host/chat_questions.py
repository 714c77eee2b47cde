"""Texts of an approval question: its title (such as asking to send this email), the reason, and the rules
that it offers, in words. The arguments and the diff are from `call_preview.py`.

Adds to what the gate said and changes nothing of it: what is shown is what would run, and what would be
written.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from toolcrib.approvals.facts import code_argument, shell_argument
from toolcrib.approvals.rule import Rule, read_rule
from toolcrib.approvals.rule_text import HASH_SHOWN, rule_place, rule_words
from toolcrib.approvals.verdict import NO_RULE, READ_ONLY_MARK
from toolcrib.host.call_preview import Exhibit, exhibit
from toolcrib.schema.tools import Tool
from toolcrib.tools.names import BORDER

Json = dict[str, Any]
_SENDING = ("send", "post", "publish", "reply", "mail", "message")
_SERVICE_TITLES: Mapping[str, Mapping[str, str]] = {
    "email": {
        "send": "Send this email?",
        "reply": "Send this reply?",
        "draft": "Save this draft?",
        "trash": "Move this email to the trash?",
        "modify": "Change the labels of this email?",
    },
    "event": {
        "create": "Create this event?",
        "update": "Change this event?",
        "delete": "Delete this event?",
    },
    "message": {
        "send": "Send this message?",
        "reply": "Send this reply?",
        "edit": "Change this message?",
        "delete": "Delete this message?",
        "react": "Add this reaction?",
    },
    "screen": {
        "click": "Click here?",
        "type": "Type this?",
        "press": "Press these keys?",
        "scroll": "Scroll here?",
        "drag": "Drag this?",
        "fill": "Fill in this field?",
        "act": "Use this control?",
        "window": "Move or resize this window?",
        "close": "Close this window?",
        "open": "Open this application?",
        "end": "Close this application?",
        "read_clipboard": "Read the clipboard?",
        "write_clipboard": "Change the clipboard?",
        "macro": "Run this macro?",
        "script": "Run this script?",
    },
}
_WITHIN = {"chat": "session", "project": "project"}
_NAMED = re.compile(rf"\b([\w-]+?){BORDER}(\w+)")
"""A tool by its public name, which people read as its server and its own."""


class QuestionWords:
    """Describes questions; `tool_of` finds a tool by its public name, `ours` knows those we ship.

    `sandbox` says what holds commands.
    """

    def __init__(
        self,
        tool_of: Callable[[str], Tool | None],
        ours: Callable[[Tool], bool],
        sandbox: Callable[[], str] = lambda: "",
    ) -> None:
        self._tool_of = tool_of
        self._ours = ours
        self._sandbox = sandbox

    async def described(self, detail: Mapping[str, Any]) -> Json:
        """The gate's question with `title`, `why`, `exhibit`, `definition` and the `words` of every rule."""
        tool = self._tool_of(str(detail.get("tool", "")))
        ours = tool is not None and self._ours(tool)
        folder = str(detail.get("project") or "")
        arguments = detail.get("arguments") or {}
        held = await asyncio.to_thread(self._sandbox) if ours else ""
        shown: Exhibit = detail.get("preview", detail.get("exhibit", {}))
        if not shown:
            shown = await asyncio.to_thread(exhibit, tool, arguments, ours=ours, folder=folder, sandbox=held)
        return {
            **{key: value for key, value in detail.items() if key != "preview"},  # the exhibit has it
            "title": _title(detail, tool, shown, ours=ours),
            "why": _why(detail, tool, shown),
            "exhibit": shown,
            "definition": "" if tool is None else tool.hash[:HASH_SHOWN],
            "words": {} if "grant" in detail else _rules(detail, "rule"),
            "tool_words": _rules(detail, "tool_rule"),
        }


def _title(detail: Mapping[str, Any], tool: Tool | None, shown: Exhibit, *, ours: bool) -> str:
    if detail.get("session_mode"):
        return "Let this chat act without asking until this answer ends?"
    name = str(detail.get("tool", "")) if tool is None else tool.definition.name
    who = str(detail.get("server") or "this chat")
    if tool is not None and shell_argument(tool, ours=ours) is not None:
        return "Let the terminal run this?"
    if tool is not None and code_argument(tool, ours=ours) is not None:
        return "Let this code run?"
    if shown["kind"] == "edit":
        return f"Let {who} {'write' if shown['new'] else 'edit'} this file?"
    if detail.get("grant"):
        return f"{detail['grant']}?"
    if shown["kind"] in _SERVICE_TITLES:
        return _service_title(shown, f"Let {who} run {name}?")
    if detail.get("flow") and any(word in name.lower() for word in _SENDING):
        return "Send this message outside?"
    return f"Let {who} run {name}?"


def _service_title(shown: Exhibit, otherwise: str) -> str:
    title = _SERVICE_TITLES[shown["kind"]].get(shown.get("action", ""), otherwise)
    invited = len(shown.get("attendees", ()))
    if not invited or not shown.get("notify"):
        return title
    return f"{title.removesuffix('?')} and notify {invited} {'person' if invited == 1 else 'people'}?"


def _why(detail: Mapping[str, Any], tool: Tool | None, shown: Exhibit) -> str:
    """The reasons; of a call that is asked about only because no rule is for it, what it does."""
    reasons = [str(reason) for reason in detail.get("reasons", ())]
    if reasons != [NO_RULE]:
        return _NAMED.sub(r"\1 · \2", " ".join(reasons))
    if shown["kind"] == "edit":
        return f"It writes a {'new ' if shown['new'] else ''}file, and no rule allows it yet."
    if tool is not None and tool.definition.read_only:
        return f"{READ_ONLY_MARK}, and no rule allows it yet."
    return "No rule allows it yet."


def _rules(detail: Mapping[str, Any], which: str) -> Json:
    """For each scope that is offered the rule that a yes would write, in words."""
    try:
        rule = read_rule(detail.get(which) or {})
    except ValidationError:
        return {}
    return {scope: _written(rule, scope, detail) for scope in detail.get("scopes", ()) if scope != "once"}


def _written(rule: Rule, scope: str, detail: Mapping[str, Any]) -> Json:
    within = str(detail.get(_WITHIN.get(scope, ""), "") or "")
    written = rule.model_copy(update={"effect": "allow", "scope": scope, "within": within})
    return {"rule": rule_words(written), "place": rule_place(written)}
