"""Runs and their steps as they are shown: read from what the engine has recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from toolcrib.graph.walk import RunDecision
from toolcrib.schema.workflows import RunState, StepState, Workflow

FINAL: frozenset[RunState] = frozenset({"finished", "failed", "cancelled"})


def belongs_to(run: str | None, whole: str) -> bool:
    """Whether this is the run `whole` or a part of it."""
    return run is not None and (run == whole or run.startswith(f"{whole}/"))


def with_parents(run: str) -> list[str]:
    """The run and those that it is part of, the outermost first."""
    parts = run.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def path_in(run: str, whole: str) -> str:
    """The prefix of the steps of a part, as the whole run names them: `each[0]/`; empty for itself."""
    return f"{run[len(whole) + 1 :]}/" if run != whole else ""


@dataclass(frozen=True, kw_only=True)
class RunQuestion:
    """Something that a run waits for the user to answer."""

    run: str
    step: str
    """With the steps that lead to it, if an item of a map or a sub-workflow asks: `each[0]/read`."""
    asked_by: str
    """The run that has the step: this one or a sub-workflow of it."""
    text: str
    choices: tuple[str, ...]
    fields: Mapping[str, Any] = field(default_factory=dict)
    shown: Mapping[str, Any] = field(default_factory=dict)
    picture: str | None = None
    asked: datetime
    deadline: datetime | None = None
    uncertain: bool = False
    """Whether a step that was interrupted should run again."""


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """A run and its state."""

    run: str
    workflow: str
    state: RunState
    created: datetime
    ended: datetime | None = None
    outputs: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    parent: str | None = None
    from_run: str | None = None
    """The run whose recorded steps it took over."""
    worker: str | None = None
    questions: tuple[RunQuestion, ...] = ()
    paused_at: tuple[str, ...] = ()
    """The steps before which it is paused."""


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """A visit of a node, in a run."""

    step: str
    node: str
    type: str
    state: StepState
    attempts: int = 0
    started: datetime | None = None
    ended: datetime | None = None
    error: Mapping[str, Any] | None = None
    reused: bool = False
    """Taken over from an earlier run."""
    trace: Mapping[str, Any] = field(default_factory=dict)
    """Everything that was recorded; empty while it runs."""


@dataclass(frozen=True, kw_only=True)
class RunPath:
    """The way that a run took so far."""

    steps: Sequence[StepRecord]
    """In the order in which they began."""
    decisions: Sequence[RunDecision]


@dataclass(frozen=True, kw_only=True)
class RunStart:
    """What a run was started with; secret inputs are masked."""

    workflow: Workflow
    inputs: Mapping[str, Any]
