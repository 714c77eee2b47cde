"""Shows what a turn asks of the person, and reads the answer key by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.cli.colours import paint
from toolcrib.cli.keyboard import ESCAPE, Keyboard
from toolcrib.cli.output import note

Reply = dict[str, Any]
_SCOPES = {"c": ("chat", "in this chat"), "p": ("project", "in this project"), "a": ("always", "always")}
_LIFTS = {
    "l": ("tool", "yes, and ask no more about content from outside for this tool"),
    "u": ("turn", "… until this answer ends"),
    "s": ("session", "… in this chat"),
}
_DECLINED: Reply = {"action": "decline"}


async def consent(question: Mapping[str, Any], keys: Keyboard) -> Reply:
    """Ask; whatever is not a clear yes is a no."""
    if question["about"] == "call":
        return await _call(question["detail"], keys)
    if question["about"] == "sampling":
        note(f"{question['text']} It would ask:\n{_indented(str(question['detail'].get('asks', '')))}")
        return {"action": "accept"} if await _yes(keys, "Let it?") else _DECLINED
    return await _elicit(question, keys)


async def _call(detail: Mapping[str, Any], keys: Keyboard) -> Reply:
    import sys

    note(paint(f"May this run?  {detail['call']}", "yellow", sys.stderr))
    for reason in detail["reasons"]:
        note(f"  {reason}")
    answers = _answers(detail)
    scopes = [key for key in answers if key in _SCOPES]
    if scopes:
        note(f"  a rule would say: {detail['rule_words']}")
    note("  " + "  ".join(f"[{key}] {answer.shown}" for key, answer in answers.items()))
    while True:
        key = (await keys.key()).lower()
        if key == "w" and key in answers:
            note(f"  a rule would say: {detail['tool_rule_words']}")
            note("  " + "  ".join(f"[{scope}] {_SCOPES[scope][1]}" for scope in scopes) + "  [n] no")
            answers = {one: answers[one].for_the_tool() for one in scopes} | {"n": answers["n"]}
        elif key == "m" and key in answers:
            return {"action": "decline", "content": {"message": await keys.line("  because: ")}}
        elif key in answers:
            return answers[key].reply
        elif key == ESCAPE:
            return _DECLINED


@dataclass(frozen=True)
class _Answer:
    """What a key says."""

    shown: str
    reply: Reply

    def for_the_tool(self) -> _Answer:
        """The same for every call of the tool."""
        content = {**self.reply["content"], "any_arguments": True}
        return _Answer(self.shown, {**self.reply, "content": content})


def _answers(detail: Mapping[str, Any]) -> dict[str, _Answer]:
    """The keys that this question offers, in the order in which they are shown; the narrowest yes first."""
    answers = {"y": _Answer("once", _accepted(scope="once"))}
    for key, (scope, shown) in _SCOPES.items():
        if scope in detail["scopes"]:
            answers[key] = _Answer(shown, _accepted(scope=scope))
    if detail.get("tool_rule"):
        answers["w"] = _Answer("any call of this tool, which only reads…", {})
    for key, (lift, shown) in _LIFTS.items():
        if lift in detail.get("lifts", ()):
            answers[key] = _Answer(shown, _accepted(lift=lift))
    if not detail["flow"]:
        answers["t"] = _Answer("all of this turn", _accepted(whole_turn=True))
    return answers | {"n": _Answer("no", _DECLINED), "m": _Answer("no, because…", {})}


def _accepted(**content: Any) -> Reply:
    return {"action": "accept", "content": content}


async def _elicit(question: Mapping[str, Any], keys: Keyboard) -> Reply:
    detail = question["detail"]
    note(f"{question['server']} asks: {question['text']}")
    if detail.get("mode") == "url":
        note(f"  {detail.get('url', '')}")
        return {"action": "accept"} if await _yes(keys, "Did you open it?") else _DECLINED
    properties = (detail.get("requestedSchema") or {}).get("properties") or {}
    content: dict[str, Any] = {}
    for name, schema in properties.items():
        typed = await keys.line(f"  {schema.get('title') or schema.get('description') or name}: ")
        if typed:
            content[name] = _typed(typed, schema)
    return {"action": "accept", "content": content} if await _yes(keys, "Send this?") else _DECLINED


def _typed(text: str, schema: Mapping[str, Any]) -> Any:
    """A number or a yes where the schema wants one; else the text as it is."""
    kind = schema.get("type")
    if kind == "boolean":
        return text.lower() in ("y", "yes", "true", "1")
    try:
        return {"integer": int, "number": float}.get(str(kind), str)(text)
    except ValueError:
        return text


async def _yes(keys: Keyboard, question: str) -> bool:
    note(f"{question} [y/n]")
    while (key := (await keys.key()).lower()) not in ("y", "n", ESCAPE):
        pass
    return key == "y"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines()[:40])
