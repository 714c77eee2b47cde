"""Runs one turn: sends the question, shows the answer as it comes, and asks the user what it asks. Tool cards
and where they are cut, notes on retries and on incomplete answers.

On a terminal it shows Markdown and tool cards, in a pipe only the answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from toolcrib.cli.consent import consent
from toolcrib.cli.keyboard import TerminalKeyboard
from toolcrib.cli.output import note, say
from toolcrib.cli.safe_text import stripped
from toolcrib.cli.surface import Surface
from toolcrib.cli.times import duration
from toolcrib.errors import NotFound
from toolcrib.llm.models import variables
from toolcrib.operations.client import Client

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live

    from toolcrib.operations.client import Answered

Event = Mapping[str, Any]
_LONGEST_CARD = 160
_TAIL_LINES = 12
ENDINGS = {
    "budget": "The limit of rounds is reached.",
    "cut": "The answer was cut off at the model's output limit; agent.maxTokens changes it.",
    "refused": "The model refused to answer.",
    "filtered": "The vendor's content filter stopped the answer.",
    "unknown": "The answer may be incomplete. /continue in a chat resumes it.",
}
"""Explains answers that are incomplete."""


async def run_turn(
    surface: Surface,
    client: Client,
    request: partial[Coroutine[Any, Any, Answered]],
    view: TurnView,
    keys: TerminalKeyboard | None,
    *,
    on_chat: Callable[[str], None] = lambda chat: None,
) -> Answered:
    """The answer; `request` is `client.ask` with its arguments. Cancelling it stops the turn."""
    replies: set[asyncio.Task[None]] = set()
    one_at_a_time = asyncio.Lock()
    held: list[Mapping[str, Any]] = []
    """Events that came while a question is open: shown afterwards, so that nothing is drawn over it."""

    def on_event(event: Mapping[str, Any]) -> None:
        if event["event"] == "began":
            on_chat(event["chat"])
        if event["event"] != "asking":
            held.append(event)
            show_held()
        elif keys is not None:
            view.pause()
            task = asyncio.create_task(answer(event, keys))
            replies.add(task)
            task.add_done_callback(answered)

    def answered(task: asyncio.Task[None]) -> None:
        replies.discard(task)
        if not task.cancelled():
            task.exception()  # If the host is gone, the turn itself fails and is reported.
        show_held()

    def show_held() -> None:
        while held and not replies:
            view.show(held.pop(0))

    async def answer(event: Mapping[str, Any], keys: TerminalKeyboard) -> None:
        async with one_at_a_time:
            await _reply(surface, client, event, keys)

    with view:
        try:
            result = await request(
                person=keys is not None, project=str(Path.cwd()), environ=_keys(client), on_event=on_event
            )
        finally:
            open_questions = list(replies)
            for task in open_questions:
                task.cancel()
            await asyncio.gather(*open_questions, return_exceptions=True)
            replies.clear()
            show_held()
        view.end(result)
    return result


def _keys(client: Client) -> dict[str, str]:
    """API keys of this environment, for a running host, which has another one."""
    if not client.running:
        return {}
    return {name: os.environ[name] for name in variables() if os.environ.get(name)}


async def _reply(surface: Surface, client: Client, event: Mapping[str, Any], keys: TerminalKeyboard) -> None:
    reply = await consent(event, keys)
    with contextlib.suppress(NotFound):  # It was answered elsewhere, or withdrawn.
        if not client.running:
            await client.chat_reply(id=event["id"], **reply)
            return
        # The turn occupies its connection.
        async with surface.reach() as other:
            await other.chat_reply(id=event["id"], **reply)


class TurnView:
    """Shows a turn, entered for its duration; this one shows nothing, for `--json`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        pass

    def show(self, event: Event) -> None:
        """Show an event."""

    def pause(self) -> None:
        """Leave the terminal to a question."""

    def end(self, result: Event) -> None:
        """Show the complete answer."""


