"""Keeps the answer to `tools/list`, in both eras, until the registry or the view changes.

A thousand tools take milliseconds to gather and encode, and every client asks for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolcrib.gateway.profile import Profile
from toolcrib.gateway.wire import Encoded
from toolcrib.tools.snapshot import Snapshot


class Listing:
    """The answers made since the last change."""

    def __init__(self) -> None:
        self._snapshot: Snapshot | None = None
        self._profile: Profile | None = None
        self._pages: dict[bool, Encoded] = {}

    def page(
        self, snapshot: Snapshot, profile: Profile, make: Callable[[], dict[str, Any]], *, modern: bool
    ) -> Encoded:
        """The answer for clients of this era, made anew where these are not what it was made from."""
        if snapshot is not self._snapshot or profile is not self._profile:
            self._snapshot, self._profile = snapshot, profile
            self._pages = {}
        if modern not in self._pages:
            self._pages[modern] = Encoded(make())
        return self._pages[modern]
