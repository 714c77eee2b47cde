"""An observation, its filter and its events: plain data with the field names of the gRPC interface; the kinds
of observations and states."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from toolcrib.bundled.desktop.backend import Element
from toolcrib.bundled.desktop.records import RULES, enum_word

ObservationKind = Annotated[
    Literal["element_changes", "window_changes", "application_changes", "attribute_changes", "tree_changes"],
    enum_word("OBSERVATION_TYPE_"),
]
ObservationStateWord = Literal["pending", "active", "completed", "cancelled", "failed"]
ChangeWord = Literal[
    "element_added", "element_removed", "element_modified", "window_event", "application_event"
]


@dataclass(frozen=True)
class ObservationFilter:
    poll_interval: float = 1.0
    visible_only: bool = False
    roles: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    """Only changes of these; empty for all."""


@dataclass(frozen=True)
class ObservationRequest:
    __pydantic_config__: ClassVar[dict[str, Any]] = RULES
    type: ObservationKind
    filter: ObservationFilter = field(default_factory=ObservationFilter)
    activate: bool = False
    """Bring the application's window to the front first."""


@dataclass(frozen=True)
class AttributeChange:
    attribute: str
    old_value: str
    new_value: str


@dataclass(frozen=True)
class ObservedChange:
    """One change, before it belongs to an observation."""

    kind: ChangeWord
    event_type: str = ""
    """Of a window or application: created, moved, launched …"""
    application: int | None = None
    window_id: int | None = None
    title: str = ""
    element: Element | None = None
    """As it is now; as it was, if it was removed."""
    old_element: Element | None = None
    changes: tuple[AttributeChange, ...] = ()


@dataclass(frozen=True)
class ObservationEvent:
    observation: str
    event_time: float
    """Seconds since 1970."""
    sequence: int
    """Counts from 1; a gap means that events were dropped."""
    change: ObservedChange


@dataclass
class Observation:
    name: str
    request: ObservationRequest
    create_time: float
    state: ObservationStateWord = "pending"
    start_time: float | None = None
    end_time: float | None = None
    error: str = ""
    """Why it failed."""
