"""The events of a running turn, kept for clients that come later, and the turn that they make.

Compressed: consecutive events of one text are one event, and each call keeps its latest progress.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolcrib.chats.reducer import apply
from toolcrib.chats.turn import Turn

Json = dict[str, Any]
_WORDS = ("text", "thinking")


class EventLog:
    """The events of one turn. Finds the call that each question is about."""

    def __init__(self) -> None:
        self.turn = Turn()
        self._events: list[Json] = []
        self._progress: dict[str, Json] = {}

    def add(self, event: Json) -> Json:
        """Keep an event; returns it as it is sent, a question with the call that it is about."""
        if event["event"] == "asking":
            event = {**event, "call": self._call_of(event)}
        apply(self.turn, event)
        self._keep(event)
        return event

    def events(self) -> list[Json]:
        """All of them, in order."""
        return [dict(event) for event in self._events]

    def has_question(self, question: str) -> bool:
        """Whether this question is open."""
        return any(asking["id"] == question for asking in self.turn.open_questions)

    def _keep(self, event: Json) -> None:
        kind = event["event"]
        last = self._events[-1] if self._events else None
        if kind in _WORDS and last is not None and last["event"] == kind:
            last["text"] += event["text"]
            return
        if kind == "progress" and event["id"] in self._progress:
            self._progress[event["id"]].update(event)
            return
        kept = dict(event)
        if kind == "progress":
            self._progress[event["id"]] = kept
        self._events.append(kept)

    def _call_of(self, asking: Mapping[str, Any]) -> str | None:
        """The running call that a question is about: the same tool and arguments, or the same server."""
        free = [call for call in self.turn.calls if call.begun and call.unfinished and call.asking is None]
        if asking["about"] != "call":
            return next((call.id for call in free if call.server == asking["server"]), None)
        wanted = _same(asking["detail"].get("tool"), asking["detail"].get("arguments"))
        return next((call.id for call in free if _same(call.tool, call.arguments) == wanted), None)


def _same(tool: Any, arguments: Any) -> tuple[str, str]:
    return str(tool), json.dumps(arguments, sort_keys=True, default=str)
