"""A mailbox reached by IMAP, sending by SMTP: its connections, labels and folders. Decides how many
connections are open and for how long, timeouts of reading and sending, folders that are created, the copy in
Sent, labels as flags."""

from __future__ import annotations

import asyncio
import contextlib
import imaplib
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from toolcrib.accounts import Account
from toolcrib.accounts.mail_servers import MailServers
from toolcrib.bundled.mail.decoding import TransferDecoder, transfer_decoded
from toolcrib.bundled.mail.folders import Folder, Role, read_folders, with_role
from toolcrib.bundled.mail.headers import Mailto
from toolcrib.bundled.mail.imap_criteria import SearchScope, keyword_of
from toolcrib.bundled.mail.imap_messages import (
    PIECE,
    ImapId,
    find_by_message_id,
    gone,
    labels_of,
    locate,
    open_message,
    read_section,
    select,
)
from toolcrib.bundled.mail.imap_search import find_thread, search
from toolcrib.bundled.mail.mailbox import Changed, FoundPage, OpenMessage, Sent, Thread
from toolcrib.bundled.mail.outgoing import Outgoing
from toolcrib.bundled.mail.query import parse_query
from toolcrib.bundled.mail.structure import MessagePart
from toolcrib.errors import CallTimeout, ConnectionLost, ServerUnavailable, ToolcribError
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.threads import in_thread

if TYPE_CHECKING:
    from toolcrib.accounts.imap import ImapConnection

MAX_CONNECTIONS = 4
"""At once; some providers allow no more than five for all programs of a user."""
WAIT = 60.0
FRESH = 20.0
"""Seconds after which an idle connection is tested before use."""
MAX_IDLE = 240.0

_UIDS = re.compile(rb"(\d+) (?:\S+ )?(\d+)")
_NEW_NAMES: dict[Role, str] = {
    "sent": "Sent",
    "drafts": "Drafts",
    "trash": "Trash",
    "archive": "Archive",
    "spam": "Junk",
}

_FLAGS = {"STARRED": "\\Flagged", "IMPORTANT": "$Important"}
_PLACES: dict[str, Role] = {"INBOX": "inbox", "TRASH": "trash", "SPAM": "spam"}
_FIXED = frozenset({"SENT", "DRAFT", "CHAT"})

R = TypeVar("R")
DEADLINE = 120.0
"""Seconds for one operation, all its commands together."""
SEND_DEADLINE = 600.0
_NARROWER = "Try again with a narrower request."


class ImapPool:
    def __init__(self, servers: MailServers, password: str, account: str) -> None:
        self._servers = servers
        self._password = password
        self._account = account
        self._slots = threading.Semaphore(MAX_CONNECTIONS)
        self._lock = threading.Lock()
        self._idle: list[tuple[float, ImapConnection]] = []
        self._closed = False

    def read(self, work: Callable[[ImapConnection], R]) -> R:
        """Do work that may be repeated: once more on a new connection if the first one was lost."""
        try:
            return self._do(work, FRESH)
        except ConnectionLost:
            self._drop_idle()
            return self._do(work, FRESH)

    def change(self, work: Callable[[ImapConnection], R]) -> R:
        """Do work once; raises `ConnectionLost` if the connection ends meanwhile."""
        return self._do(work, 0.0)

    def _do(self, work: Callable[[ImapConnection], R], fresh: float) -> R:
        with self._connection(fresh) as connection:
            return work(connection)

    def close(self) -> None:
        """End all idle connections; those in use end when they are returned."""
        self._closed = True
        self._drop_idle()

    @contextmanager
    def _connection(self, fresh: float) -> Iterator[ImapConnection]:
        from toolcrib.accounts.imap import close_quietly, connect_imap, translated

        if not self._slots.acquire(timeout=WAIT):
            raise ToolFailure("All connections to the mailbox are busy.", "Try again in a minute.")
        try:
            connection = self._take(fresh) or connect_imap(
                self._servers, self._password, account=self._account
            )
            try:
                with translated(self._servers.imap):
                    yield connection
            except ServerUnavailable:
                close_quietly(connection)
                raise
            except BaseException as error:
                # After a refusal the connection is fine; after anything unknown it may be in mid-response.
                if isinstance(error.__cause__, imaplib.IMAP4.error) or isinstance(error, ToolFailure):
                    self._give_back(connection)
                else:
                    close_quietly(connection)
                raise
            self._give_back(connection)
        finally:
            self._slots.release()

    def _take(self, fresh: float) -> ImapConnection | None:
        from toolcrib.accounts.imap import close_quietly

        while True:
            with self._lock:
                if not self._idle:
                    return None
                since, connection = self._idle.pop()
            age = time.monotonic() - since
            if age < fresh or (age < MAX_IDLE and _is_alive(connection)):
                return connection
            close_quietly(connection)

    def _give_back(self, connection: ImapConnection) -> None:
        from toolcrib.accounts.imap import close_quietly

        with self._lock:
            if not self._closed:
                self._idle.append((time.monotonic(), connection))
                return
        close_quietly(connection)

    def _drop_idle(self) -> None:
        from toolcrib.accounts.imap import close_quietly

        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            close_quietly(connection)


