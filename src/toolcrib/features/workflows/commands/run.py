"""Follows a run on the terminal: its progress, its questions, and Ctrl-C, which cancels it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from toolcrib.cli.error_report import INTERRUPTED
from toolcrib.cli.keyboard import Keyboard
from toolcrib.cli.output import note
from toolcrib.cli.questions import can_ask
from toolcrib.cli.surface import Surface
from toolcrib.errors import NotFound
from toolcrib.features.workflows.commands.view import Progress, exit_code, show_result
from toolcrib.features.workflows.records import belongs_to
from toolcrib.tasks import cancel_and_wait

if TYPE_CHECKING:
    from toolcrib.features.workflows.results.runs import RunResult
    from toolcrib.operations.client import Client

Request = Callable[[Callable[[Any], None]], Awaitable["RunResult"]]
"""Starts or watches a run; its argument receives the changes."""


async def follow(surface: Surface, client: Client, request: Request) -> int:
    """Show a run until it ends; returns the exit code."""
    progress = Progress(quiet=surface.json)
    with Keyboard() if can_ask() and not surface.json else nullcontext() as keys:
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

    def __init__(self, surface: Surface, client: Client, progress: Progress, keys: Keyboard | None) -> None:
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

    async def _answer(self, client: Client, run: str, question: Any, keys: Keyboard) -> None:
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
