"""What `Caller` needs: tool sources, a gate, a recorder and stores for definitions and approvals; others
implement these protocols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolcrib.schema.tools import (
    CallRecord,
    DefinitionHistory,
    Origin,
    Tool,
    ToolCall,
    ToolDefinition,
    ToolResult,
)

OnProgress = Callable[[float, float | None, str | None], None]
"""Called with progress, total and message, as in MCP."""


class ToolSource(Protocol):
    """Provides tools and runs them: `tools/sources/<name>.py`."""

    @property
    def id(self) -> str:
        """The same as the module's name."""

    @property
    def origin(self) -> Origin:
        """Runs the tools registered with this origin."""

    def tools(self) -> Mapping[str | None, Sequence[Mapping[str, Any]]]:
        """The definitions known without asking a server, by server (None for bare names).

        A source whose tools come and go puts them into the registry itself and returns nothing here.
        """

    def default_timeout(self, tool: Tool) -> float | None:
        """Seconds a call may take if the caller sets no timeout; None for no limit."""

    async def call(self, call: ToolCall, on_progress: OnProgress | None) -> ToolResult:
        """Run the tool; returns the raw MCP result, or raises `ToolcribError`.

        Applies `call.timeout` (raising `CallTimeout`) and passes a cancellation on. The arguments are
        validated and must not be changed. A result may be a dict with an attribute `wire_bytes`, its size as
        received, which saves measuring it.
        """


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The gate's decision about one call."""

    allowed: bool
    reason: str = ""
    rule: str | None = None
    """The rule that decided, if any."""
    noted: Mapping[str, Any] = field(default_factory=dict)
    """Further facts for the record: the mode, and what the user was asked and answered."""
    on_result: Callable[[ToolResult], None] | None = None
    """Called with the result of the call; must not block."""


OnDecided = Callable[[Decision], None]
"""Called with the decision before the call runs; must not block."""


class CallGate(Protocol):
    """Decides whether a call may run."""

    async def check(self, call: ToolCall) -> Decision:
        """Decide, asking the user if necessary."""


class Recorder(Protocol):
    def record(self, record: CallRecord) -> None:
        """Must not block."""


class HistoryStore(Protocol):
    """Stores definitions across restarts."""

    def observe(
        self, server: str | None, seen: Iterable[tuple[ToolDefinition, str]]
    ) -> Mapping[str, DefinitionHistory]:
        """Note a server's definitions with their hashes; returns the history of each by name.

        Must not block: implementations keep their data in memory and write later.
        """

    def recall(self, server: str | None) -> Mapping[str, DefinitionHistory]:
        """The stored histories of a server's tools, by name."""


class DefinitionScreen(Protocol):
    """Checks definitions that were never approved."""

    def __call__(self, server: str, new: Sequence[tuple[ToolDefinition, str]]) -> Mapping[str, str]:
        """The tools that the user has to review first, each with the reason."""


class PinStore(Protocol):
    """Stores which definitions the user approved."""

    def held(
        self,
        server: str,
        seen: Iterable[tuple[ToolDefinition, str]],
        *,
        approve_new: bool,
        screen: DefinitionScreen | None = None,
    ) -> Mapping[str, str]:
        """The tools that may not be called, each with the reason, such as "its definition changed since …".

        `approve_new` approves tools that were never approved, except those that `screen` holds.
        """