def turn_view(*, quiet: bool = False) -> TurnView:
    """The view for a terminal, a pipe, or `--json`."""
    if quiet:
        return TurnView()
    return TerminalView() if sys.stdout.isatty() else PlainView()


class PlainView(TurnView):
    """Prints the complete answer to stdout; events go to stderr if that is a terminal."""

    def show(self, event: Event) -> None:
        if event["event"] == "result" and sys.stderr.isatty():
            note(card(event))
        elif event["event"] == "notice":
            note(stripped(event["text"]))

    def end(self, result: Event) -> None:
        say(result["answer"])
        if result["ending"] in ENDINGS and result["ending"] != "budget":
            note(ENDINGS[result["ending"]])


class TerminalView(TurnView):
    """Markdown as it streams: complete blocks are printed, the rest is redrawn below them."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console: Console = Console()
        self._live: Live | None = None
        self._text = ""
        self._running: dict[str, str] = {}
        self._said = False

    def __exit__(self, *details: object) -> None:
        self._flush()
        self.pause()

    def show(self, event: Event) -> None:
        kind = event["event"]
        if kind == "text":
            self._text += stripped(event["text"])
            self._print_complete()
        elif kind == "call":
            self._flush()
            self._running[event["id"]] = f"{event['tool']} …"
        elif kind == "progress":
            self._running[event["id"]] = f"{event.get('message') or 'working'} …"
        elif kind == "result":
            self._running.pop(event["id"], None)
            self._console.print(card(event), style="dim" if event["outcome"] == "ok" else "red", markup=False)
        elif kind == "again":
            self._text = ""
            self._console.print(f"({event['reason']} Retrying.)", style="yellow", markup=False)
        elif kind == "notice":
            self._flush()
            self._console.print(f"({stripped(event['text'])})", style="yellow", markup=False)
        elif kind == "compacted":
            self._console.print("(The chat was long; its older part was summarized.)", style="dim")
        self._refresh()

    def pause(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def end(self, result: Event) -> None:
        self._flush()
        if not self._said:
            self._print(result["answer"])
        if result["ending"] in ENDINGS:
            self._console.print(f"({ENDINGS[result['ending']]})", style="yellow", markup=False)

    def _print_complete(self) -> None:
        """Print every complete block: up to the last empty line outside of code."""
        end = _block_end(self._text)
        if end:
            self._print(self._text[:end])
            self._text = self._text[end:]

    def _flush(self) -> None:
        if self._text.strip():
            self._print(self._text)
        self._text = ""

    def _print(self, text: str) -> None:
        from rich.markdown import Markdown

        self._said = True
        self._console.print(Markdown(text))

    def _refresh(self) -> None:
        from rich.live import Live
        from rich.text import Text

        lines = [*self._text.splitlines()[-_TAIL_LINES:], *self._running.values()]
        if not lines:
            self.pause()
            return
        shown = Text("\n".join(lines))
        if self._live is None:
            self._live = Live(shown, console=self._console, transient=True, refresh_per_second=12)
            self._live.start()
        else:
            self._live.update(shown)


def card(event: Event) -> str:
    """A tool call and its outcome in two lines."""
    arguments = ", ".join(f"{key}={_short(value)}" for key, value in event["arguments"].items())
    text = stripped(" ".join(event["text"].split()))
    outcome = "" if event["outcome"] == "ok" else f"{event['outcome']}: "
    pictures = f" [{event['images']} pictures]" if event["images"] else ""
    call = f"● {event['tool']}({arguments[:_LONGEST_CARD]})"
    return f"{call}\n  {outcome}{text[:_LONGEST_CARD]}{pictures} ({duration(event['ms'])})"


def _short(value: object) -> str:
    text = stripped(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= 60 else f"{text[:59]}…"


def _block_end(text: str) -> int:
    """The end of the last complete block, or 0."""
    end, fenced, position = 0, False, 0
    for line in text.splitlines(keepends=True):
        position += len(line)
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not line.strip() and not fenced:
            end = position
    return end
