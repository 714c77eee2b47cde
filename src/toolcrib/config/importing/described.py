"""A server as a document describes it: the entry with marks, and what is to be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from toolcrib.config.importing.questions import Question


@dataclass(frozen=True, kw_only=True)
class Described:
    """One server."""

    name: str
    entry: dict[str, Any]
    questions: Mapping[str, Question] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Format(Protocol):
    """What a module of `importing/formats` offers."""

    title: str

    def matches(self, data: Mapping[str, Any]) -> bool:
        """Whether a document is of this kind."""

    def read(self, data: Mapping[str, Any], file: Path) -> Described:
        """The server that it describes; raises `NotAServer`."""
