"""What approval questions showed, so that a call does what the user saw and nothing else: the error if that
has changed, and the note on a text that was cut."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from toolcrib.serverkit.caller_context import call_id
from toolcrib.serverkit.context import ToolFailure

KEPT = 256
"""Calls that were asked about and have not run yet."""


class ChangedSinceAsked(ToolFailure):
    """The call would do something else than the user was asked about."""

    kind = "changed_since_asked"


class ShownPreviews:
    """The previews of one server's calls, by the id of the call."""

    def __init__(self) -> None:
        self._shown: OrderedDict[str, tuple[str, datetime | None]] = OrderedDict()

    def keep(self, preview: Mapping[str, Any], *details: object, now: datetime | None = None) -> None:
        """Remember what the question of the call being described shows; `details` are compared as well.

        `now` is the time by which words such as "in two hours" were read.
        """
        call = call_id.get()
        if call is not None:
            self._shown[call] = (_text(preview, details), now)
        while len(self._shown) > KEPT:
            self._shown.popitem(last=False)

    def asked_at(self) -> datetime | None:
        """The `now` of the question of the call being made; None if there was no question."""
        return self._shown.get(call_id.get() or "", ("", None))[1]

    def check(self, preview: Mapping[str, Any], *details: object) -> None:
        """Raises `ChangedSinceAsked` if the call being made differs from what its question showed.

        A call whose question had no preview passes: there the user saw the arguments.
        """
        shown = self._shown.pop(call_id.get() or "", None)
        if shown is not None and shown[0] != _text(preview, details):
            raise ChangedSinceAsked(
                "What the call would do has changed since the user was asked, so nothing was done.",
                "Look at it again, and call the tool again.",
            )


def _text(preview: Mapping[str, Any], details: tuple[object, ...]) -> str:
    return json.dumps([dict(preview), *details], sort_keys=True, default=str)


def shortened(text: str, most: int) -> str:
    """A text for a question; the user must see that there is more than is shown."""
    left = len(text) - most
    return text if left <= 0 else f"{text[:most]}\n\n[… {left:,} more characters are not shown]"
