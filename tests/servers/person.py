"""A person, a model and some folders behind the hooks, and what a server may ask of them."""

from __future__ import annotations

from typing import Any

from toolcrib.servers.sessions.handlers import Handlers

DONE = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}

FORM = {"mode": "form", "message": "Your name?", "requestedSchema": {"type": "object", "x-kept": 1}}
URL = {"mode": "url", "message": "Sign in", "url": "https://example.com/x", "elicitationId": "e1"}
SAMPLE = {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 5}
ROOTS = {"roots": [{"uri": "file:///a", "name": "A"}]}


class Person:
    """Answers everything, and remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, Any]]] = []

    async def sample(self, server: str, params: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(("sample", server, params))
        return {"role": "assistant", "content": {"type": "text", "text": "hello"}, "model": "m"}

    async def elicit(self, server: str, params: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(("elicit", server, params))
        if params.get("mode") == "url":
            return {"action": "accept"}
        return {"action": "accept", "content": {"name": "Ada"}}

    async def roots(self, server: str, params: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(("roots", server, params))
        return ROOTS

    def handlers(self) -> Handlers:
        return Handlers(sample=self.sample, elicit=self.elicit, roots=self.roots)
