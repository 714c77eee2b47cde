"""Runs of workflows as results of operations: their state, their steps and what each step did; which
differences a comparison of two runs shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from typing_extensions import TypedDict

from toolcrib.features.workflows.records import RunPath, RunQuestion, RunRecord, RunStart, StepRecord
from toolcrib.features.workflows.results.lines import result_line
from toolcrib.graph.walk import RunDecision
from toolcrib.schema.failures import FailureText
from toolcrib.schema.json_values import moment
from toolcrib.schema.workflows import RunState, StepState, Workflow

__all__ = ["RunState", "StepState"]


class StepComparison(TypedDict):
    """One step in two runs."""

    step: str
    node: str
    type: str
    a: StepShown | None
    b: StepShown | None
    differences: list[str]
    """What differs: state, output, inputs, value, error; empty if nothing."""


class RunComparison(TypedDict):
    """Two runs step by step."""

    a: RunSummary
    b: RunSummary
    inputs: list[str]
    """The names of inputs that differ."""
    outputs: list[str]
    steps: list[StepComparison]


COMPARED = ("state", "output", "inputs", "value", "error")


@dataclass(frozen=True)
class ComparedRun:
    run: RunRecord
    inputs: Mapping[str, Any]
    steps: Sequence[StepRecord]


def compare_runs(a: ComparedRun, b: ComparedRun) -> RunComparison:
    in_a, in_b = _by_step(a.steps), _by_step(b.steps)
    steps = dict.fromkeys([*in_a, *in_b])
    return {
        "a": run_summary(a.run),
        "b": run_summary(b.run),
        "inputs": _differing(a.inputs, b.inputs),
        "outputs": _differing(a.run.outputs or {}, b.run.outputs or {}),
        "steps": [_compared(step, in_a.get(step), in_b.get(step)) for step in steps],
    }


def _by_step(steps: Sequence[StepRecord]) -> dict[str, StepRecord]:
    return {step.step: step for step in steps}


def _differing(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    return sorted(key for key in {*a, *b} if a.get(key) != b.get(key) or (key in a) != (key in b))


def _compared(step: str, a: StepRecord | None, b: StepRecord | None) -> StepComparison:
    known = a or b
    assert known is not None
    return {
        "step": step,
        "node": known.node,
        "type": known.type,
        "a": None if a is None else step_json(a),
        "b": None if b is None else step_json(b),
        "differences": [] if a is None or b is None else _differences(a, b),
    }


def _differences(a: StepRecord, b: StepRecord) -> list[str]:
    both = [{"state": step.state, "error": step.error, **step.trace} for step in (a, b)]
    return [key for key in COMPARED if both[0].get(key) != both[1].get(key)]


class StepFailure(FailureText):
    """Why a step or a run failed."""


class RunResult(TypedDict):
    """How a run ended, or its current state if the caller does not wait for the end."""

    run: str
    state: RunState
    outputs: dict[str, Any] | None
    error: StepFailure | None


class RunSummary(TypedDict):
    """A run in the list."""

    run: str
    workflow: str
    state: RunState
    started: str
    ended: str | None
    error: StepFailure | None
    parent: str | None
    """The run that started it, or that it repeats from a node."""


class RunList(TypedDict):
    """Runs, the latest first."""

    runs: list[RunSummary]
    more: bool
    failed_starts: int
    """Starts by triggers that failed, and that are no runs; `workflow_triggers` has them."""


class StepShown(TypedDict):
    """One visit of a node, without its trace."""

    step: str
    """The node's id; `#2` and so on for later visits."""
    node: str
    type: str
    state: StepState
    attempts: int
    started: str | None
    ended: str | None
    error: StepFailure | None
    output: str | None
    """The output that was taken, such as `next` or `error`."""
    line: str
    """Its result in one line; empty if it has none, or its values are not recorded."""
    reused: bool
    """Taken over from an earlier run."""


class StepQuestion(TypedDict):
    """What a step asks its user, with times as text; answer it with `workflow_answer`."""

    step: str
    """With the steps that lead to it: `sub/ask` is the step `ask` of the sub-workflow at `sub`."""
    asked_by: str
    """The run that has the step and the picture: this one or a sub-workflow of it."""
    text: str
    choices: list[str]
    fields: dict[str, Any]
    """JSON Schema properties of values to fill in."""
    shown: dict[str, Any]
    picture: str | None
    """The id of an artifact."""
    asked: str
    deadline: str | None
    uncertain: bool
    """The step was interrupted and may have happened: should it run again?"""


