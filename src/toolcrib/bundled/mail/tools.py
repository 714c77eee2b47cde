"""The tools that read mail: search, read, count unread. Decides how many results a search returns by default
and at most, and which attachments of a message are saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from toolcrib.bundled.mail.attachments import MEGABYTE, save
from toolcrib.bundled.mail.mailbox import MessageGone
from toolcrib.bundled.mail.mailboxes import Mailboxes
from toolcrib.bundled.mail.reading import ReadMessage, pages, read
from toolcrib.bundled.mail.results import (
    EmailAttachment,
    EmailContent,
    EmailSearch,
    UnreadCount,
    attachment,
    content_result,
    entry,
    opened,
    search_result,
)
from toolcrib.bundled.mail.structure import MessagePart, contents
from toolcrib.errors import ToolcribError
from toolcrib.serverkit.confined import Roots
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.results import with_text
from toolcrib.serverkit.server import ToolServer

MAX_RESULTS = 50
AccountName = Annotated[str | None, "The account's name; needed only if there are several"]


class ReadingTools:
    """Tools that change nothing in the mailbox."""

    def __init__(self, mailboxes: Mailboxes, folder: Roots, max_attachment: int = 50 * MEGABYTE) -> None:
        self._mailboxes = mailboxes
        self._folder = folder
        self._max_attachment = max_attachment

    def offer(self, server: ToolServer) -> None:
        """Add them to a server."""
        for function, title in (
            (self.search_emails, "Search emails"),
            (self.read_email, "Read an email"),
            (self.get_unread_count, "Count unread emails"),
        ):
            server.tool(
                title=title, read_only=True, open_world=True, outside=True, private=True, reach="account"
            )(function)

    async def search_emails(
        self,
        context: ToolContext,
        query: str,
        max_results: int = 10,
        page: str | None = None,
        account: AccountName = None,
    ) -> EmailSearch:
        chosen = await self._mailboxes.choose(account, context=context)
        limit = max(1, min(max_results, MAX_RESULTS))
        found = await chosen.mailbox.search(query, limit, page)
        return search_result(chosen.account.name, query, found)

    async def read_email(
        self,
        context: ToolContext,
        id: str,  # noqa: A002 - the name that models know
        save_attachments: bool | list[str] = False,
        part: int = 1,
        account: AccountName = None,
    ) -> EmailContent:
        chosen = await self._mailboxes.choose(account, context=context)
        mailbox = chosen.mailbox
        message = await mailbox.open(id)
        found = await read(mailbox, message)
        content = opened(chosen.account.name, message)
        content["remarks"] += found.remarks
        texts = pages(found.text)
        if not 1 <= part <= len(texts):
            raise ToolFailure(f"The text has {len(texts)} parts.", f"Use a part from 1 to {len(texts)}.")
        content |= {"text": texts[part - 1], "part": part, "parts": len(texts)}
        content["attachments"] = await self._attachments(found, save_attachments, context, content["remarks"])
        try:
            thread = await mailbox.thread(message)
            content["thread"] = [entry(message) for message in thread.messages]
            content["remarks"] += thread.remarks
        except ToolcribError as error:
            content["remarks"].append(f"The thread could not be read: {error.message}")
        return content_result(content)

    async def get_unread_count(
        self, context: ToolContext, label: str = "INBOX", account: AccountName = None
    ) -> UnreadCount:
        chosen = await self._mailboxes.choose(account, context=context)
        count = await chosen.mailbox.unread(label)
        result: UnreadCount = {"account": chosen.account.name, "label": label, "unread": count}
        return with_text(f"{count} unread in {label}.", result)

    async def _attachments(
        self,
        message: ReadMessage,
        wanted: bool | Sequence[str],
        context: ToolContext,
        remarks: list[str],
    ) -> list[EmailAttachment]:
        parts = contents(message.message.root).attachments
        chosen = _chosen(parts, wanted)
        found = []
        for number, part in enumerate(parts, 1):
            saved = None
            if number in chosen:
                context.progress(number, len(parts), f"Saving {part.file_name}")
                content = message.source.stream(message.message, part)
                try:
                    saved = await save(self._folder, part.file_name, content, self._max_attachment)
                except MessageGone as error:
                    remarks.append(f"{part.file_name} was not saved: {error.message}")
            found.append(attachment(number, part, saved))
        return found


def _chosen(parts: Sequence[MessagePart], wanted: bool | Sequence[str]) -> set[int]:
    """The numbers of attachments, which may be named by number or by name."""
    if isinstance(wanted, bool):
        return set(range(1, len(parts) + 1)) if wanted else set()
    chosen = set()
    for name in wanted:
        named = [number for number, part in enumerate(parts, 1) if name in (str(number), part.file_name)]
        if not named:
            known = ", ".join(f"{number}. {part.file_name}" for number, part in enumerate(parts, 1)) or "none"
            raise ToolFailure(
                f"There is no attachment {name[:100]!r}.", f"Attachments of this message: {known}."
            )
        chosen.update(named)
    return chosen
