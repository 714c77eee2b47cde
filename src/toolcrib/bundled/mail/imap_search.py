"""Searches an IMAP mailbox: on the server as far as it can, then by the structure of messages. Limits:
folders, messages checked for attachments, seconds to look for a thread. Decides the order of results and
remarks about incomplete ones.

Messages are in the order of their dates. Where the server cannot sort, the dates of the messages are read.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from toolcrib.bundled.mail.folders import Folder
from toolcrib.bundled.mail.imap_criteria import (
    SearchScope,
    alternatives,
    criteria,
    folders_to_search,
    imap_date,
    is_exact,
    quoted,
    unknown_places,
)
from toolcrib.bundled.mail.imap_messages import (
    FolderState,
    ImapId,
    Moment,
    fetch,
    moments,
    select,
    summaries,
)
from toolcrib.bundled.mail.mailbox import FoundPage, MessageSummary, OpenMessage, Thread, gone_remark
from toolcrib.bundled.mail.query import All, Not, Query, Term
from toolcrib.bundled.mail.structure import contents, from_body_structure, has_attachments
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

MAX_FOLDERS = 60
CHUNK = 200
MAX_CHECKED = 5000
"""Messages of a folder whose structure one search looks at."""
MAX_SEARCHED = 100_000
"""Messages that one command covers; the answer to more exceeds the client's line length."""
MAX_RANGES = 10
"""Commands for one folder."""
MAX_DATED = 5000
"""Messages whose dates are read if the server cannot sort; of more, those of the last days are enough."""
_WINDOWS = (31, 366)
"""Days back from today in which the newest messages are looked for."""


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
        self._found: dict[str, MessageSummary] = {}
        self._open: tuple[Folder, int] | None = None

    def follow(self, linked: Iterable[str]) -> Thread:
        """Ask every folder about every Message-ID that turns up; the first folders first."""
        self._known.update(linked)
        end = time.monotonic() + SECONDS
        searches = 0
        while folder := next((folder for folder in self._asked if self._known - self._asked[folder]), None):
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
        words = [
            [b"HEADER", field, quoted(message_id.strip("<>"))] for message_id in batch for field in _FIELDS
        ]
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


def _moment(summary: MessageSummary) -> datetime:
    return summary.headers.sent or summary.received or datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Hits:
    folder: Folder
    validity: int
    uids: list[int]
    """Newest first."""
    complete: bool = True
    """Whether these are all that match."""
    remarks: tuple[str, ...] = ()


def search(
    connection: ImapConnection,
    folders: Sequence[Folder],
    query: Query,
    scope: SearchScope,
    limit: int,
    offset: int,
) -> FoundPage:
    """One page of messages, newest first."""
    targets = folders_to_search(query, folders)
    needed = offset + limit + 1
    found = [
        hits
        for folder, rest in targets[:MAX_FOLDERS]
        for hits in _matching(connection, folder, rest, scope, needed)
    ]
    newest = _newest(connection, found, needed)
    page = newest[offset : offset + limit]
    messages = _read(connection, page)
    gone = len(page) - len(messages)
    remarks = _remarks(len(targets), found, gone)
    return FoundPage(
        messages=messages,
        # Messages that are gone do not count in the next search.
        next_page=str(offset + limit - gone) if len(newest) > offset + limit else None,
        total=sum(len(hits.uids) for hits in found) if all(hits.complete for hits in found) else None,
        remarks=remarks if newest else (*remarks, *unknown_places(query, folders)),
    )


def _remarks(folders: int, found: Sequence[Hits], gone: int) -> tuple[str, ...]:
    remarks = list(dict.fromkeys(remark for hits in found for remark in hits.remarks))
    if folders > MAX_FOLDERS:
        remarks.insert(0, f"Only {MAX_FOLDERS} of {folders} folders were searched; name one with in:FOLDER.")
    return (*remarks, *gone_remark(gone))


def _matching(
    connection: ImapConnection, folder: Folder, query: Query, scope: SearchScope, needed: int
) -> list[Hits]:
    """One for each range of messages of the folder."""
    validity, exists, _ = _open(connection, folder)
    words = criteria(query, scope)
    ranges = [words] if exists else []
    if exists > MAX_SEARCHED:
        starts = range(1, exists + 1, MAX_SEARCHED)
        ranges = [[f"{start}:{start + MAX_SEARCHED - 1}".encode(), *words] for start in reversed(starts)]
    left_out = exists - MAX_RANGES * MAX_SEARCHED
    found = [
        _in_range(connection, Hits(folder, validity, []), uids, query, scope, needed)
        for uids in ranges[:MAX_RANGES]
    ]
    if left_out > 0:
        said = f"{left_out:,} messages that arrived in {folder.name} before all others were not searched."
        found = [replace(hits, complete=False, remarks=(*hits.remarks, said)) for hits in found]
    return found


def _in_range(
    connection: ImapConnection, hits: Hits, words: list[bytes], query: Query, scope: SearchScope, needed: int
) -> Hits:
    if is_exact(query):
        return _in_order(connection, hits, words, scope, needed)
    hits = _in_order(connection, hits, words, scope, MAX_CHECKED)
    checked, all_checked = _checked(connection, query, scope, hits.uids, needed)
    said = f"Of each folder, only the newest {MAX_CHECKED} messages were checked for attachments."
    reached = not all_checked and len(checked) < needed
    remarks = (*hits.remarks, said) if reached else hits.remarks
    return replace(hits, uids=checked, complete=hits.complete and all_checked, remarks=remarks)


