"""Shows approval questions of a turn, and reads the answers key by key: which keys there are (once, in this
chat, in this project, always, no), and which need Enter or a typed confirmation.

The choices appear after a pause in typing: earlier keys are not answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.cli.keyboard import ENTER, ESCAPE, TerminalKeyboard
from toolcrib.cli.output import note, paint
from toolcrib.cli.safe_text import folded, one_line

Reply = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class _Wider:
    """An answer that allows more than the one call."""

    shown: str
    effect: str
    """Completes "to allow it …"."""
    content: Mapping[str, Any]
    word: str = ""
    """Has to be typed to confirm it; if empty, Enter confirms."""

    def reply(self, **more: Any) -> Reply:
        return {"action": "accept", "content": {**self.content, **more}}


_SCOPES = {
    "c": _Wider(shown="in this chat", effect="in this chat", content={"scope": "chat"}),
    "p": _Wider(
        shown="in this project", effect="in this project", content={"scope": "project"}, word="project"
    ),
    "a": _Wider(shown="always", effect="always", content={"scope": "always"}, word="always"),
}
_LIFTS = {
    "l": _Wider(
        shown="yes, and stop asking about untrusted content for this tool",
        effect="and stop asking for this tool",
        content={"lift": "tool"},
    ),
    "u": _Wider(
        shown="… until this answer ends", effect="and stop asking in this answer", content={"lift": "turn"}
    ),
    "s": _Wider(
        shown="… in this chat",
        effect="and stop asking in this chat",
        content={"lift": "session"},
        word="lift",
    ),
}
_TURN = _Wider(
    shown="everything in this turn",
    effect="and everything else until this turn ends",
    content={"whole_turn": True},
)
_NO = ("[n] no", "[m] no, because…", "[Esc] stop")
_DECLINED: Reply = {"action": "decline"}


async def consent(question: Mapping[str, Any], keys: TerminalKeyboard) -> Reply:
    """Ask; anything but a clear yes declines."""
    if question["about"] == "call":
        return await _call(question["detail"], keys)
    if question["about"] == "sampling":
        note(f"{question['text']} It would send:\n{_indented(str(question['detail'].get('asks', '')))}")
        return (
            {"action": "accept"} if await _yes(keys, f"Allow {question['server']} to send it?") else _DECLINED
        )
    return await _elicit(question, keys)


async def _call(detail: Mapping[str, Any], keys: TerminalKeyboard) -> Reply:
    import sys

    note(paint(f"Allow this call?  {folded(detail['call'])}", "yellow", sys.stderr))
    for reason in detail["reasons"]:
        note(f"  {reason}")
    wider = _wider(detail)
    if detail.get("grant"):
        note(f"  In this chat, this allows: {detail['grant']}")
    elif any(key in _SCOPES for key in wider):
        note(f"  Rule to be saved: {detail['rule_words']}")
    note(paint(f"  {_called(detail)}", "yellow", sys.stderr))
    await keys.settle()
    whole = ["[w] any call of this read-only tool…"] if detail.get("tool_rule") else []
    choices = ["[y] once", *(f"[{key}] {choice.shown}" for key, choice in wider.items()), *whole, *_NO]
    while True:
        note("  " + "  ".join(choices))
        reply = await _choice(detail, wider, keys)
        if reply is not None:
            return reply


async def _choice(
    detail: Mapping[str, Any], wider: Mapping[str, _Wider], keys: TerminalKeyboard
) -> Reply | None:
    """The reply for the pressed key; None if it was not confirmed, so that the choices are shown again."""
    while True:
        key = (await keys.key()).lower()
        if key == "y":
            return {"action": "accept", "content": {"scope": "once"}}
        if key in wider:
            return wider[key].reply() if await _confirmed(wider[key], keys) else None
        if key == "w" and detail.get("tool_rule"):
            return await _whole_tool(detail, wider, keys)
        if key == "m":
            because = await keys.line("  because: ")
            return None if because is None else {"action": "decline", "content": {"message": because}}
        if key == ESCAPE:
            keys.stop()
        if key in ("n", ESCAPE):
            return _DECLINED


async def _whole_tool(
    detail: Mapping[str, Any], wider: Mapping[str, _Wider], keys: TerminalKeyboard
) -> Reply | None:
    """Allow every call of the tool; None if it was not confirmed."""
    scopes = {key: choice for key, choice in wider.items() if key in _SCOPES}
    note(f"  Rule to be saved: {detail['tool_rule_words']}")
    note("  " + "  ".join([*(f"[{key}] {choice.shown}" for key, choice in scopes.items()), "[n] no"]))
    while True:
        key = (await keys.key()).lower()
        if key in scopes:
            chosen = scopes[key]
            return chosen.reply(any_arguments=True) if await _confirmed(chosen, keys) else None
        if key in ("n", ESCAPE):
            return None


async def _confirmed(chosen: _Wider, keys: TerminalKeyboard) -> bool:
    """A single key allows one call; anything wider is typed out, or confirmed with Enter."""
    if chosen.word:
        typed = await keys.line(f"  Type {chosen.word} and press Enter to allow it {chosen.effect}: ")
        return (typed or "").lower() == chosen.word
    note(f"  Press Enter to allow it {chosen.effect}.")
    return await keys.key() == ENTER


def _wider(detail: Mapping[str, Any]) -> dict[str, _Wider]:
    """The answers that allow more than this call, by key, narrowest first."""
    scopes = {key: choice for key, choice in _SCOPES.items() if choice.content["scope"] in detail["scopes"]}
    offered = detail.get("lifts", ())
    lifts = {key: choice for key, choice in _LIFTS.items() if choice.content["lift"] in offered}
    return {**scopes, **lifts, **({} if detail["flow"] or detail.get("hazard") else {"t": _TURN})}


async def _elicit(question: Mapping[str, Any], keys: TerminalKeyboard) -> Reply:
    detail = question["detail"]
    note(f"{question['server']} asks: {question['text']}")
    if detail.get("mode") == "url":
        note(f"  {detail.get('url', '')}")
        return {"action": "accept"} if await _yes(keys, "Did you open it?") else _DECLINED
    properties = (detail.get("requestedSchema") or {}).get("properties") or {}
    content: dict[str, Any] = {}
    await keys.settle()
    for name, schema in properties.items():
        typed = await keys.line(f"  {schema.get('title') or schema.get('description') or name}: ")
        if typed is None:
            return _DECLINED
        if typed:
            content[name] = _typed(typed, schema)
    return {"action": "accept", "content": content} if await _yes(keys, "Send this?") else _DECLINED


def _typed(text: str, schema: Mapping[str, Any]) -> Any:
    """The text as the number or boolean that the schema asks for, or unchanged."""
    kind = schema.get("type")
    if kind == "boolean":
        return text.lower() in ("y", "yes", "true", "1")
    try:
        return {"integer": int, "number": float}.get(str(kind), str)(text)
    except ValueError:
        return text


async def _yes(keys: TerminalKeyboard, question: str) -> bool:
    note(question)
    await keys.settle()
    note("  [y/n]")
    while (key := (await keys.key()).lower()) not in ("y", "n", ESCAPE):
        pass
    if key == ESCAPE:
        keys.stop()
    return key == "y"


def _called(detail: Mapping[str, Any]) -> str:
    """Tool and server, beside the choices: a long call has scrolled its own beginning away."""
    server = detail.get("server")
    return f"Tool: {one_line(detail['tool'])}" + (f" of {one_line(server)}" if server else "")


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in folded(text).splitlines())
