"""Keeps what a turn told, folded: words of one text together, of a tool's progress only the last."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
_WORDS = frozenset({"text", "thinking"})


class Folded:
    """The news of one turn. Finds for each question the call that it is about."""

    def __init__(self) -> None:
        self._events: list[Json] = []
        self._moved: dict[str, Json] = {}
        self._calls: dict[str, Json] = {}
        """Calls under way, by id."""
        self._asking: dict[str, Json] = {}

    def add(self, event: Json) -> Json:
        """Keep one more; returns it as it is told, a question with the call that it is about."""
        kind = event["event"]
        if kind == "asking":
            event = {**event, "call": self._call_of(event)}
            self._asking[event["id"]] = event
        elif kind == "answered":
            self._asking.pop(event["id"], None)
        elif kind == "call":
            self._calls[event["id"]] = event
        elif kind == "result":
            self._ended(event["id"])
        elif kind == "ended":
            self._asking.clear()
        self._keep(event)
        return event

    def events(self) -> list[Json]:
        """All of it, in order."""
        return [dict(one) for one in self._events]

    def asks(self, question: str) -> bool:
        """Whether this question is open."""
        return question in self._asking

    @property
    def open_questions(self) -> int:
        """How many wait for an answer."""
        return len(self._asking)

    def _keep(self, event: Json) -> None:
        kind = event["event"]
        last = self._events[-1] if self._events else None
        if kind in _WORDS and last is not None and last["event"] == kind:
            last["text"] += event["text"]
            return
        if kind == "progress":
            known = self._moved.get(event["id"])
            if known is not None:
                known.update(event)
                return
        kept = dict(event)
        if kind == "progress":
            self._moved[event["id"]] = kept
        self._events.append(kept)

    def _ended(self, call: str) -> None:
        self._calls.pop(call, None)
        for question in [one["id"] for one in self._asking.values() if one["call"] == call]:
            del self._asking[question]

    def _call_of(self, asking: Mapping[str, Any]) -> str | None:
        """The call under way that a question is about: the same tool and arguments, or the same server."""
        taken = {one["call"] for one in self._asking.values()}
        free = [call for call in self._calls.values() if call["id"] not in taken]
        if asking.get("about") != "call":
            return next((call["id"] for call in free if call.get("server") == asking.get("server")), None)
        detail = asking.get("detail") or {}
        wanted = _same(detail)
        return next((call["id"] for call in free if _same(call) == wanted), None)


def _same(call: Mapping[str, Any]) -> tuple[str, str]:
    return str(call.get("tool")), json.dumps(call.get("arguments"), sort_keys=True, default=str)
