"""A chat: its entries, and the messages that a model gets from them. Has the texts for stopped calls and for
continuing an interrupted answer, and the length of a shortened result.

Entries are only ever added: a question that is asked again, changed or not, says which entries it replaces,
and models no longer get those. Whatever happened to a chat (a stop, a crash between a call and its answer),
the messages are valid for every vendor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from toolcrib.agent.prompt import READ
from toolcrib.chats.attached import attached_text
from toolcrib.chats.result_text import INTERRUPTED, cut_note, marked
from toolcrib.errors import NotFound
from toolcrib.schema.messages import FromModel, FromTools, FromUser, Message, Text, ToolAnswer, ToolUse, Usage

NEVER_RAN = frozenset({"denied", "invalid"})
"""Outcomes of calls that did not reach a tool."""

STOPPED = "The person stopped this call before it answered. It may or may not have had an effect."
NOT_MADE = "The person stopped this before the call was made."
STOPPED_BY_USER = "The user stopped the answer."
CONTINUE = (
    "Your last answer was interrupted. Continue exactly where it stopped, and do not repeat what is already"
    " written. A tool call without a result may have had an effect: check before you make it again."
)


@dataclass(frozen=True, kw_only=True)
class TextFile:
    """A text file that belongs to a question. Its text is untrusted, as the user need not have written it."""

    key: str
    """The name under which the model reads on."""
    name: str
    text: str = field(repr=False)
    shown: int
    """Characters of it that the model gets with the question."""

    def for_model(self) -> str:
        marked_text = attached_text(self.name, self.text[: self.shown])
        if self.shown >= len(self.text):
            return marked_text
        whole = len(self.text)
        return marked_text + cut_note(self.shown, whole, kept=whole, name=self.key, read_tool=READ)


@dataclass(frozen=True)
class Said:
    message: Message
    replaces: int | None = None
    """Of a question that is asked again: the position of the earlier one. It and all that followed are no
    longer part of the conversation."""
    files: tuple[TextFile, ...] = ()
    """What the user attached to a question."""


@dataclass(frozen=True, kw_only=True)
class Partial:
    """The beginning of an answer that was interrupted or is still being written."""

    mark: str
    """Identifies it in the store, where it is rewritten as the answer grows."""
    text: str
    thinking: str = ""


@dataclass(frozen=True)
class Continued:
    """The user asked to continue an interrupted answer."""


@dataclass(frozen=True, kw_only=True)
class OfferedTools:
    """The tools offered from here on, each with the reason."""

    tools: tuple[tuple[str, str], ...]
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class FullResult:
    """The full text of a result that the model got in part."""

    name: str
    text: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Shortened:
    """Results before this entry's `covers` are shown shortened."""

    covers: int


@dataclass(frozen=True, kw_only=True)
class HistorySummary:
    """Replaces all messages of the first `covers` entries."""

    covers: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Remark:
    """A turn was stopped or failed; or a notice for the user."""

    kind: str
    text: str


@dataclass(frozen=True, kw_only=True)
class ByHand:
    """A call that the user made in the chat; not shown to models."""

    call: ToolUse
    answer: ToolAnswer


@dataclass(frozen=True, kw_only=True)
class Took:
    """Usage and cost of a turn, or of several together."""

    model: str = ""
    ending: str = ""
    rounds: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    """US dollars, if the price is known."""
    context: int = 0
    """Tokens of the last request and its answer, as counted by the vendor; 0 if unknown."""

    def __add__(self, other: Took) -> Took:
        counted = [took for took in (self, other) if took.usage.requests or took.cost is not None]
        costs = [took.cost for took in counted if took.cost is not None]
        return Took(
            model=other.model or self.model,
            ending=other.ending or self.ending,
            rounds=self.rounds + other.rounds,
            usage=self.usage + other.usage,
            cost=round(sum(costs), 6) if counted and len(costs) == len(counted) else None,
            context=other.context or self.context,
        )


Entry = (
    Said
    | Partial
    | Continued
    | OfferedTools
    | FullResult
    | Shortened
    | HistorySummary
    | Remark
    | ByHand
    | Took
)