def _in_order(
    connection: ImapConnection, hits: Hits, words: list[bytes], scope: SearchScope, needed: int
) -> Hits:
    """What matches, of which at least the first `needed` are in order."""
    ordered = connection.find_by_date(words)
    if ordered is not None:
        return replace(hits, uids=ordered[::-1])
    uids = connection.find(words)
    dated = _within_days(connection, words, scope, needed) if needed < MAX_DATED < len(uids) else {}
    dated = dated or moments(connection, uids)
    first = sorted(dated, key=lambda uid: dated[uid], reverse=True)
    return replace(hits, uids=[*first, *(uid for uid in reversed(uids) if uid not in dated)])


def _within_days(
    connection: ImapConnection, words: list[bytes], scope: SearchScope, needed: int
) -> dict[int, Moment]:
    """The dates of messages of the last days, as many days as have enough; empty if there are too many."""
    for days in _WINDOWS:
        first_day = scope.today - timedelta(days=days)
        word = imap_date(first_day)
        uids = connection.find([b"OR", b"SENTSINCE", word, b"SINCE", word, *words])
        if len(uids) > MAX_DATED:
            break
        dated = moments(connection, uids)
        # Searches ignore the time zone, so the first days may be incomplete.
        sure = datetime(first_day.year, first_day.month, first_day.day, tzinfo=UTC) + timedelta(days=2)
        if sum(moment.sent >= sure.timestamp() for moment in dated.values()) >= needed:
            return dated
    return {}


def _open(connection: ImapConnection, folder: Folder) -> FolderState:
    try:
        return select(connection, folder.name)
    except ToolFailure:  # shared folders may be listed and closed to us
        return FolderState(0, 0)


def _checked(
    connection: ImapConnection, query: Query, scope: SearchScope, uids: list[int], needed: int
) -> tuple[list[int], bool]:
    """Those that really match, newest first, until there are enough for the page."""
    matching: list[int] = []
    for start in range(0, min(len(uids), MAX_CHECKED), CHUNK):
        if len(matching) >= needed:
            return matching, False
        chunk = uids[start : start + CHUNK]
        kept = _evaluate(connection, query, scope, chunk)
        matching += [uid for uid in chunk if uid in kept]
    return matching, len(uids) <= MAX_CHECKED


def _evaluate(connection: ImapConnection, query: Query, scope: SearchScope, uids: list[int]) -> set[int]:
    if is_exact(query):
        numbers = ",".join(map(str, uids)).encode()
        return set(connection.find([b"UID", numbers, *criteria(query, scope)]))
    if isinstance(query, Term):
        return _by_structure(connection, query, uids)
    if isinstance(query, Not):
        return set(uids) - _evaluate(connection, query.part, scope, uids)
    sets = [_evaluate(connection, part, scope, uids) for part in query.parts]
    return set.intersection(*sets) if isinstance(query, All) else set.union(*sets)


def _by_structure(connection: ImapConnection, term: Term, uids: list[int]) -> set[int]:
    wanted = term.value.casefold()
    if term.operator == "has" and wanted != "attachment":
        raise ToolFailure(
            f"`has:{term.value}` cannot be searched for on this account.",
            "On IMAP, only has:attachment is supported.",
        )
    kept = set()
    for uid, data in fetch(connection, uids, [b"BODYSTRUCTURE"]).items():
        try:
            root = from_body_structure(data[b"BODYSTRUCTURE"])
        except (KeyError, IndexError, TypeError, AttributeError):
            continue
        if term.operator == "has":
            matches = has_attachments(root)
        else:
            matches = any(wanted.strip("*") in part.name.casefold() for part in contents(root).attachments)
        if matches:
            kept.add(uid)
    return kept


def _newest(connection: ImapConnection, found: list[Hits], needed: int) -> list[tuple[Hits, int]]:
    """The first `needed` messages of all folders together."""
    found = [hits for hits in found if hits.uids]
    if len(found) < 2:
        return [(hits, uid) for hits in found for uid in hits.uids[:needed]]
    dated = [list(_dated(connection, hits, needed)) for hits in found]
    # Merged, not sorted: the order within a folder must not depend on how many messages are needed.
    merged = heapq.merge(*dated, key=lambda entry: entry[0], reverse=True)
    return [(hits, uid) for _, hits, uid in list(merged)[:needed]]


def _dated(connection: ImapConnection, hits: Hits, needed: int) -> list[tuple[Moment, Hits, int]]:
    uids = hits.uids[:needed]
    found = moments(connection, uids) if _open(connection, hits.folder).exists else {}
    return [(found[uid], hits, uid) for uid in uids if uid in found]


def _read(connection: ImapConnection, page: Sequence[tuple[Hits, int]]) -> list[MessageSummary]:
    read: dict[tuple[str, int], MessageSummary] = {}
    for hits in {id(hits): hits for hits, _ in page}.values():
        uids = [uid for owner, uid in page if owner is hits]
        if _open(connection, hits.folder).exists:
            for uid, summary in summaries(connection, hits.folder, hits.validity, uids).items():
                read[hits.folder.name, uid] = summary
    keys = [(hits.folder.name, uid) for hits, uid in page]
    return [read[key] for key in keys if key in read]