class RunShown(TypedDict):
    """A run with its steps, in the order in which they began."""

    run: str
    workflow: str
    state: RunState
    steps: list[StepShown]
    decisions: list[RunDecision]
    inputs: dict[str, Any]
    """Secret ones are masked."""
    outputs: dict[str, Any] | None
    error: StepFailure | None
    started: str
    ended: str | None
    parent: str | None
    worker: str | None
    questions: list[StepQuestion]
    paused_at: list[str]
    """The steps before which it is paused."""
    definition: Workflow | None
    """The workflow as it was when the run began, if requested."""


class StepTrace(TypedDict):
    """Everything that is recorded about one step; unlike in a stored trace, no key is missing."""

    run: str
    step: str
    node: str
    type: str
    state: StepState
    output: str | None
    value: Any
    error: StepFailure | None
    inputs: Any
    """The settings, with all references resolved."""
    attempts: list[dict[str, Any]]
    notes: list[dict[str, Any]]
    """Events: calls, decisions, branches."""
    artifacts: list[str]
    """Ids; `workflow_artifact` has the data."""
    started: str | None
    ended: str | None


class RunArtifact(TypedDict):
    """A file that a step stored, such as a screenshot."""

    run: str
    id: str
    media_type: str
    bytes: int
    data: str
    """Base64."""


class RunAction(TypedDict):
    """The state of a run after something was asked of it."""

    run: str
    state: RunState


class EngineInstalling(TypedDict):
    """The packages of the engine are being installed, once."""

    installing: str


class RunChange(TypedDict):
    """A run or one of its steps changed."""

    run: str
    workflow: str
    state: RunState
    step: StepShown | None
    question: StepQuestion | None


def run_result(run: RunRecord) -> RunResult:
    return {
        "run": run.run,
        "state": run.state,
        "outputs": None if run.outputs is None else dict(run.outputs),
        "error": failure_json(run.error),
    }


def run_summary(run: RunRecord) -> RunSummary:
    return {
        "run": run.run,
        "workflow": run.workflow,
        "state": run.state,
        "started": moment(run.created),
        "ended": _moment(run.ended),
        "error": failure_json(run.error),
        "parent": run.parent or run.from_run,
    }


def run_json(run: RunRecord, start: RunStart, path: RunPath, *, definition: bool) -> RunShown:
    whole = start.workflow.model_dump(mode="json", by_alias=True) if definition else None
    return {
        "run": run.run,
        "workflow": run.workflow,
        "state": run.state,
        "steps": [step_json(step) for step in path.steps],
        "decisions": list(path.decisions),
        "inputs": dict(start.inputs),
        "outputs": None if run.outputs is None else dict(run.outputs),
        "error": failure_json(run.error),
        "started": moment(run.created),
        "ended": _moment(run.ended),
        "parent": run.parent or run.from_run,
        "worker": run.worker,
        "questions": [question_json(question) for question in run.questions],
        "paused_at": list(run.paused_at),
        "definition": cast("Workflow | None", whole),
    }


def step_json(step: StepRecord) -> StepShown:
    return {
        "step": step.step,
        "node": step.node,
        "type": step.type,
        "state": step.state,
        "attempts": step.attempts,
        "started": _moment(step.started),
        "ended": _moment(step.ended),
        "error": failure_json(step.error),
        "output": step.trace.get("output"),
        "line": result_line(step.trace),
        "reused": step.reused,
    }


def trace_json(run: str, step: StepRecord) -> StepTrace:
    trace = step.trace
    return {
        "run": run,
        "step": step.step,
        "node": step.node,
        "type": step.type,
        "state": step.state,
        "output": trace.get("output"),
        "value": trace.get("value"),
        "error": failure_json(step.error),
        "inputs": trace.get("inputs"),
        "attempts": list(trace.get("attempts", ())),
        "notes": list(trace.get("notes", ())),
        "artifacts": list(trace.get("artifacts", ())),
        "started": _moment(step.started),
        "ended": _moment(step.ended),
    }


def question_json(question: RunQuestion) -> StepQuestion:
    return {
        "step": question.step,
        "asked_by": question.asked_by,
        "text": question.text,
        "choices": list(question.choices),
        "fields": dict(question.fields),
        "shown": dict(question.shown),
        "picture": question.picture,
        "asked": moment(question.asked),
        "deadline": _moment(question.deadline),
        "uncertain": question.uncertain,
    }


def failure_json(error: Mapping[str, Any] | None) -> StepFailure | None:
    if error is None:
        return None
    return {
        "kind": str(error.get("kind", "")),
        "message": str(error.get("message", "")),
        "hint": str(error.get("hint", "")),
    }


def _moment(time: datetime | None) -> str | None:
    return None if time is None else moment(time)