@dataclass(frozen=True, kw_only=True)
class ChatMetadata:
    """A chat in a list."""

    id: str
    title: str
    model: str
    created: datetime
    updated: datetime
    parent: str | None = None
    """The chat this one was forked from."""
    entries: int = 0
    pinned: tuple[str, ...] = ()
    """Tools that are always offered: names, or patterns such as `git__*`."""
    banned: tuple[str, ...] = ()
    """Tools that are never used, likewise."""
    project: str = ""
    """The user's working folder."""
    deleted: datetime | None = None
    """When it was deleted; it can be restored for a while."""
    pinned_at: datetime | None = None
    """When it was pinned to the top of the list, if it is."""


@dataclass
class Chat:
    info: ChatMetadata
    entries: list[Entry] = field(default_factory=list)
    times: list[datetime] = field(default_factory=list, repr=False)
    """When each stored entry was added."""

    @property
    def id(self) -> str:
        return self.info.id

    @property
    def current(self) -> list[Entry]:
        """All entries, each that was replaced by a later question as a remark that says nothing."""
        current = list(self.entries)
        for position, entry in enumerate(self.entries):
            if isinstance(entry, Said) and entry.replaces is not None:
                current[entry.replaces : position] = [_REPLACED] * (position - entry.replaces)
        return current

    def question(self, position: int | None = None) -> tuple[int, Said]:
        """The question at this position, else the last one, with its position; raises `NotFound`."""
        for at, entry in reversed(list(enumerate(self.current))):
            is_question = isinstance(entry, Said) and isinstance(entry.message, FromUser)
            if is_question and position in (None, at):
                return at, entry  # type: ignore[return-value]
        where = "" if position is None else f" at position {position}"
        raise NotFound(f"This chat has no question{where}.", hint="Ask something first.")

    def messages(self) -> list[Message]:
        return shown(self.current)

    def questions(self) -> list[str]:
        said = (entry.message for entry in self.current if isinstance(entry, Said))
        return [message.text for message in said if isinstance(message, FromUser)]

    def last_question(self) -> FromUser | None:
        said = (entry.message for entry in reversed(self.entries) if isinstance(entry, Said))
        return next((message for message in said if isinstance(message, FromUser)), None)

    def used(self) -> list[str]:
        """The tools that were called, latest first, each once."""
        said = (entry.message for entry in reversed(self.current) if isinstance(entry, Said))
        calls = [
            call.name
            for message in said
            if isinstance(message, FromModel)
            for call in reversed(message.calls)
        ]
        return list(dict.fromkeys(calls))

    def ran(self) -> list[tuple[ToolUse, ToolAnswer]]:
        """The calls that reached a tool with their latest answers, oldest first, without duplicates."""
        found: dict[str, tuple[ToolUse, ToolAnswer]] = {}
        asked: dict[str, ToolUse] = {}
        for entry in self.entries:
            message = entry.message if isinstance(entry, Said) else None
            if isinstance(message, FromModel):
                asked = {call.id: call for call in message.calls}
            pairs = [(entry.call, entry.answer)] if isinstance(entry, ByHand) else []
            if isinstance(message, FromTools):
                pairs = [(asked[answer.id], answer) for answer in message.answers if answer.id in asked]
            for call, answer in pairs:
                if answer.ran and answer.outcome not in NEVER_RAN:
                    found[f"{call.name} {sorted(map(str, call.arguments.items()))}"] = (call, answer)
        return list(found.values())

    def from_user(self) -> tuple[list[str], list[str]]:
        """The user's messages, and the names of the files that they attached."""
        said = [entry for entry in self.entries if isinstance(entry, Said)]
        parts = (entry.message.parts for entry in said if isinstance(entry.message, FromUser))
        texts = [part.text for all_ in parts for part in all_ if isinstance(part, Text)]
        return texts, [file.name for entry in said for file in entry.files]

    @property
    def unfinished(self) -> bool:
        """Whether its latest answer ended early and can be continued."""
        told = (
            entry for entry in reversed(self.entries) if isinstance(entry, Said | Partial | Continued | Took)
        )
        last = next(told, None)
        if isinstance(last, Took):
            return last.ending != "answered"
        if isinstance(last, Said) and isinstance(last.message, FromModel):
            return bool(last.message.calls)
        return last is not None

    def took(self) -> Took:
        """Usage of all turns together; without a cost if that of any turn is unknown."""
        return sum((entry for entry in self.entries if isinstance(entry, Took)), Took())

    def kept(self, name: str) -> str | None:
        """The whole text of a result or an attached file of which the model was shown a part."""
        found = (entry.text for entry in self.entries if isinstance(entry, FullResult) and entry.name == name)
        return next(found, None) or next((file.text for file in self.files if file.key == name), None)

    @property
    def files(self) -> list[TextFile]:
        """All files that were attached to questions."""
        return [file for entry in self.entries if isinstance(entry, Said) for file in entry.files]

    @property
    def keeps(self) -> int:
        """How many results and files the model was shown in part."""
        results = sum(isinstance(entry, FullResult) for entry in self.entries)
        files = (file for entry in self.entries if isinstance(entry, Said) for file in entry.files)
        return results + sum(file.shown < len(file.text) for file in files)


