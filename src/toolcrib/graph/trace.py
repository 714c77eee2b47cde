"""What is recorded of one visit of a node: JSON of limited size (largest result, where shown texts are cut,
most notes), which is also all that a replay needs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from pydantic import ValidationError

from toolcrib.errors import CallFailed, ToolcribError
from toolcrib.schema.workflows import NEXT, StepState, TraceLevel

LARGEST_VALUE = 1_000_000
"""Characters of a node's result as JSON; larger ones belong into artifacts."""
LARGEST_SHOWN = 20_000
"""Characters of the inputs and of each note in a trace; longer texts are cut."""
MOST_NOTES = 200


class Trace(TypedDict):
    """A recorded visit."""

    step: str
    node: str
    type: str
    state: StepState
    output: str
    value: Any
    error: dict[str, Any] | None
    inputs: Any
    attempts: list[dict[str, Any]]
    notes: list[dict[str, Any]]
    artifacts: list[str]
    started: str
    ended: str


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The part of a trace that decides what comes next."""

    output: str = NEXT
    value: Any = None
    error: Mapping[str, Any] | None = None
    fatal: bool = False
    """The run fails even if there is an error path."""

    @classmethod
    def of(cls, trace: Mapping[str, Any]) -> Outcome:
        error = trace.get("error")
        return cls(
            output=trace.get("output") or NEXT,
            value=trace.get("value"),
            error=error,
            fatal=bool(error and error.get("fatal")),
        )


class ResultTooLong(CallFailed):
    """The result of a node does not fit into the record of the run."""

    kind = "result_too_long"


def error_of(error: BaseException) -> dict[str, Any]:
    """An error as JSON: its kind, message and hint."""
    if isinstance(error, ToolcribError):
        return error.as_json()
    if isinstance(error, ValidationError):
        return {
            "kind": "invalid_settings",
            "message": _problems(error),
            "hint": "Check the settings of the step.",
        }
    if isinstance(error, TimeoutError):
        return {"kind": "timeout", "message": str(error) or "It took too long.", "hint": ""}
    return {"kind": "internal", "message": f"{type(error).__name__}: {error}"[:LARGEST_SHOWN], "hint": ""}


def _problems(error: ValidationError) -> str:
    each = [f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()[:5]]
    return "The settings are not valid: " + "; ".join(each)


def checked_value(value: Any) -> Any:
    """The value as plain JSON; raises `ResultTooLong`."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    if len(text) > LARGEST_VALUE:
        raise ResultTooLong(
            f"The result has {len(text)} characters as JSON; at most {LARGEST_VALUE} can be recorded.",
            hint="Let the tool return less, or write the data to a file and pass its path.",
        )
    return json.loads(text)


def shown(value: Any, level: TraceLevel = "full") -> Any:
    """A value for display, with long texts cut; nothing unless the trace is full."""
    return _cut(value, LARGEST_SHOWN) if level == "full" else None


def _cut(value: Any, most: int) -> Any:
    text = json.dumps(value, ensure_ascii=False, default=str)
    if len(text) <= most:
        return json.loads(text)
    return f"{text[:most]}… ({len(text)} characters)"
