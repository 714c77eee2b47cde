"""Finds the conversation of a message on IMAP, by the Message-IDs that its messages name, in all folders."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from toolcrib.bundled.mail.folders import Folder
from toolcrib.bundled.mail.imap_criteria import alternatives, quoted
from toolcrib.bundled.mail.imap_ids import ImapId
from toolcrib.bundled.mail.imap_messages import select, summaries
from toolcrib.bundled.mail.mailbox import OpenMessage, Summary, Thread
from toolcrib.serverkit.context import ToolFailure

if TYPE_CHECKING:
    from toolcrib.accounts.imap import ImapConnection

MAX_SEARCHES = 120
SECONDS = 20.0
"""How long a thread is looked for."""
MAX_FOUND = 200
MAX_AT_ONCE = 10
"""Message-IDs in one command."""
_ORDER = ("inbox", "sent", "archive", "", "drafts")
_FIELDS = (b"Message-ID", b"References", b"In-Reply-To")


def find_thread(connection: ImapConnection, folders: Sequence[Folder], message: OpenMessage) -> Thread:
    """Its messages from the oldest to the newest."""
    search = _ThreadSearch(connection, _places(folders, ImapId.read(message.id).folder))
    return search.follow(message.headers.linked)


def _places(folders: Sequence[Folder], here: str) -> list[Folder]:
    """This folder first; then where most of a conversation is. Trash and spam only if it is there."""
    first = [folder for folder in folders if folder.name == here]
    everything = [folder for folder in folders if folder.role == "all"]
    others = [folder for role in _ORDER for folder in folders if folder.role == role]
    return list(dict.fromkeys([*first, *(everything or others)]))


class _ThreadSearch:
    def __init__(self, connection: ImapConnection, places: Sequence[Folder]) -> None:
        self._connection = connection
        self._asked: dict[Folder, set[str]] = {folder: set() for folder in places}
        self._known: set[str] = set()
        self._found: dict[str, Summary] = {}
        self._open: tuple[Folder, int] | None = None

    def follow(self, linked: Iterable[str]) -> Thread:
        """Ask every folder about every Message-ID that turns up; the first folders first."""
        self._known.update(linked)
        end = time.monotonic() + SECONDS
        searches = 0
        while folder := next((each for each in self._asked if self._known - self._asked[each]), None):
            if searches >= MAX_SEARCHES or len(self._found) >= MAX_FOUND or time.monotonic() > end:
                return self._thread("The thread may have more messages: not all folders were searched.")
            batch = sorted(self._known - self._asked[folder])[:MAX_AT_ONCE]
            self._asked[folder].update(batch)
            self._ask(folder, batch)
            searches += 1
        return self._thread()

    def _ask(self, folder: Folder, batch: Sequence[str]) -> None:
        validity = self._select(folder)
        if not validity:
            del self._asked[folder]
            return
        words = [[b"HEADER", field, quoted(each.strip("<>"))] for each in batch for field in _FIELDS]
        uids = self._connection.find(alternatives(words))[-MAX_FOUND:]
        read = summaries(self._connection, folder, validity, uids, snippets=False)
        for summary in read.values():
            # Servers search for a part of the field: `1@example.org` also finds `11@example.org`.
            if summary.headers.linked & self._known:
                self._found.setdefault(summary.headers.message_id or summary.id, summary)
                self._known |= summary.headers.linked

    def _select(self, folder: Folder) -> int:
        """Its UIDVALIDITY; 0 if it has no messages or cannot be opened."""
        if self._open is None or self._open[0] != folder:
            try:
                state = select(self._connection, folder.name)
            except ToolFailure:
                return 0
            self._open = (folder, state.validity if state.exists else 0)
        return self._open[1]

    def _thread(self, *remarks: str) -> Thread:
        return Thread.of(sorted(self._found.values(), key=_moment), *remarks)


def _moment(summary: Summary) -> datetime:
    return summary.headers.sent or summary.received or datetime.min.replace(tzinfo=UTC)