_REPLACED = Remark(kind="replaced", text="")
SHORT = 400
"""Characters kept of a shortened result."""


def shown(entries: Sequence[Entry]) -> list[Message]:
    """The messages of these entries after compaction, every call with its answer."""
    summary = next((entry for entry in reversed(entries) if isinstance(entry, HistorySummary)), None)
    short_before = max((entry.covers for entry in entries if isinstance(entry, Shortened)), default=0)
    messages: list[Message] = []
    if summary is not None:
        messages.append(FromUser(parts=(Text(summary.text),)))
    for position, entry in enumerate(entries):
        message = message_of(entry)
        if message is None or (summary is not None and position < summary.covers):
            continue
        if position < short_before and isinstance(message, FromTools):
            message = shorten(message)
        messages.append(message)
    return answered(messages)


def message_of(entry: Entry) -> Message | None:
    """The message of an entry; None if it has none."""
    if isinstance(entry, Said) and isinstance(entry.message, FromUser) and entry.files:
        return FromUser(parts=(*entry.message.parts, *(Text(file.for_model()) for file in entry.files)))
    if isinstance(entry, Said):
        return entry.message
    if isinstance(entry, Partial) and entry.text.strip():
        return FromModel(parts=(Text(entry.text),))
    return FromUser(parts=(Text(CONTINUE),)) if isinstance(entry, Continued) else None


def shorten(message: FromTools) -> FromTools:
    return FromTools(answers=tuple(_short(answer) for answer in message.answers))


def _short(answer: ToolAnswer) -> ToolAnswer:
    text = answer.text
    if len(text) <= SHORT and not answer.images:
        return answer
    note = " … (shortened; call the tool again for the rest)" if len(text) > SHORT else ""
    seen = f" ({len(answer.images)} pictures left out)" if answer.images else ""
    return ToolAnswer(
        id=answer.id,
        name=answer.name,
        parts=(Text(f"{text[:SHORT]}{note}{seen}"),),
        outcome=answer.outcome,
        ms=answer.ms,
    )


def answered(messages: Sequence[Message]) -> list[Message]:
    """The messages with an answer for every call and no other answers, as vendors require."""
    result: list[Message] = []
    waiting: tuple[ToolUse, ...] = ()
    for message in messages:
        if isinstance(message, FromTools):
            given = {answer.id: answer for answer in message.answers}
            if waiting:
                result.append(_answers(waiting, given))
            waiting = ()
            continue
        if waiting:
            result.append(_answers(waiting, {}))
        result.append(message)
        waiting = message.calls if isinstance(message, FromModel) else ()
    if waiting:
        result.append(_answers(waiting, {}))
    return result


def _answers(calls: Sequence[ToolUse], given: dict[str, ToolAnswer]) -> FromTools:
    return FromTools(answers=tuple(given.get(call.id) or interrupted(call) for call in calls))


def interrupted(
    call: ToolUse, ms: float = 0.0, *, alone: bool = False, made: bool = True, ended: int = 0
) -> ToolAnswer:
    """The answer to a call that got none; `alone` if the user stopped only this call."""
    words = NOT_MADE if not made else STOPPED if alone else INTERRUPTED
    if ended:
        words += f" {ended} {'process' if ended == 1 else 'processes'} of it ended."
    told = Text(marked(call.name, words, "cancelled"))
    return ToolAnswer(id=call.id, name=call.name, parts=(told,), outcome="cancelled", ms=ms, ran=made)
