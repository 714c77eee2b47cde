"""A mailbox reached by IMAP, sending by SMTP."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from toolcrib.accounts import Account
from toolcrib.accounts.mail_servers import MailServers
from toolcrib.bundled.mail.decoding import TransferDecoder, transfer_decoded
from toolcrib.bundled.mail.folders import Folder, read_folders
from toolcrib.bundled.mail.headers import Mailto
from toolcrib.bundled.mail.imap_changes import append, folder_for, move
from toolcrib.bundled.mail.imap_criteria import SearchScope, keyword_of
from toolcrib.bundled.mail.imap_ids import ImapId
from toolcrib.bundled.mail.imap_labels import modify_labels
from toolcrib.bundled.mail.imap_messages import (
    PIECE,
    locate,
    open_message,
    read_section,
    select,
)
from toolcrib.bundled.mail.imap_pool import ImapPool
from toolcrib.bundled.mail.imap_search import search
from toolcrib.bundled.mail.imap_threads import find_thread
from toolcrib.bundled.mail.mailbox import Changed, FoundPage, OpenMessage, Sent, Thread
from toolcrib.bundled.mail.outgoing import Outgoing
from toolcrib.bundled.mail.query import parse_query
from toolcrib.bundled.mail.structure import Part
from toolcrib.errors import CallTimeout, ToolcribError
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.threads import in_thread

if TYPE_CHECKING:
    from toolcrib.accounts.imap import ImapConnection

R = TypeVar("R")
DEADLINE = 120.0
"""Seconds for one operation, all its commands together."""
SEND_DEADLINE = 600.0


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

    async def content(self, message: OpenMessage, part: Part, limit: int) -> bytes:
        return transfer_decoded(await self._section(message, part.section, 0, limit), part.encoding)

    async def raw(self, message: OpenMessage, limit: int) -> bytes:
        return await self._section(message, "", 0, limit)

    async def stream(self, message: OpenMessage, part: Part) -> AsyncIterator[bytes]:
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

        account = self._account.name
        try:
            async with asyncio.timeout(SEND_DEADLINE):
                return await in_thread(
                    send_mail, self._servers, self._password, data, recipients, account=account
                )
        except TimeoutError as error:
            raise CallTimeout(
                f"The mail server did not finish within {SEND_DEADLINE:g} s.",
                hint="The message may have been sent: check before sending it again.",
            ) from error

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
            folder = next((each for each in folders if each.is_called(label)), None)
            if folder is not None:
                return int(connection.folder_status(folder.name, ["UNSEEN"])[b"UNSEEN"])
            return sum(
                _unread_with(connection, each, label)
                for each in folders
                if each.role not in ("trash", "spam")
            )

        return await self._read(work)

    async def modify(self, ids: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> list[Changed]:
        wanted = [ImapId.read(each) for each in ids]

        def work(connection: ImapConnection) -> list[Changed]:
            folders = _folders(connection)
            changed = []
            for each in wanted:
                try:
                    changed.append(modify_labels(connection, each, folders, add, remove))
                except ToolFailure as error:
                    changed.append(Changed(str(each), error=f"{error.message} {error.hint}".strip()))
            return changed

        return await self._change(work)

    async def _keep_copy(
        self, message: Outgoing, answered: OpenMessage | None, remarks: tuple[str, ...]
    ) -> Sent:
        """The message is sent: whatever fails now must not look as if it were not."""
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
        return await _within(DEADLINE, self._pool.read, work)

    async def _change(self, work: Callable[[ImapConnection], R]) -> R:
        return await _within(DEADLINE, self._pool.change, work)


async def _within(seconds: float, function: Callable[..., R], *arguments: object, **named: object) -> R:
    try:
        async with asyncio.timeout(seconds):
            return await in_thread(function, *arguments, **named)
    except TimeoutError as error:
        raise CallTimeout(
            f"The mail server did not finish within {seconds:g} s.", hint="Try again with a narrower request."
        ) from error


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