def _is_alive(connection: ImapConnection) -> bool:
    try:
        connection.noop()
    except (OSError, imaplib.IMAP4.error):
        return False
    return True


def folder_for(connection: ImapConnection, folders: Sequence[Folder], *roles: Role) -> Folder:
    """The folder with one of these roles; made under its usual name if there is none."""
    found = with_role(folders, *roles)
    if found is not None:
        return found
    name = _prefix(folders) + _NEW_NAMES[roles[0]]
    connection.create_folder(name)
    connection.subscribe_folder(name)
    return next(
        (folder for folder in read_folders(connection.list_folders()) if folder.name == name),
        Folder(name, roles[0]),
    )


def move(connection: ImapConnection, found: ImapId, target: Folder) -> ImapId:
    """Move a message of the open folder; returns where it is now."""
    if found.folder == target.name:
        return found
    connection.answered(b"COPYUID")  # forget that of an earlier command
    if connection.has_capability("MOVE"):
        connection.move([found.uid], target.name)
    else:
        connection.copy([found.uid], target.name)
        _expunge(connection, found.uid)
    return _placed(connection, found, target.name, b"COPYUID")


def append(
    connection: ImapConnection, folder: Folder, data: bytes, flags: Iterable[bytes], message_id: str
) -> ImapId:
    """Store a message in a folder."""
    connection.answered(b"APPENDUID")
    connection.append(folder.name, data, list(flags))
    return _placed(connection, ImapId(folder.name, 0, 0, message_id), folder.name, b"APPENDUID")


def set_flags(connection: ImapConnection, uid: int, add: Iterable[str], remove: Iterable[str]) -> None:
    """Add and remove flags of a message in the open folder."""
    if wanted := [flag.encode() for flag in add]:
        connection.add_flags([uid], wanted, silent=True)
    if unwanted := [flag.encode() for flag in remove]:
        connection.remove_flags([uid], unwanted, silent=True)


def _placed(connection: ImapConnection, found: ImapId, folder: str, code: bytes) -> ImapId:
    """Where a message went: as the server says (UIDPLUS), else found by its Message-ID."""
    for answer in connection.answered(code):
        if match := _UIDS.fullmatch(answer.strip()):
            return ImapId(folder, int(match[1]), int(match[2]), found.message_id)
    again = find_by_message_id(connection, folder, found.message_id) if found.message_id else None
    return again or ImapId(folder, 0, 0, found.message_id)


def _expunge(connection: ImapConnection, uid: int) -> None:
    """Remove one message; without UIDPLUS only if no other one would be removed with it."""
    connection.add_flags([uid], [b"\\Deleted"], silent=True)
    if connection.has_capability("UIDPLUS"):
        connection.uid_expunge([uid])
    elif connection.find([b"DELETED"]) == [uid]:
        connection.expunge()


