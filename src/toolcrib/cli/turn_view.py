"""Shows a turn as it happens: markdown and cards of tools on a terminal, the answer alone in a pipe."""

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
    "budget": "The budget of rounds is spent.",
    "cut": "The answer was cut off by the output limit of the model; agent.maxTokens sets another.",
    "refused": "The model refused to answer.",
    "filtered": "The vendor's filter ended the answer.",
}
"""What is said of an answer that did not end as one."""


class TurnView(Protocol):
    """What shows a turn; entered for its duration."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show(self, event: Event) -> None:
        """Something happened."""

    def pause(self) -> None:
        """Somebody is asked: leave the terminal to the question."""

    def end(self, result: Event) -> None:
        """The answer is there."""


def turn_view(*, quiet: bool = False) -> TurnView:
    """The view that fits where stdout goes."""
    if quiet:
        return SilentView()
    return LiveTurn() if sys.stdout.isatty() else PlainTurn()


class SilentView:
    """Shows nothing: somebody wants JSON."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def show(self, event: Event) -> None:
        """Nothing."""

    def pause(self) -> None:
        """Nothing."""

    def end(self, result: Event) -> None:
        """Nothing."""


class PlainTurn(SilentView):
    """The answer on stdout when it is there; what happens meanwhile on stderr, where that is a terminal."""

    def show(self, event: Event) -> None:
        """Tools, where a person looks on; notices in any case."""
        if event["event"] == "result" and sys.stderr.isatty():
            note(card(event))
        elif event["event"] == "notice":
            note(stripped(event["text"]))

    def end(self, result: Event) -> None:
        """The answer, and on stderr what is wrong with it."""
        say(result["answer"])
        if result["ending"] in ENDINGS and result["ending"] != "budget":
            note(ENDINGS[result["ending"]])


class LiveTurn:
    """Markdown as it streams: what is complete is printed for good, the rest is shown below it."""

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
        """Whatever happens."""
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
            self._console.print(f"({event['reason']} Asking again.)", style="yellow", markup=False)
        elif kind == "notice":
            self._flush()
            self._console.print(f"({stripped(event['text'])})", style="yellow", markup=False)
        elif kind == "compacted":
            self._console.print("(The talk grew long; its older part was shortened.)", style="dim")
        self._refresh()

    def pause(self) -> None:
        """Take the moving part away."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def end(self, result: Event) -> None:
        """Print what is left."""
        self._flush()
        if not self._said:
            self._print(result["answer"])
        if result["ending"] in ENDINGS:
            self._console.print(f"({ENDINGS[result['ending']]})", style="yellow", markup=False)

    def _print_complete(self) -> None:
        """Print every block that cannot change any more: up to the last empty line outside of code."""
        border = _last_border(self._text)
        if border:
            self._print(self._text[:border])
            self._text = self._text[border:]

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
    """A tool's call in one line, and how it ended in another."""
    arguments = ", ".join(f"{key}={_short(value)}" for key, value in event["arguments"].items())
    text = stripped(" ".join(event["text"].split()))
    outcome = "" if event["outcome"] == "ok" else f"{event['outcome']}: "
    seen = f" [{event['images']} pictures]" if event["images"] else ""
    call = f"● {event['tool']}({arguments[:_LONGEST_CARD]})"
    return f"{call}\n  {outcome}{text[:_LONGEST_CARD]}{seen} ({duration(event['ms'])})"


def _short(value: object) -> str:
    text = stripped(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= 60 else f"{text[:59]}…"


def _last_border(text: str) -> int:
    """Where the last complete block ends; 0 when there is none."""
    border, fenced, position = 0, False, 0
    for line in text.splitlines(keepends=True):
        position += len(line)
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not line.strip() and not fenced:
            border = position
    return border
