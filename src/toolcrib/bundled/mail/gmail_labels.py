"""The labels of a Gmail account by name: as results show them, and as queries and changes name them."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from toolcrib.errors import ToolcribError
from toolcrib.serverkit.context import ToolFailure

MAX_AGE = 300.0
"""Seconds after which a label may have been renamed elsewhere."""
_SYSTEM = ("INBOX", "UNREAD", "STARRED", "IMPORTANT", "TRASH", "SPAM", "SENT", "DRAFT", "CHAT")
_SHOWN = {
    **{name: name for name in _SYSTEM},
    "CATEGORY_PERSONAL": "category:primary",
    "CATEGORY_SOCIAL": "category:social",
    "CATEGORY_PROMOTIONS": "category:promotions",
    "CATEGORY_UPDATES": "category:updates",
    "CATEGORY_FORUMS": "category:forums",
}
"""Google's own labels, as queries name them."""


class GmailLabels:
    def __init__(self, listed: Callable[[], Awaitable[Any]], create: Callable[[str], Awaitable[str]]) -> None:
        self._listed = listed
        self._create = create
        self._names: dict[str, str] = {}
        """By id."""
        self._read_at = -MAX_AGE

    async def learn(self, ids: Iterable[str]) -> None:
        """Make sure that the names of these ids are known, as far as Google knows them."""
        own = set(ids) - set(_SHOWN)
        if not own or (own <= set(self._names) and time.monotonic() - self._read_at < MAX_AGE):
            return
        try:
            await self._refresh()
        except ToolcribError:
            return  # the ids are shown: a message without names is better than none

    def names(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Names as far as they were learned."""
        return tuple(_SHOWN.get(each) or self._names.get(each, each) for each in ids)

    async def ids(self, labels: Sequence[str], *, create: bool) -> list[str]:
        """Ids for names; a missing label is made, or `ToolFailure` lists those that exist."""
        known = {_key(name): own for own, name in _SHOWN.items()} | {_key(own): own for own in _SHOWN}
        if any(_key(label) not in known for label in labels):
            await self._refresh()
            known |= {_key(own): own for own in self._names}
            known |= {_key(name): own for own, name in self._names.items()}
        for label in labels:
            if _key(label) not in known:
                known[_key(label)] = await self._missing(label, create)
        return [known[_key(label)] for label in labels]

    async def _refresh(self) -> None:
        listed = (await self._listed()).get("labels") or ()
        self._names = {str(each["id"]): str(each["name"]) for each in listed if each["id"] not in _SHOWN}
        self._read_at = time.monotonic()

    async def _missing(self, label: str, create: bool) -> str:
        if create:
            made = await self._create(label)
            self._names[made] = label
            return made
        shown = ", ".join([*_SYSTEM, *sorted(self._names.values(), key=str.casefold)][:40])
        raise ToolFailure(f"There is no label {label[:60]!r}.", f"Labels of this account: {shown}.")


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name.strip()).casefold()