def _prefix(folders: Sequence[Folder]) -> str:
    """Some servers keep every folder below the inbox."""
    others = [folder for folder in folders if folder.role != "inbox"]
    below = [folder for folder in others if folder.name.upper().startswith(f"INBOX{folder.delimiter}")]
    return f"INBOX{below[0].delimiter}" if below and len(below) == len(others) else ""


@dataclass
class LabelPlan:
    """What a change of labels means for a message in one folder."""

    add: list[str] = field(default_factory=list)
    remove: list[str] = field(default_factory=list)
    gmail_add: list[str] = field(default_factory=list)
    gmail_remove: list[str] = field(default_factory=list)
    targets: list[Folder | Role] = field(default_factory=list)
    """Where to move it: a folder, or a role whose folder may have to be made."""


def modify_labels(
    connection: ImapConnection,
    wanted: ImapId,
    folders: Sequence[Folder],
    add: Sequence[str],
    remove: Sequence[str],
) -> Changed:
    """Change the labels of one message."""
    found = locate(connection, wanted, folders, change=True)
    folder = _named(folders, found.folder)
    plan = _plan(folder, folders, add, remove, gmail=connection.has_capability("X-GM-EXT-1"))
    _check_keywords(connection, found.folder, plan.add)
    set_flags(connection, found.uid, plan.add, plan.remove)
    if plan.gmail_add:
        connection.add_gmail_labels([found.uid], plan.gmail_add)
    if plan.gmail_remove:
        connection.remove_gmail_labels([found.uid], plan.gmail_remove)
    flags = connection.get_flags([found.uid]).get(found.uid)
    if flags is None:
        raise gone(str(wanted))
    for target in plan.targets:
        folder = target if isinstance(target, Folder) else _place(connection, folders, target)
        found = move(connection, found, folder)
    return Changed(str(found), labels_of(flags, folder))


def _place(connection: ImapConnection, folders: Sequence[Folder], role: Role) -> Folder:
    return folder_for(connection, folders, role, *(("all",) if role == "archive" else ()))


def _plan(
    folder: Folder, folders: Sequence[Folder], add: Sequence[str], remove: Sequence[str], *, gmail: bool
) -> LabelPlan:
    plan = LabelPlan()
    for label in remove:
        _remove(plan, label, folder, folders, gmail=gmail)
    for label in add:
        _add(plan, label, folders, gmail=gmail)
    chosen: list[Folder | Role] = [target for target in plan.targets if target != "archive"] or plan.targets
    if len(set(map(repr, chosen))) > 1:
        raise ToolFailure(
            "On this account a message is in one folder only.", "Name one folder to move it to."
        )
    plan.targets = chosen[:1]
    return plan


def _add(plan: LabelPlan, label: str, folders: Sequence[Folder], *, gmail: bool) -> None:
    name = label.upper()
    if name in _FIXED:
        raise ToolFailure(f"{name} cannot be added or removed.", "Use send_email or create_draft instead.")
    if name == "UNREAD":
        plan.remove.append("\\Seen")
    elif name in _FLAGS:
        plan.add.append(_FLAGS[name])
    elif name in _PLACES:
        plan.targets.append(_PLACES[name])
    elif gmail:
        plan.gmail_add.append(label)
    elif (target := _labelled(folders, label)) is not None:
        if target.role == "trash":
            raise ToolFailure("Labels do not move a message to the trash.", "Use trash_email.")
        plan.targets.append(target)
    else:
        plan.add.append(_keyword(label))


def _remove(plan: LabelPlan, label: str, folder: Folder, folders: Sequence[Folder], *, gmail: bool) -> None:
    name = label.upper()
    if name in _FIXED:
        raise ToolFailure(f"{name} cannot be added or removed.", "Use trash_email to remove a message.")
    if name == "UNREAD":
        plan.add.append("\\Seen")
    elif name in _FLAGS:
        plan.remove.append(_FLAGS[name])
    elif name in _PLACES:
        if folder.role == _PLACES[name]:
            plan.targets.append("archive" if name == "INBOX" else "inbox")
    elif gmail:
        plan.gmail_remove.append(label)
    elif folder.is_called(label):
        plan.targets.append("archive")
    elif _labelled(folders, label) is None:
        plan.remove.append(_keyword(label))


