"""Shows what a turn asks of the person, and reads the answer key by key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.cli.colours import paint
from toolcrib.cli.keyboard import ESCAPE, Keyboard
from toolcrib.cli.output import note

Reply = dict[str, Any]
_SCOPES = {"c": "chat", "p": "project", "a": "always"}
_LIFT = "[l] yes, and ask no more about content from outside in this chat"
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
    offered = [key for key, scope in _SCOPES.items() if scope in detail["scopes"]]
    if offered:
        note(f"  always would write: {detail['rules']['always']['allow']}")
    words = {"c": "[c] in this chat", "p": "[p] in this project", "a": "[a] always"}
    choices = [
        "[y] once",
        *(words[key] for key in offered),
        _LIFT if detail["flow"] else "[t] all of this turn",
        "[n] no",
        "[m] no, because…",
    ]
    note("  " + "  ".join(choices))
    while True:
        key = (await keys.key()).lower()
        if key == "y":
            return {"action": "accept", "content": {"scope": "once"}}
        if key in offered:
            return {"action": "accept", "content": {"scope": _SCOPES[key]}}
        if key == "l" and detail["flow"]:
            return {"action": "accept", "content": {"lift": True}}
        if key == "t" and not detail["flow"]:
            return {"action": "accept", "content": {"whole_turn": True}}
        if key == "m":
            return {"action": "decline", "content": {"message": await keys.line("  because: ")}}
        if key in ("n", ESCAPE):
            return _DECLINED


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
