"""What the agent needs: a caller and a finder of tools, a store for chats, a user to ask; the host and the
store implement it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolcrib.agent.chat import Chat, ChatMetadata, Entry
from toolcrib.schema.tools import Principal, Tool, ToolResult
from toolcrib.tools.ports import OnDecided, OnProgress


class ToolCaller(Protocol):
    """Calls tools; `tools.caller.Caller` implements it."""

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
class FoundTool:
    """A tool and why it is offered."""

    tool: Tool
    why: str


class ToolFinder(Protocol):
    """Finds tools to offer."""

    def tools(self) -> Sequence[Tool]:
        """All tools that may be offered."""

    async def choose(
        self, question: str, *, context: Sequence[str] = (), recent: Sequence[str] = ()
    ) -> tuple[list[FoundTool], str]:
        """The tools for a question, and a note on the search, mostly empty."""

    async def search(self, query: str, limit: int) -> list[FoundTool]:
        """The tools that match a model's query best."""


class ChatStore(Protocol):
    busy: set[str]
    """Chats with a running turn, on any surface."""

    async def create(self, model: str, *, title: str = "", entries: Sequence[Entry] = ()) -> Chat:
        """A new chat that begins with these entries."""

    async def load(self, chat: str) -> Chat:
        """A chat by its id, the beginning of its id, or `last`; raises `NotFound`."""

    def append(self, chat: str, position: int, entry: Entry) -> None:
        """Add an entry; does not wait, so that even a cancelled turn is stored."""

    def rewrite(self, chat: str, position: int, mark: str, entry: Entry) -> None:
        """Replace the entry with this mark, or append it if missing; does not wait."""

    def change(self, info: ChatMetadata) -> None:
        """Store another title, model or folder."""

    async def flush(self) -> None:
        """Wait until everything is on disk."""

    async def list(self, limit: int = 50) -> Sequence[ChatMetadata]:
        """The latest first."""

    async def fork(self, chat: str, entries: int | None = None) -> Chat:
        """A new chat with the first entries of another."""


@dataclass(frozen=True, kw_only=True)
class AgentQuestion:
    """A question that the user has to answer."""

    id: str
    about: str
    """call, sampling or elicitation."""
    server: str
    text: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    chat: str = ""


class User(Protocol):
    """Answers questions of the gate and of servers."""

    async def answer(self, question: AgentQuestion) -> Mapping[str, Any]:
        """`{"action": "accept" | "decline" | "cancel", "content": …}`.

        To a question about a call, `content` may say `scope` (once, chat, project, always), `any_arguments`
        (for the whole tool), `message` (why not), `lift` (tool, turn, session) and `whole_turn`.
        """
