"""Shows runs of workflows: their progress line by line, their steps, and their results."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from toolcrib.cli.output import as_json, label, mark, note, paint, say, show_table
from toolcrib.cli.times import duration, local

if TYPE_CHECKING:
    from toolcrib.features.workflows.results.runs import (
        RunChange,
        RunResult,
        RunShown,
        RunSummary,
        StepFailure,
        StepQuestion,
        StepShown,
    )
    from toolcrib.features.workflows.results.workflows import WorkflowReview

FAILED = 6
CANCELLED = 1
_COLOURS = {
    "finished": "green",
    "done": "green",
    "failed": "red",
    "cancelled": "yellow",
    "waiting": "yellow",
    "paused": "yellow",
    "uncertain": "yellow",
    "retrying": "yellow",
    "running": "cyan",
}


def exit_code(result: RunResult) -> int:
    """0 unless the run failed or was cancelled."""
    return {"failed": FAILED, "cancelled": CANCELLED}.get(result["state"], 0)


class Progress:
    """Prints each change of a run once, on stderr."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self._printed: dict[str, str] = {}
        self._asked: set[str] = set()
        self.run = ""
        self.waiting = False

    def tell(self, text: str) -> None:
        """Print a line, unless only the result is wanted."""
        if not self.quiet:
            note(text)

    def show(self, change: RunChange) -> None:
        """A change of the run."""
        new, self.run = not self.run, change["run"]
        self.waiting = change["state"] == "waiting"
        if self.quiet:
            return
        if new:
            note(f"Run {change['run']} of {change['workflow']}")
        if change["step"] is not None:
            self._step(change["step"])
        if change["question"] is not None:
            self._question(change["run"], change["question"])

    def _step(self, step: StepShown) -> None:
        state = step["state"]
        if self._printed.get(step["step"]) == state or state == "running":
            return
        self._printed[step["step"]] = state
        took = f"  {_took(step)}" if step["ended"] else ""
        why = f"  {step['error']['message']}" if step["error"] else ""
        note(f"  {paint(f'{state:9}', _COLOURS.get(state, ''), sys.stderr)} {step['step']}{took}{why}")

    def _question(self, run: str, question: StepQuestion) -> None:
        if question["step"] in self._asked:
            return
        self._asked.add(question["step"])
        note(f"  {question['text']}")
        choices = " | ".join(question["choices"])
        note(f"  Answer with: toolcrib workflow answer {run} {question['step']} {choices!r}")


def show_result(result: RunResult) -> None:
    """How the run ended: its outputs on stdout, everything else on stderr."""
    if result["outputs"]:
        for name, value in result["outputs"].items():
            say(f"{name}: {value if isinstance(value, str) else as_json(value)}")
    state = paint(result["state"], _COLOURS.get(result["state"], ""), sys.stderr)
    note(f"The run {result['run']} is {state}.")
    _show_error(result["error"])


def show_runs(runs: list[RunSummary]) -> None:
    rows = [
        [
            run["run"],
            run["workflow"],
            run["state"],
            local(run["started"]),
            (run["error"] or {"message": ""})["message"],
        ]
        for run in runs
    ]
    colour = lambda column, text: _COLOURS.get(text, "") if column == 2 else ""  # noqa: E731
    show_table(["RUN", "WORKFLOW", "STATE", "STARTED", "ERROR"], rows, colour=colour)


def show_run(run: RunShown) -> None:
    say(f"{run['run']}  {run['workflow']}  {run['state']}  {local(run['started'])}")
    rows = [
        [
            step["step"],
            step["type"],
            step["state"],
            str(step["attempts"]),
            _took(step),
            (step["error"] or {"message": ""})["message"],
        ]
        for step in run["steps"]
    ]
    colour = lambda column, text: _COLOURS.get(text, "") if column == 2 else ""  # noqa: E731
    show_table(["STEP", "TYPE", "STATE", "ATTEMPTS", "TIME", "ERROR"], rows, colour=colour, right=(3,))
    for name, value in (run["outputs"] or {}).items():
        say(f"{name}: {value if isinstance(value, str) else as_json(value)}")
    for question in run["questions"]:
        note(f"{question['step']} asks: {question['text']}  [{' | '.join(question['choices'])}]")
    if run["state"] == "waiting" and not run["questions"]:
        note("A call of it waits for your approval. See: toolcrib approvals")
    _show_error(run["error"])


def show_problems(problems: list[Any]) -> None:
    for problem in problems:
        where = f"{problem['node']}: " if problem["node"] else ""
        say(f"{mark(None if problem['warning'] else False)} {where}{problem['message']}")
        if problem["hint"]:
            say(f"    {problem['hint']}")


def show_review(review: WorkflowReview, put: Callable[[str], None] = say) -> None:
    """What a workflow does, a line each."""
    if review["does"]:
        put(f"{review['name']}:")
    for line in review["does"]:
        put(f"  {line}")


def _show_error(error: StepFailure | None) -> None:
    if error is None:
        return
    label("error:", "red", error["message"])
    if error["hint"]:
        label("hint:", "cyan", error["hint"])


def _took(step: StepShown) -> str:
    if not step["started"] or not step["ended"]:
        return ""
    from datetime import datetime

    took = datetime.fromisoformat(step["ended"]) - datetime.fromisoformat(step["started"])
    return duration(took.total_seconds() * 1000)
