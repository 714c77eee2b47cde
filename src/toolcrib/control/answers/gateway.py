"""Views of the gateway."""

from __future__ import annotations

from typing_extensions import TypedDict

from toolcrib.control.answers.policy import Mode


class ProfileShown(TypedDict):
    """A view; the one without a name is the whole crib."""

    name: str
    path: str
    servers: list[str]
    tools: list[str]
    read_only: bool
    search: bool
    plain_names: bool
    k: int
    always_on: list[str]
    token: bool
    """Whether one is needed."""
    token_tail: str
    """Its last characters, where they are known."""
    mode: Mode
    """When a person is asked about what its clients call."""


class ProfileRemoved(TypedDict):
    """A view that is gone."""

    name: str
    removed: bool
