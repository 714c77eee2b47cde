"""Views of the gateway."""

from __future__ import annotations

from typing_extensions import TypedDict


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


class ProfileRemoved(TypedDict):
    """A view that is gone."""

    name: str
    removed: bool
