"""Gathers what a model streams into one message: each call gets an id, and an object as its arguments."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolcrib.llm.model import CallMade, Finished
from toolcrib.schema.messages import FromModel, Opaque, StopReason, Text, ToolUse, Usage


@dataclass
class Draft:
    """A call that is still being written."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass
class Gathering:
    """The message as far as it came."""

    parts: list[Text | ToolUse | Opaque] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    reason: StopReason | None = None
    ended: bool = False
    """The answer is complete; a stream that stops before that broke off."""
    over: bool = False
    """Nothing more is to come, so that nobody need wait for it."""
    _ids: set[str] = field(default_factory=set)
    _words: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """More words."""
        self._words.append(text)

    def keep(self, part: Opaque) -> None:
        """Something for the vendor alone."""
        self._settle()
        self.parts.append(part)

    def call(
        self, id_: str, name: str, arguments: object, vendor: Mapping[str, Any] | None = None
    ) -> CallMade:
        """A complete call; `arguments` are JSON, or an object already."""
        self._settle()
        # Some servers give no id, and some the same one twice: answers could not be told apart.
        if not id_ or id_ in self._ids:
            id_ = f"call_{secrets.token_hex(6)}"
        self._ids.add(id_)
        read, broken = read_arguments(arguments)
        use = ToolUse(id=id_, name=name, arguments=read, broken=broken, vendor=dict(vendor or {}))
        self.parts.append(use)
        return CallMade(use)

    def end(self) -> None:
        """Complete, and nothing follows."""
        self.ended = self.over = True

    def finish(self) -> Finished:
        """The whole message."""
        self._settle()
        message = FromModel(parts=tuple(self.parts))
        reason: StopReason = "calls" if message.calls else (self.reason or "end")
        return Finished(message=message, reason=reason, usage=self.usage)

    def _settle(self) -> None:
        if self._words:
            self.parts.append(Text("".join(self._words)))
            self._words = []


def read_arguments(arguments: object) -> tuple[dict[str, Any], str | None]:
    """The arguments as an object, or none and what was written instead."""
    if isinstance(arguments, dict):
        return arguments, None
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return {}, None
    try:
        found = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return {}, str(arguments)
    if found is None:
        return {}, None
    if isinstance(found, str):  # An object inside a string: seen with small models.
        return read_arguments_once(found)
    return (found, None) if isinstance(found, dict) else ({}, str(arguments))


def read_arguments_once(text: str) -> tuple[dict[str, Any], str | None]:
    """The same for JSON that stood inside a JSON string, and no deeper."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    return (found, None) if isinstance(found, dict) else ({}, text)
