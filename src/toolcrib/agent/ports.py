"""What the agent needs from the world; the host and the store provide it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolcrib.agent.chat import Chat, ChatInfo, Entry
from toolcrib.schema.tools import Principal, Tool, ToolResult
from toolcrib.tools.ports import OnDecided, OnProgress


class Door(Protocol):
    """Where tools are called: the one door of the host."""

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        principal: Principal = ...,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        on_decided: OnDecided | None = None,
    ) -> ToolResult:
        """Run a tool; raises `ToolcribError`. Cancelling the caller cancels the call."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A tool and why it is offered."""

    tool: Tool
    why: str


class Room(Protocol):
    """The tools that there are."""

    def tools(self) -> Sequence[Tool]:
        """All that may be offered now."""

    async def choose(
        self, question: str, *, context: Sequence[str] = (), recent: Sequence[str] = ()
    ) -> tuple[list[Found], str]:
        """Those for a question, and a note on how they were found, mostly empty."""

    async def search(self, query: str, limit: int) -> list[Found]:
        """Those that fit a model's own words best."""


class Chats(Protocol):
    """Where chats are kept."""

    busy: set[str]
    """Those in which a turn is running, of whatever surface."""

    async def create(self, model: str, *, title: str = "", entries: Sequence[Entry] = ()) -> Chat:
        """A new one that begins with these entries."""

    async def load(self, chat: str) -> Chat:
        """One by its id, or by the beginning of it, or `last`; raises `NotFound`."""

    def append(self, chat: str, position: int, entry: Entry) -> None:
        """Keep one more entry; a plain call that does not wait, so that even a cancelled turn is kept."""

    def rewrite(self, chat: str, position: int, mark: str, entry: Entry) -> None:
        """Replace the entry with this mark, or append it when there is none; does not wait either."""

    def change(self, info: ChatInfo) -> None:
        """Keep another title, model or folder."""

    async def flush(self) -> None:
        """Wait until all of it is on disk."""

    async def list(self, limit: int = 50) -> Sequence[ChatInfo]:
        """The latest first."""

    async def fork(self, chat: str, entries: int | None = None) -> Chat:
        """A new chat with the first entries of another."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """Something that a person has to decide."""

    id: str
    about: str
    """call, sampling or elicitation."""
    server: str
    text: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    chat: str = ""


class Person(Protocol):
    """Who is asked, by the gate and on behalf of servers."""

    async def answer(self, question: Question) -> Mapping[str, Any]:
        """`{"action": "accept" | "decline" | "cancel", "content": …}`.

        To a question about a call, `content` may say `scope` (once, chat, project, always), `any_arguments`
        (for the whole tool), `message` (why not), `lift` (tool, turn, session) and `whole_turn`.
        """
