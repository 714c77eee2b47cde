"""Searches an IMAP mailbox: on the server as far as it can, then by the structure of messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from toolcrib.bundled.mail.folders import Folder
from toolcrib.bundled.mail.imap_criteria import SearchScope, criteria, folders_to_search, is_exact
from toolcrib.bundled.mail.imap_messages import FolderState, has_attachments, select, summaries
from toolcrib.bundled.mail.mailbox import FoundPage, Summary
from toolcrib.bundled.mail.query import All, Not, Query, Term
from toolcrib.bundled.mail.structure import contents, from_body_structure
from toolcrib.serverkit.context import ToolFailure

if TYPE_CHECKING:
    from toolcrib.accounts.imap import ImapConnection

MAX_FOLDERS = 60
CHUNK = 200
MAX_CHECKED = 5000
"""Messages of a folder whose structure one search looks at."""
MAX_SEARCHED = 100_000
"""Messages of a folder that one search covers; the answer to more exceeds the client's line length."""
_NO_DATE = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Hits:
    folder: Folder
    validity: int
    uids: list[int]
    """Newest first."""
    complete: bool
    """Whether these are all that match."""
    checked_all: bool = True
    """False if the limit of messages to check was reached."""


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
    remarks = _remarks(targets)
    needed = offset + limit + 1
    found = [_matching(connection, folder, rest, scope, needed) for folder, rest in targets[:MAX_FOLDERS]]
    newest = _newest(connection, found, needed)
    page = newest[offset : offset + limit]
    complete = all(hits.complete for hits in found)
    if not all(hits.checked_all for hits in found):
        remarks += (f"Of each folder, only the newest {MAX_CHECKED} messages were checked for attachments.",)
    return FoundPage(
        messages=_read(connection, page),
        next_page=str(offset + limit) if len(newest) > offset + limit else None,
        total=sum(len(hits.uids) for hits in found) if complete else None,
        remarks=remarks,
    )


def _remarks(targets: Sequence[tuple[Folder, Query]]) -> tuple[str, ...]:
    if len(targets) <= MAX_FOLDERS:
        return ()
    return (f"Only {MAX_FOLDERS} of {len(targets)} folders were searched; name one with in:FOLDER.",)


def _matching(
    connection: ImapConnection, folder: Folder, query: Query, scope: SearchScope, needed: int
) -> Hits:
    validity, exists, _ = _open(connection, folder)
    if not exists:
        return Hits(folder, validity, [], complete=True)
    words = criteria(query, scope)
    if exists > MAX_SEARCHED:
        words = [f"{exists - MAX_SEARCHED + 1}:*".encode(), *words]
    uids = connection.find(words)[::-1]
    complete = exists <= MAX_SEARCHED
    if is_exact(query):
        return Hits(folder, validity, uids, complete)
    checked, all_checked = _checked(connection, query, scope, uids, needed)
    reached = not all_checked and len(checked) < needed
    return Hits(folder, validity, checked, complete and all_checked, checked_all=not reached)


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
    for uid, data in connection.fetch(uids, [b"BODYSTRUCTURE"]).items():
        try:
            root = from_body_structure(data[b"BODYSTRUCTURE"])
        except (KeyError, IndexError, TypeError, AttributeError):
            continue
        if term.operator == "has":
            matches = has_attachments(root)
        else:
            matches = any(wanted in part.name.casefold() for part in contents(root).attachments)
        if matches:
            kept.add(uid)
    return kept


def _newest(connection: ImapConnection, found: list[Hits], needed: int) -> list[tuple[Hits, int]]:
    """The first `needed` messages of all folders together."""
    found = [hits for hits in found if hits.uids]
    if len(found) < 2:
        return [(hits, uid) for hits in found for uid in hits.uids[:needed]]
    dated: list[tuple[datetime, Hits, int]] = []
    for hits in found:
        select(connection, hits.folder.name)
        uids = hits.uids[:needed]
        times = connection.fetch(uids, [b"INTERNALDATE"])
        for uid in uids:
            received = times.get(uid, {}).get(b"INTERNALDATE") or _NO_DATE
            dated.append((received, hits, uid))
    dated.sort(key=lambda entry: (entry[0], entry[2]), reverse=True)
    return [(hits, uid) for _, hits, uid in dated[:needed]]


def _read(connection: ImapConnection, page: Sequence[tuple[Hits, int]]) -> list[Summary]:
    read: dict[tuple[str, int], Summary] = {}
    for hits in {id(hits): hits for hits, _ in page}.values():
        uids = [uid for owner, uid in page if owner is hits]
        select(connection, hits.folder.name)
        for uid, summary in summaries(connection, hits.folder, hits.validity, uids).items():
            read[hits.folder.name, uid] = summary
    keys = [(hits.folder.name, uid) for hits, uid in page]
    return [read[key] for key in keys if key in read]
