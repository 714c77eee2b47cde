"""Prints runs of workflows: their progress line by line, their questions, their steps and their results;
colours of states and exit codes.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from toolcrib.cli.error_report import INTERRUPTED
from toolcrib.cli.keyboard import TerminalKeyboard
from toolcrib.cli.output import as_json, label, mark, note, paint, say, show_table
from toolcrib.cli.questions import can_ask
from toolcrib.cli.surface import Surface
from toolcrib.cli.times import duration, local
from toolcrib.errors import NotFound
from toolcrib.features.workflows.records import belongs_to
from toolcrib.tasks import cancel_and_wait

if TYPE_CHECKING:
    from toolcrib.features.workflows.results.runs import (
        RunChange,
        RunResult,
        RunSummary,
        StepFailure,
        StepQuestion,
        StepShown,
    )
    from toolcrib.features.workflows.results.workflows import WorkflowReview
    from toolcrib.operations.client import Client, RunShown

Request = Callable[[Callable[[Any], None]], Awaitable["RunResult"]]
"""Starts or watches a run; its argument receives the changes."""

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


async def follow(surface: Surface, client: Client, request: Request) -> int:
    """Show a run until it ends; returns the exit code."""
    progress = Progress(quiet=surface.json)
    with TerminalKeyboard() if can_ask() and not surface.json else nullcontext() as keys:
        async with _interruptible(surface, client, progress) as interrupted:
            questions = RunQuestions(surface, client, progress, keys)
            try:
                result = await request(questions.on_change)
            finally:
                await questions.close()
    if not surface.answer(result):
        show_result(result)
    return INTERRUPTED if interrupted.is_set() else exit_code(result)


class RunQuestions:
    """Shows the changes of a run, and asks the user what it waits for."""

    def __init__(
        self, surface: Surface, client: Client, progress: Progress, keys: TerminalKeyboard | None
    ) -> None:
        self._surface = surface
        self._client = client
        self._progress = progress
        self._keys = keys
        self._asked: set[str] = set()
        self._asking: asyncio.Task[None] | None = None

    def on_change(self, change: Any) -> None:
        if "installing" in change:
            note(change["installing"])
            return
        self._progress.show(change)
        if change["state"] == "waiting" and (self._asking is None or self._asking.done()):
            self._asking = asyncio.create_task(self._ask(change))

    async def close(self) -> None:
        await cancel_and_wait(self._asking)

    async def _ask(self, change: Any) -> None:
        async with _second(self._surface, self._client) as client:
            for call in await client.approvals():
                if belongs_to(call["session"], change["run"]) and call["id"] not in self._asked:
                    self._asked.add(call["id"])
                    await self._approve(client, call)
            question = change["question"]
            if question is not None and self._keys is not None:
                await self._answer(client, change["run"], question, self._keys)

    async def _approve(self, client: Client, call: Any) -> None:
        if self._keys is None:
            self._progress.tell(f"  Waiting for approval: {call['call']}")
            self._progress.tell(f"  Allow it with: toolcrib approvals allow {call['id']}")
            return
        from toolcrib.cli.consent import consent

        reply = await consent({"about": "call", "detail": call}, self._keys)
        content = reply.get("content", {})
        known = {key: content[key] for key in ("scope", "any_arguments", "lift", "message") if key in content}
        with suppress(NotFound):  # It was answered elsewhere.
            await client.approval_answer(id=call["id"], allow=reply["action"] == "accept", **known)

    async def _answer(self, client: Client, run: str, question: Any, keys: TerminalKeyboard) -> None:
        choices = question["choices"]
        await keys.settle()
        typed = await keys.line(f"  {' / '.join(choices)}: ")
        chosen = next(
            (choice for choice in choices if typed and choice.lower().startswith(typed.lower())), None
        )
        if chosen is None:
            note("  Not answered. It waits; answer it here, in the page, or with: toolcrib workflow answer")
            return
        values = {name: await keys.line(f"  {name}: ") for name in question["fields"]}
        with suppress(NotFound):
            await client.workflow_answer(run=run, step=question["step"], choice=chosen, values=values)


@asynccontextmanager
async def _interruptible(
    surface: Surface, client: Client, progress: Progress
) -> AsyncIterator[asyncio.Event]:
    """Ctrl-C cancels the run; its end is then shown as usual."""
    interrupted = asyncio.Event()
    loop, main = asyncio.get_running_loop(), asyncio.current_task()

    async def cancel() -> None:
        await interrupted.wait()
        if not progress.run and main is not None:
            main.cancel()
            return
        note(f"Cancelling the run {progress.run}.")
        async with _second(surface, client) as other:
            await other.workflow_cancel(run=progress.run)

    loop.add_signal_handler(signal.SIGINT, interrupted.set)
    cancelling = asyncio.create_task(cancel())
    try:
        yield interrupted
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        await cancel_and_wait(cancelling)


@asynccontextmanager
async def _second(surface: Surface, client: Client) -> AsyncIterator[Client]:
    """Another connection to a running host: the run occupies the first."""
    if not client.running:
        yield client
        return
    async with surface.reach() as other:
        yield other
