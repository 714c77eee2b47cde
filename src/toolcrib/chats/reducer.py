"""The effect of each event on a turn: how texts, calls, questions, progress, usage and endings change it.
Also the log of a running turn's events for clients that join late. Pure.

The page's `turnReducer.ts` does the same; both are tested with the turns in `tests/chats/recorded`.
An unknown event changes nothing, so that a newer host can send more of them.

The log is compressed: consecutive events of one text are one event, and each call keeps its latest progress.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard, cast

from toolcrib.chats.events import (
    AgainEvent,
    AnsweredEvent,
    BeganEvent,
    BusyEvent,
    CallEvent,
    CompactedEvent,
    EndedEvent,
    NoticeEvent,
    OfferedEvent,
    ProgressEvent,
    QuestionEvent,
    ResultEvent,
    RoundEvent,
    WordsEvent,
)
from toolcrib.chats.turn import (
    BY_HAND,
    AskingEvent,
    BeforeContinued,
    Turn,
    TurnCall,
    TurnNote,
    TurnPart,
    TurnQuestion,
    TurnText,
)
from toolcrib.chats.wire import TokenUsage

Event = Mapping[str, Any]

Json = dict[str, Any]
_WORDS = ("text", "thinking")


def apply(turn: Turn, event: Event) -> None:
    """Change the turn as the event says."""
    turn.busy = None
    step = _STEPS.get(event["event"])
    if step is not None:
        step(turn, event)


def _question(turn: Turn, event: QuestionEvent) -> None:
    if event["text"] is None:
        _continue(turn)
        return
    turn.text, turn.images, turn.time = event["text"], list(event["images"]), event["time"]
    turn.files = list(event.get("files", ()))


def _continue(turn: Turn) -> None:
    """The answer of this turn is continued, or the user makes a call by hand after it."""
    turn.before = BeforeContinued(
        ending=turn.ending,
        usage=turn.usage,
        cost=turn.cost,
        model=turn.model,
        error=turn.error,
        items=len(turn.items),
    )
    turn.running, turn.ending, turn.error = True, None, None
    turn.round += 1


def _began(turn: Turn, event: BeganEvent) -> None:
    turn.model = event["model"]


def _offered(turn: Turn, event: OfferedEvent) -> None:
    turn.offered += event["tools"]
    turn.of = event["of"]
    turn.note = event["note"] or turn.note


def _words(turn: Turn, event: WordsEvent) -> None:
    last = turn.items[-1] if turn.items else None
    if isinstance(last, TurnText) and (last.kind, last.round) == (event["event"], turn.round):
        last.parts.append(event["text"])
    else:
        turn.items.append(TurnText(kind=event["event"], parts=[event["text"]], round=turn.round))


def _again(turn: Turn, event: AgainEvent) -> None:
    turn.items = [item for item in turn.items if not _is_words(item, turn.round)]
    turn.items.append(TurnNote(note="again", text=event["reason"]))


def _notice(turn: Turn, event: NoticeEvent) -> None:
    turn.items.append(TurnNote(note="notice", text=event["text"]))


def _busy(turn: Turn, event: BusyEvent) -> None:
    turn.busy = event


def _queued(turn: Turn, event: CallEvent) -> None:
    _called(turn, event).outcome = "waiting"


def _call(turn: Turn, event: CallEvent) -> None:
    call = _called(turn, event)
    call.outcome, call.begun = "running", True


def _called(turn: Turn, event: CallEvent) -> TurnCall:
    """The call; one that waits and then runs keeps its place."""
    call = turn.call(event["id"])
    if call is None:
        call = TurnCall(
            id=event["id"],
            tool=event["tool"],
            server=event["server"],
            name=event["name"],
            arguments=event["arguments"],
            by_hand=event["id"].startswith(BY_HAND),
        )
        turn.items.append(call)
    return call


def _progress(turn: Turn, event: ProgressEvent) -> None:
    call = turn.call(event["id"])
    if call is not None:
        call.progress = event


def _result(turn: Turn, event: ResultEvent) -> None:
    call = turn.call(event["id"])
    if call is None:
        return
    call.outcome, call.ms, call.text = event["outcome"], event["ms"], event["text"]
    call.rule, call.pictures = event["rule"], event["images"]
    call.has_result, call.asking = True, None
    call.progress = call.progress if call.outcome == "cancelled" else None


def _asking(turn: Turn, event: AskingEvent) -> None:
    if event["call"] is None:
        turn.items.append(TurnQuestion(asking=event))
    elif (call := turn.call(event["call"])) is not None:
        call.asking = event


def _answered(turn: Turn, event: AnsweredEvent) -> None:
    turn.items = [item for item in turn.items if not _asks(item, event["id"])]
    for call in turn.calls:
        if call.asking is not None and call.asking["id"] == event["id"]:
            call.answered = event if call.asking["about"] == "call" else call.answered
            call.asking = None


def _compacted(turn: Turn, event: CompactedEvent) -> None:
    turn.items.append(TurnNote(note="shortened"))


def _round(turn: Turn, event: RoundEvent) -> None:
    said = [item for item in turn.items if _is_words(item, turn.round, "text")]
    if event["text"] and "".join(item.text for item in said) != event["text"]:
        # A client that missed some of the text has all of it now.
        turn.items = [item for item in turn.items if not _is_words(item, turn.round, "text")]
        turn.items.append(TurnText(kind="text", parts=[event["text"]], round=turn.round))
    turn.items = [item for item in turn.items if not _is_blank(item, turn.round)]
    for item in turn.items:
        if _is_words(item, turn.round):
            item.partial = False
    turn.usage = _added(turn.usage, event.get("usage"))
    turn.round += 1


def _ended(turn: Turn, event: EndedEvent) -> None:
    was_running, turn.running = turn.running, False
    if was_running:
        _close_items(turn)
    if any(isinstance(item, TurnCall) and item.by_hand for item in turn.items[turn.before.items :]):
        _restore(turn)
        return
    turn.ending, turn.error = event["ending"], event["error"]
    turn.cost = event["cost"] if turn.before.usage is None else _added_cost(turn.before.cost, event["cost"])
    turn.usage = _added(turn.before.usage, event["usage"])
    if was_running and turn.ending == "stopped":
        turn.items.append(TurnNote(note="stopped"))
    elif was_running and turn.ending == "failed":
        message = turn.error["message"] if turn.error is not None else ""
        turn.items.append(TurnNote(note="failed", text=message))


def _close_items(turn: Turn) -> None:
    turn.items = [item for item in turn.items if not isinstance(item, TurnQuestion)]
    for call in turn.calls:
        if call.unfinished:
            call.outcome, call.asking = "cancelled", None


def _restore(turn: Turn) -> None:
    """A call by hand leaves the rest of its turn as it was."""
    before = turn.before
    turn.ending, turn.error = before.ending or "answered", before.error
    turn.usage, turn.cost, turn.model = before.usage, before.cost, before.model


def _is_words(item: TurnPart, number: int, kind: str | None = None) -> TypeGuard[TurnText]:
    return isinstance(item, TurnText) and item.round == number and kind in (None, item.kind)


def _is_blank(item: TurnPart, number: int) -> bool:
    return _is_words(item, number) and not item.text.strip()


def _asks(item: TurnPart, question: str) -> bool:
    return isinstance(item, TurnQuestion) and item.asking["id"] == question


def _added(before: TokenUsage | None, more: TokenUsage | None) -> TokenUsage | None:
    """The sum; a turn that was continued has several parts."""
    if before is None or more is None:
        return before or more
    counts = cast("Mapping[str, int]", before), cast("Mapping[str, int]", more)
    return cast("TokenUsage", {key: sum(count.get(key, 0) for count in counts) for key in {**before, **more}})


def _added_cost(before: float | None, more: float | None) -> float | None:
    return None if before is None or more is None else round(before + more, 6)


_STEPS: Mapping[str, Callable[[Turn, Any], None]] = {
    "question": _question,
    "began": _began,
    "offered": _offered,
    "text": _words,
    "thinking": _words,
    "again": _again,
    "notice": _notice,
    "busy": _busy,
    "queued": _queued,
    "call": _call,
    "progress": _progress,
    "result": _result,
    "asking": _asking,
    "answered": _answered,
    "compacted": _compacted,
    "round": _round,
    "ended": _ended,
}


class EventLog:
    """The events of one turn. Finds the call that each question is about."""

    def __init__(self) -> None:
        self.turn = Turn()
        self._events: list[Json] = []
        self._progress: dict[str, Json] = {}

    def add(self, event: Json) -> Json:
        """Keep an event; returns it as it is sent, a question with the call that it is about."""
        if event["event"] == "asking":
            event = {**event, "call": self._call_of(event)}
        apply(self.turn, event)
        self._keep(event)
        return event

    def events(self) -> list[Json]:
        """All of them, in order."""
        return [dict(event) for event in self._events]

    def has_question(self, question: str) -> bool:
        """Whether this question is open."""
        return any(asking["id"] == question for asking in self.turn.open_questions)

    def _keep(self, event: Json) -> None:
        kind = event["event"]
        last = self._events[-1] if self._events else None
        if kind in _WORDS and last is not None and last["event"] == kind:
            last["text"] += event["text"]
            return
        if kind == "progress" and event["id"] in self._progress:
            self._progress[event["id"]].update(event)
            return
        kept = dict(event)
        if kind == "progress":
            self._progress[event["id"]] = kept
        self._events.append(kept)

    def _call_of(self, asking: Mapping[str, Any]) -> str | None:
        """The running call that a question is about: the same tool and arguments, or the same server."""
        free = [call for call in self.turn.calls if call.begun and call.unfinished and call.asking is None]
        if asking["about"] != "call":
            return next((call.id for call in free if call.server == asking["server"]), None)
        wanted = _same(asking["detail"].get("tool"), asking["detail"].get("arguments"))
        return next((call.id for call in free if _same(call.tool, call.arguments) == wanted), None)


def _same(tool: Any, arguments: Any) -> tuple[str, str]:
    return str(tool), json.dumps(arguments, sort_keys=True, default=str)
