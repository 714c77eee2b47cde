"""What a trigger type declares: `workflows/triggers/<name>.py` has one `TRIGGER` of this class. Names the
choices for overlapping runs (skip, queue, allow).

A trigger finds occurrences; starting runs for them, each once, is the task of `workflows.automation`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

Overlap = Literal["skip", "queue", "allow"]
"""What happens when an occurrence is due while a run of the same trigger is active."""


class TriggerSettings(BaseModel):
    """Settings of a trigger; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


S = TypeVar("S", bound=TriggerSettings)


@dataclass(frozen=True, kw_only=True)
class TriggerOccurrence:
    """Something that starts a run."""

    id: str
    """Letters and digits; the same on every host, so that it starts one run."""
    event: Mapping[str, Any]
    """What `{{event.…}}` refers to."""
    due: datetime
    ignored: bool = False
    """Remembered, but starts nothing."""


@dataclass(frozen=True, kw_only=True)
class TriggerResult:
    """The outcome of one check, stored as a whole."""

    occurrences: tuple[TriggerOccurrence, ...] = ()
    position: str | None = None
    """Up to where the trigger has checked; None if unchanged."""
    gone: frozenset[str] = frozenset()
    """Occurrences that can be forgotten after a month: their files are gone."""


class Watch(Protocol):
    """Looks for occurrences of one trigger that is on."""

    async def check(self, now: datetime, position: str) -> TriggerResult:
        """What occurred since `position`. Raises `ToolcribError` if it cannot check now."""


@dataclass(frozen=True, kw_only=True)
class WatchContext:
    """What a watch may use."""

    monotonic: Callable[[], float]
    known: Callable[[], Awaitable[set[str]]]
    """The ids of the occurrences that are remembered."""


async def _begin_here(settings: Any, now: datetime) -> TriggerResult:
    return TriggerResult(position=now.isoformat())


@dataclass(frozen=True, kw_only=True)
class TriggerType(Generic[S]):
    """A kind of trigger."""

    name: str
    """As in the file, and the name of its module."""
    title: str
    about: str
    """One sentence for users."""
    settings: type[S]
    describe: Callable[[S], str]
    """When it starts runs, as a sentence: "Every weekday at 07:30, Europe/Berlin"."""
    problems: Callable[[S], tuple[str, ...]] = lambda settings: ()
    """Why these settings cannot work, beyond their types."""
    untrusted: Callable[[S], bool] = lambda settings: False
    """Whether the event has data of others, which may contain instructions."""
    event: Mapping[str, str] = field(default_factory=dict)
    """The fields of `{{event.…}}` and what they are."""
    begin: Callable[[S, datetime], Awaitable[TriggerResult]] = _begin_here
    """Run when the user turns it on."""
    watch: Callable[[S, WatchContext], Watch] | None = None
    """None if requests bring the occurrences."""
    overlap: Callable[[S], Overlap] = lambda settings: "allow"
    next: Callable[[S, datetime], datetime | None] = lambda settings, now: None
    """When it is due next, if that is known."""
    local: bool = False
    """Watches something of one machine, so that only the machine where it was turned on does."""
    remembers: bool = False
    """Its occurrences are remembered until it says that they are gone; others for a month."""