def _labelled(folders: Sequence[Folder], label: str) -> Folder | None:
    return next((folder for folder in folders if folder.is_called(label)), None)


def _keyword(label: str) -> str:
    keyword = keyword_of(label)
    if not re.search(r"[A-Za-z0-9]", keyword) or not label.isascii():
        raise ToolFailure(
            f"{label[:60]!r} cannot be a label on this account.",
            "Use ASCII letters and digits, or the name of a folder.",
        )
    return keyword


def _check_keywords(connection: ImapConnection, folder: str, flags: Sequence[str]) -> None:
    keywords = [flag for flag in flags if not flag.startswith("\\")]
    if not keywords:
        return
    allowed = select(connection, folder, change=True).keywords
    known = {flag.lower() for flag in allowed}
    missing = [keyword for keyword in keywords if keyword.encode().lower() not in known]
    if missing and b"\\*" not in allowed:
        raise ToolFailure(
            f"The mail server cannot store the label {missing[0]!r}.",
            "Use the name of a folder instead: the message is moved to it.",
        )


class ImapMailbox:
    def __init__(self, account: Account, password: str) -> None:
        self._account = account
        self._servers = MailServers.of(account)
        self._password = password
        self._pool = ImapPool(self._servers, password, account.name)

    @property
    def address(self) -> str:
        return self._servers.address

    @property
    def sender(self) -> Mailto:
        return Mailto(self._servers.name, self._servers.address)

    def close(self) -> None:
        """End its connections."""
        self._pool.close()

    async def search(self, query: str, limit: int, page: str | None) -> FoundPage:
        tree = parse_query(query)
        offset = _offset(page)
        scope = SearchScope(self.address, datetime.now(UTC).date())
        return await self._read(
            lambda connection: search(connection, _folders(connection), tree, scope, limit, offset)
        )

    async def open(self, message_id: str) -> OpenMessage:
        wanted = ImapId.read(message_id)

        def work(connection: ImapConnection) -> OpenMessage:
            folders = _folders(connection)
            found = locate(connection, wanted, folders)
            return open_message(connection, found, _named(folders, found.folder))

        return await self._read(work)

    async def content(self, message: OpenMessage, part: MessagePart, limit: int) -> bytes:
        return transfer_decoded(await self._section(message, part.section, 0, limit), part.encoding)

    async def raw(self, message: OpenMessage, limit: int) -> bytes:
        return await self._section(message, "", 0, limit)

    async def stream(self, message: OpenMessage, part: MessagePart) -> AsyncIterator[bytes]:
        decoder = TransferDecoder(part.encoding)
        offset = 0
        while raw := await self._section(message, part.section, offset, PIECE):
            yield decoder.feed(raw)
            offset += len(raw)
            if len(raw) < PIECE:
                break
        yield decoder.finish()

    async def thread(self, message: OpenMessage) -> Thread:
        return await self._read(lambda connection: find_thread(connection, _folders(connection), message))

    async def send(self, message: Outgoing, answered: OpenMessage | None) -> Sent:
        refused = await self._transmit(message.to_send, message.recipients)
        remarks = tuple(f"Not delivered to {address}: {reason}" for address, reason in refused.items())
        return await self._keep_copy(message, answered, remarks)

    async def _transmit(self, data: bytes, recipients: Sequence[str]) -> dict[str, str]:
        from toolcrib.accounts.smtp import send_mail

        return await _within(
            SEND_DEADLINE,
            "The message may have been sent: check before sending it again.",
            partial(send_mail, account=self._account.name),
            *(self._servers, self._password, data, recipients),
        )

    async def save_draft(self, message: Outgoing, answered: OpenMessage | None) -> Sent:
        def work(connection: ImapConnection) -> ImapId:
            folder = folder_for(connection, _folders(connection), "drafts")
            return append(connection, folder, message.to_store, (b"\\Draft", b"\\Seen"), message.message_id)

        return Sent(str(await self._change(work)))

    async def trash(self, message_id: str) -> Changed:
        wanted = ImapId.read(message_id)

        def work(connection: ImapConnection) -> Changed:
            folders = _folders(connection)
            target = folder_for(connection, folders, "trash")
            found = locate(connection, wanted, folders, change=True)
            return Changed(str(move(connection, found, target)), ("TRASH",))

        return await self._change(work)

    async def unread(self, label: str) -> int:
        def work(connection: ImapConnection) -> int:
            folders = _folders(connection)
            if (folder := _labelled(folders, label)) is not None:
                return int(connection.folder_status(folder.name, ["UNSEEN"])[b"UNSEEN"])
            return sum(
                _unread_with(connection, folder, label)
                for folder in folders
                if folder.role not in ("trash", "spam")
            )

        return await self._read(work)

    async def modify(self, ids: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> list[Changed]:
        wanted = [ImapId.read(message_id) for message_id in ids]

        def work(connection: ImapConnection) -> list[Changed]:
            folders = _folders(connection)
            changed = []
            for message_id in wanted:
                try:
                    changed.append(modify_labels(connection, message_id, folders, add, remove))
                except ToolFailure as error:
                    changed.append(Changed(str(message_id), error=f"{error.message} {error.hint}".strip()))
            return changed

        return await self._change(work)

    async def _keep_copy(
        self, message: Outgoing, answered: OpenMessage | None, remarks: tuple[str, ...]
    ) -> Sent:
        """The message is sent: a later failure must not look as if it were not."""
        stored = ""

        def store(connection: ImapConnection) -> str:
            folder = folder_for(connection, _folders(connection), "sent")
            return str(append(connection, folder, message.to_store, (b"\\Seen",), message.message_id))

        if self._account.settings.get("save_sent", True):
            try:
                stored = await self._change(store)
            except ToolcribError as error:
                remarks += (f"It was sent, but not stored in the Sent folder: {error.message}",)
        if answered is not None:
            await self._mark_answered(answered)
        return Sent(stored, remarks=remarks)

    async def _mark_answered(self, answered: OpenMessage) -> None:
        def work(connection: ImapConnection) -> None:
            found = locate(connection, ImapId.read(answered.id), _folders(connection), change=True)
            connection.add_flags([found.uid], [b"\\Answered"], silent=True)

        with contextlib.suppress(ToolcribError):  # a mark only: the original may be gone or read-only
            await self._change(work)

    async def _section(self, message: OpenMessage, section: str, offset: int, size: int) -> bytes:
        def work(connection: ImapConnection) -> bytes:
            found = locate(connection, ImapId.read(message.id), _folders(connection))
            return read_section(connection, found, section, offset, size)

        return await self._read(work)

    async def _read(self, work: Callable[[ImapConnection], R]) -> R:
        return await _within(DEADLINE, _NARROWER, self._pool.read, work)

    async def _change(self, work: Callable[[ImapConnection], R]) -> R:
        return await _within(DEADLINE, _NARROWER, self._pool.change, work)


async def _within(seconds: float, hint: str, function: Callable[..., R], *arguments: object) -> R:
    try:
        async with asyncio.timeout(seconds):
            return await in_thread(function, *arguments)
    except TimeoutError as error:
        raise CallTimeout(f"The mail server did not finish within {seconds:g} s.", hint=hint) from error


def _folders(connection: ImapConnection) -> list[Folder]:
    return read_folders(connection.list_folders())


def _named(folders: Sequence[Folder], name: str) -> Folder:
    return next((folder for folder in folders if folder.name == name), Folder(name))


def _unread_with(connection: ImapConnection, folder: Folder, label: str) -> int:
    try:
        select(connection, folder.name)
    except ToolFailure:
        return 0
    return len(connection.find([b"UNSEEN", b"KEYWORD", keyword_of(label).encode()]))


def _offset(page: str | None) -> int:
    if page is None or page == "":
        return 0
    if not re.fullmatch(r"[0-9]{1,7}", page):
        raise ToolFailure(f"{page[:40]!r} is not a page.", "Use next_page of the previous result.")
    return int(page)
