"""The tools that change something: send, reply, draft, trash, label; each with its preview."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from toolcrib.bundled.mail.attachments import MEGABYTE, ListedFile, listed, take
from toolcrib.bundled.mail.headers import Mailto
from toolcrib.bundled.mail.mailbox import Mailbox, OpenMessage, Sent
from toolcrib.bundled.mail.mailboxes import Chosen, Mailboxes
from toolcrib.bundled.mail.outgoing import Outgoing
from toolcrib.bundled.mail.reading import text_of
from toolcrib.bundled.mail.results import ChangedLabels, SentEmail, TrashedEmail, shown
from toolcrib.bundled.mail.writing import (
    AttachedFile,
    Letter,
    compose,
    file_name,
    quoted_text,
    read_recipients,
    reply,
)
from toolcrib.serverkit.approved import ShownPreviews
from toolcrib.serverkit.confined import Roots
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.threads import in_thread

MAX_TEXT = 20_000

MAX_IDS = 100
AccountName = Annotated[str | None, "The account's name; needed only if there are several"]
Recipients = list[str] | str


def letter_preview(
    action: str, account: str, sender: Mailto, letter: Letter, files: Sequence[ListedFile]
) -> dict[str, Any]:
    """A message to be sent or stored as a draft."""
    return {
        "kind": "email",
        "action": action,
        "account": account,
        "from": str(sender),
        "to": [str(person) for person in letter.to],
        "cc": [str(person) for person in letter.cc],
        "bcc": [str(person) for person in letter.bcc],
        "subject": letter.subject,
        "text": _shortened(letter.body),
        "attachments": [{"name": file_name(file.name), "size": file.size} for file in files],
    }


def _shortened(text: str) -> str:
    """The user must see that there is more than is shown."""
    left = len(text) - MAX_TEXT
    return text if left <= 0 else f"{text[:MAX_TEXT]}\n\n[… {left:,} more characters are not shown]"


def message_preview(action: str, account: str, message: OpenMessage, text: str) -> dict[str, Any]:
    """A message that exists."""
    headers = message.headers
    return {
        "kind": "email",
        "action": action,
        "account": account,
        "from": headers.sender,
        "to": [str(person) for person in headers.addresses("to")],
        "cc": [str(person) for person in headers.addresses("cc")],
        "bcc": [],
        "subject": headers.text("subject"),
        "text": text,
        "attachments": [],
    }


class Answer(NamedTuple):
    letter: Letter
    original: OpenMessage | None = None


class ChangingTools:
    """Tools that send or change mail. A preview does the same work up to the change."""

    def __init__(self, mailboxes: Mailboxes, folder: Roots, max_attachment: int = 50 * MEGABYTE) -> None:
        self._mailboxes = mailboxes
        self._folder = folder
        self._max_attachment = max_attachment
        self._shown = ShownPreviews()

    def offer(self, server: ToolServer) -> None:
        """Add them to a server."""
        outward: dict[str, Any] = {"open_world": True, "reach": "anybody", "destructive": False}
        server.tool(title="Send an email", preview=self.preview_send, **outward)(self.send_email)
        server.tool(
            title="Reply to an email", preview=self.preview_reply, outside=True, private=True, **outward
        )(self.reply_to_email)
        own: dict[str, Any] = {"open_world": True, "reach": "account"}
        server.tool(title="Create a draft", destructive=False, preview=self.preview_draft, **own)(
            self.create_draft
        )
        server.tool(title="Move an email to the trash", destructive=True, preview=self.preview_trash, **own)(
            self.trash_email
        )
        server.tool(
            title="Change labels of emails",
            destructive=False,
            idempotent=True,
            preview=self.preview_modify,
            **own,
        )(self.modify_labels)

    async def send_email(
        self,
        context: ToolContext,
        to: Recipients,
        subject: str,
        body: str,
        cc: Recipients | None = None,
        bcc: Recipients | None = None,
        attachments: list[str] | None = None,
        account: AccountName = None,
    ) -> SentEmail:
        letter = _letter(to, subject, body, cc, bcc, required=True)
        chosen = await self._mailboxes.choose(account, change=True, context=context)
        files = await self._files(attachments)
        message = await self._compose("send", chosen, letter, files)
        return _sent("Sent", chosen, letter, await chosen.mailbox.send(message, None))

    async def preview_send(
        self,
        to: Recipients,
        subject: str,
        body: str,
        cc: Recipients | None = None,
        bcc: Recipients | None = None,
        attachments: list[str] | None = None,
        account: str | None = None,
    ) -> dict[str, Any]:
        """The message as it will be sent."""
        letter = _letter(to, subject, body, cc, bcc, required=True)
        chosen = await self._mailboxes.choose(account, change=True)
        return await self._preview("send", chosen, letter, attachments)

    async def reply_to_email(
        self,
        context: ToolContext,
        id: str,  # noqa: A002 - the name that models know
        body: str,
        reply_all: bool = False,
        quote: bool = False,
        attachments: list[str] | None = None,
        account: AccountName = None,
    ) -> SentEmail:
        chosen = await self._mailboxes.choose(account, change=True, context=context)
        answer = await _answer(chosen.mailbox, id, body, reply_all=reply_all, quote=quote)
        files = await self._files(attachments)
        message = await self._compose("reply", chosen, answer.letter, files)
        return _sent("Sent", chosen, answer.letter, await chosen.mailbox.send(message, answer.original))

    async def preview_reply(
        self,
        id: str,  # noqa: A002
        body: str,
        reply_all: bool = False,
        quote: bool = False,
        attachments: list[str] | None = None,
        account: str | None = None,
    ) -> dict[str, Any]:
        """Reads the original, so that the real recipients are shown."""
        chosen = await self._mailboxes.choose(account, change=True)
        answer = await _answer(chosen.mailbox, id, body, reply_all=reply_all, quote=quote)
        return await self._preview("reply", chosen, answer.letter, attachments)

    async def create_draft(
        self,
        context: ToolContext,
        body: str,
        to: Recipients | None = None,
        subject: str = "",
        cc: Recipients | None = None,
        bcc: Recipients | None = None,
        attachments: list[str] | None = None,
        reply_to_id: str | None = None,
        account: AccountName = None,
    ) -> SentEmail:
        chosen = await self._mailboxes.choose(account, change=True, context=context)
        answer = await _draft(chosen.mailbox, body, to, subject, cc, bcc, reply_to_id)
        files = await self._files(attachments)
        message = await self._compose("draft", chosen, answer.letter, files)
        return _sent(
            "Draft saved", chosen, answer.letter, await chosen.mailbox.save_draft(message, answer.original)
        )

    async def preview_draft(
        self,
        body: str,
        to: Recipients | None = None,
        subject: str = "",
        cc: Recipients | None = None,
        bcc: Recipients | None = None,
        attachments: list[str] | None = None,
        reply_to_id: str | None = None,
        account: str | None = None,
    ) -> dict[str, Any]:
        """The draft as it will be stored."""
        chosen = await self._mailboxes.choose(account, change=True)
        answer = await _draft(chosen.mailbox, body, to, subject, cc, bcc, reply_to_id)
        return await self._preview("draft", chosen, answer.letter, attachments)

    async def trash_email(
        self,
        context: ToolContext,
        id: str,  # noqa: A002 - the name that models know
        account: AccountName = None,
    ) -> TrashedEmail:
        chosen = await self._mailboxes.choose(account, change=True, context=context)
        message = await chosen.mailbox.open(id)
        changed = await chosen.mailbox.trash(message.id)
        subject = message.headers.text("subject")
        result: TrashedEmail = {"account": chosen.account.name, "id": changed.id, "subject": subject}
        return shown(f"Moved {subject!r} to the trash. Its id is now {changed.id}", result)

    async def preview_trash(self, id: str, account: str | None = None) -> dict[str, Any]:  # noqa: A002
        """The message that will be moved."""
        chosen = await self._mailboxes.choose(account, change=True)
        message = await chosen.mailbox.open(id)
        text = await text_of(chosen.mailbox, message)
        return message_preview("trash", chosen.account.name, message, text[:1000])

    async def modify_labels(
        self,
        context: ToolContext,
        ids: list[str] | str,
        add: list[str] | None = None,
        remove: list[str] | None = None,
        account: AccountName = None,
    ) -> ChangedLabels:
        wanted = _ids(ids, add, remove)
        chosen = await self._mailboxes.choose(account, change=True, context=context)
        changed = await chosen.mailbox.modify(wanted, add or [], remove or [])
        result: ChangedLabels = {
            "account": chosen.account.name,
            "messages": [
                {"id": message.id, "labels": list(message.labels), "error": message.error or None}
                for message in changed
            ],
        }
        if all(message.error for message in changed):
            raise ToolFailure(changed[0].error)
        lines = [
            f"{message.id}: {message.error or ', '.join(message.labels) or 'changed'}" for message in changed
        ]
        return shown("\n".join(lines), result)

    async def preview_modify(
        self,
        ids: list[str] | str,
        add: list[str] | None = None,
        remove: list[str] | None = None,
        account: str | None = None,
    ) -> dict[str, Any]:
        """The first message, and what changes."""
        wanted = _ids(ids, add, remove)
        chosen = await self._mailboxes.choose(account, change=True)
        message = await chosen.mailbox.open(wanted[0])
        changes = [f"add {', '.join(add)}"] if add else []
        changes += [f"remove {', '.join(remove)}"] if remove else []
        more = f" (and {len(wanted) - 1} more messages)" if len(wanted) > 1 else ""
        return message_preview("modify", chosen.account.name, message, f"Labels: {'; '.join(changes)}{more}")

    async def _files(self, paths: Sequence[str] | None) -> list[AttachedFile]:
        return await in_thread(take, self._folder, paths or (), self._max_attachment)

    async def _preview(
        self, action: str, chosen: Chosen, letter: Letter, attachments: Sequence[str] | None
    ) -> dict[str, Any]:
        files = await in_thread(listed, self._folder, attachments or ())
        shown = letter_preview(action, chosen.account.name, chosen.mailbox.sender, letter, files)
        self._shown.keep(shown, letter, [file.changed for file in files])
        return shown

    async def _compose(
        self, action: str, chosen: Chosen, letter: Letter, files: Sequence[AttachedFile]
    ) -> Outgoing:
        """The message, if it is the one that the user was asked about."""
        attached = [ListedFile(file.name, len(file.data), file.changed) for file in files]
        preview = letter_preview(action, chosen.account.name, chosen.mailbox.sender, letter, attached)
        self._shown.check(preview, letter, [file.changed for file in files])
        return await in_thread(compose, chosen.mailbox.sender, letter, files)


def _letter(
    to: Recipients | None,
    subject: str,
    body: str,
    cc: Recipients | None,
    bcc: Recipients | None,
    *,
    required: bool = False,
) -> Letter:
    people = read_recipients(to, "to"), read_recipients(cc, "cc"), read_recipients(bcc, "bcc")
    if required and not any(people):
        raise ToolFailure("There is no recipient.", "Name at least one address in `to`.")
    return Letter(to=people[0], cc=people[1], bcc=people[2], subject=subject, body=body)


async def _answer(mailbox: Mailbox, message_id: str, body: str, *, reply_all: bool, quote: bool) -> Answer:
    original = await mailbox.open(message_id)
    if quote:
        text = await text_of(mailbox, original)
        body = f"{body.rstrip()}\n\n{quoted_text(original.headers, text)}\n"
    letter = reply(original.headers, mailbox.address, body, reply_all=reply_all)
    if not letter.to:
        raise ToolFailure(
            "There is no one to reply to at a valid address other than the user's own.",
            "Use send_email and name the recipients.",
        )
    return Answer(letter, original)


async def _draft(
    mailbox: Mailbox,
    body: str,
    to: Recipients | None,
    subject: str,
    cc: Recipients | None,
    bcc: Recipients | None,
    reply_to_id: str | None,
) -> Answer:
    """A new message, or a reply in which the given recipients and subject replace those of the thread."""
    given = _letter(to, subject, body, cc, bcc)
    if reply_to_id is None:
        return Answer(given)
    original = await mailbox.open(reply_to_id)
    thread = reply(original.headers, mailbox.address, body, reply_all=False)
    letter = Letter(
        to=given.to or thread.to,
        cc=given.cc or thread.cc,
        bcc=given.bcc,
        subject=given.subject or thread.subject,
        body=body,
        in_reply_to=thread.in_reply_to,
        references=thread.references,
    )
    return Answer(letter, original)


def _sent(what: str, chosen: Chosen, letter: Letter, sent: Sent) -> SentEmail:
    result: SentEmail = {
        "account": chosen.account.name,
        "id": sent.id,
        "thread_id": sent.thread,
        "sender": str(chosen.mailbox.sender),
        "to": _texts(letter.to),
        "cc": _texts(letter.cc),
        "bcc": _texts(letter.bcc),
        "subject": letter.subject,
        "remarks": list(sent.remarks),
    }
    people = ", ".join([*result["to"], *result["cc"], *result["bcc"]])
    lines = [f"{what}: {letter.subject!r} to {people or 'no one yet'}.", *sent.remarks]
    return shown("\n".join([*lines, *([f"id: {sent.id}"] if sent.id else [])]), result)


def _texts(people: Sequence[Mailto]) -> list[str]:
    return [str(person) for person in people]


def _ids(ids: list[str] | str, add: Sequence[str] | None, remove: Sequence[str] | None) -> list[str]:
    wanted = list(dict.fromkeys([ids] if isinstance(ids, str) else ids))
    if not wanted or len(wanted) > MAX_IDS:
        raise ToolFailure(f"Name 1 to {MAX_IDS} messages.", "Use ids from search_emails.")
    if not add and not remove:
        raise ToolFailure("There is no label to add or remove.", "Name labels in `add` or `remove`.")
    if any(label.strip("\\ ").upper() == "TRASH" for label in add or ()):
        raise ToolFailure("Labels do not move a message to the trash.", "Use trash_email.")
    return wanted
