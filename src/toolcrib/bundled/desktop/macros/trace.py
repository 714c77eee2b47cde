"""What a macro did: one entry for each action, and the result of a run."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from toolcrib.bundled.desktop.input_actions import kind_of
from toolcrib.bundled.desktop.macros.model import Macro, MacroAction, flatten
from toolcrib.errors import ToolcribError

KEPT = 1_000
"""Entries of one run; older ones are dropped."""
MAX_DESCRIPTION = 200


@dataclass(frozen=True)
class ExecutionLogEntry:
    name: str
    execution_time: float
    """Seconds since 1970."""
    action_index: int
    """The place of the action in its macro, counting nested ones in the order in which they are written."""
    description: str
    success: bool
    error: str
    duration: float


@dataclass(frozen=True)
class ExecutionResult:
    success: bool
    actions_executed: int
    execution_duration: float
    error: str = ""
    log: tuple[ExecutionLogEntry, ...] = ()
    dropped: int = 0
    """Entries that the log no longer has."""


@dataclass(frozen=True)
class ExecutionStep:
    """Reported before each action."""

    current_action: int
    total_actions: int
    elapsed: float
    description: str


OnStep = Callable[[ExecutionStep], None]


@dataclass
class Trace:
    """Collects the entries of one run, also of the macros that it calls."""

    macro: Macro
    on_step: OnStep = lambda step: None
    count: int = 0
    failed: str = ""
    """The first error."""
    started: float = field(default_factory=time.monotonic)
    _entries: deque[ExecutionLogEntry] = field(default_factory=lambda: deque(maxlen=KEPT))

    def __post_init__(self) -> None:
        self._name = f"{self.macro.name}/executions/{uuid.uuid4().hex}"
        self._total = sum(1 for _ in flatten(self.macro.actions))

    @contextlib.contextmanager
    def step(self, action: MacroAction, index: int, name: str) -> Iterator[None]:
        """Record one action; an error is recorded and raised again."""
        self.count += 1
        number, began, moment = self.count, time.monotonic(), time.time()
        description = f"{name}{describe_action(action)}"[:MAX_DESCRIPTION]
        self.on_step(ExecutionStep(number, self._total, began - self.started, description))
        error = ""
        try:
            yield
        except ToolcribError as failure:
            error = failure.message
            self.failed = self.failed or f"{description}: {error}"
            raise
        except BaseException:
            error = "It was stopped."
            raise
        finally:
            entry = ExecutionLogEntry(
                f"{self._name}/logEntries/{number}", moment, index, description,
                not error, error, time.monotonic() - began,
            )  # fmt: skip
            self._entries.append(entry)

    def result(self, error: str = "") -> ExecutionResult:
        failed = error or self.failed
        took = time.monotonic() - self.started
        entries = tuple(sorted(self._entries, key=_number))
        dropped = self.count - len(entries)
        return ExecutionResult(not failed, self.count, took, failed, entries, max(0, dropped))


def describe_action(action: MacroAction) -> str:
    """Its own description, or what it does; never what is typed, which may be private."""
    if action.description:
        return action.description
    if action.input is not None:
        return f"input {kind_of(action.input)}"
    chosen = getattr(action, action.chosen)
    if action.method_call is not None:
        target = action.method_call.args.get("selector", "")
        return f"{action.method_call.method} {target}".strip()
    if action.assign is not None:
        return f"assign {action.assign.variable}"
    inner = getattr(chosen, "chosen", "")
    return f"{action.chosen} {inner}".strip()


def _number(entry: ExecutionLogEntry) -> int:
    return int(entry.name.rpartition("/")[2])
