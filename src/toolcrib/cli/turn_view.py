"""Shows a turn as it happens: Markdown and tool cards on a terminal, only the answer in a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from toolcrib.cli.output import note, say
from toolcrib.cli.safe_text import stripped
from toolcrib.cli.times import duration

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live

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


class TurnView(Protocol):
    """Shows a turn; entered for its duration."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show(self, event: Event) -> None:
        """Show an event."""

    def pause(self) -> None:
        """Leave the terminal to a question."""

    def end(self, result: Event) -> None:
        """Show the complete answer."""


def turn_view(*, quiet: bool = False) -> TurnView:
    """The view for a terminal, a pipe, or `--json`."""
    if quiet:
        return SilentView()
    return LiveTurn() if sys.stdout.isatty() else PlainTurn()


class SilentView:
    """Shows nothing, for `--json`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def show(self, event: Event) -> None:
        pass

    def pause(self) -> None:
        pass

    def end(self, result: Event) -> None:
        pass


class PlainTurn(SilentView):
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


class LiveTurn:
    """Markdown as it streams: complete blocks are printed, the rest is redrawn below them."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console: Console = Console()
        self._live: Live | None = None
        self._text = ""
        self._running: dict[str, str] = {}
        self._said = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
