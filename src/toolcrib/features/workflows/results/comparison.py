"""Compares two runs of a workflow step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from toolcrib.features.workflows.records import RunRecord, StepRecord
from toolcrib.features.workflows.results.runs import RunSummary, StepShown, run_summary, step_json


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
