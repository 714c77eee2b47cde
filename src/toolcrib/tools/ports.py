"""What the door needs from the world: tool sources, a gate, a recorder, a history; others implement these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolcrib.errors import ToolcribError
from toolcrib.schema.tools import (
    CallRecord,
    DefinitionHistory,
    Origin,
    Outcome,
    Principal,
    Tool,
    ToolCall,
    ToolDefinition,
    ToolResult,
)

OnProgress = Callable[[float, float | None, str | None], None]
"""Called with progress, total and message, as MCP counts them."""


class ToolSource(Protocol):
    """Where tools come from, and what runs them: `tools/sources/<name>.py`."""

    @property
    def id(self) -> str:
        """The name of the source, the same as its module's."""

    @property
    def origin(self) -> Origin:
        """Which tools it runs: those registered with this origin."""

    def tools(self) -> Mapping[str | None, Sequence[Mapping[str, Any]]]:
        """The definitions that exist without asking anyone, by server (None for bare names).

        A source whose tools come and go puts them into the registry itself and returns nothing here.
        """

    def default_timeout(self, tool: Tool) -> float | None:
        """Seconds a call may take when the caller names none; None for no limit."""

    async def call(self, call: ToolCall, on_progress: OnProgress | None) -> ToolResult:
        """Run it; returns the raw MCP result, or raises `ToolcribError`.

        Keeps `call.timeout` (raising `CallTimeout`), and passes a cancellation on to whatever runs. The
        arguments have been checked against the schema and must not be changed. A result may be a dict with
        an attribute `wire_bytes`, its size as received, which saves the door from measuring it.
        """


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What the gate says of one call."""

    allowed: bool
    reason: str = ""
    rule: str | None = None
    """Which rule decided, where one did."""
    noted: Mapping[str, Any] = field(default_factory=dict)
    """What else is written down of it: the mode, and what a person was asked and said."""


OnDecided = Callable[[Decision], None]
"""Told what the gate said of a call, before it runs; a plain call that does not wait."""


class Gate(Protocol):
    """May this call run?"""

    async def check(self, call: ToolCall) -> Decision:
        """Decide, asking a person if need be."""


class Recorder(Protocol):
    """Where calls are written down."""

    def record(self, record: CallRecord) -> None:
        """Take one record; a plain call that does not wait."""


class CallWatch(Protocol):
    """One call that is being measured."""

    def ended(self, outcome: Outcome, ms: float, error: ToolcribError | None) -> None:
        """How it ended, in the task that began it."""


class Telemetry(Protocol):
    """Who is told of calls as they begin; None where nobody measures."""

    def began(self, tool: Tool, principal: Principal) -> CallWatch:
        """A call is under way; a plain call that does not wait."""


class HistoryStore(Protocol):
    """Remembers definitions across restarts."""

    def observe(
        self, server: str | None, seen: Iterable[tuple[ToolDefinition, str]]
    ) -> Mapping[str, DefinitionHistory]:
        """Note a server's definitions with their hashes, all at once; returns the history of each by name.

        A plain call that does not wait: an implementation keeps what it needs at hand and writes later.
        """

    def recall(self, server: str | None) -> Mapping[str, DefinitionHistory]:
        """The histories of a server's tools as they are, by name; notes nothing."""


class PinStore(Protocol):
    """Remembers which definitions a person approved."""

    def held(
        self, server: str, seen: Iterable[tuple[ToolDefinition, str]], *, approve_new: bool
    ) -> Mapping[str, str]:
        """The tools that may not be called, each with the reason, such as "its definition changed since …".

        `approve_new` approves those that were never approved.
        """


class CallSettings(Protocol):
    """The settings that the door reads."""

    @property
    def max_result_bytes(self) -> int:
        """Above this a result is cut."""
