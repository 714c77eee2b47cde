"""The tools that change something: send, reply, draft, trash, label; each with the preview in its approval
question. Limits: length of the text in a preview, messages that one call may label. How a reply looks is in
`writing.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

from toolcrib.bundled.mail.attachments import MEGABYTE, ListedFile, listed, take
from toolcrib.bundled.mail.headers import Mailto
from toolcrib.bundled.mail.mailbox import Mailbox, OpenMessage, Sent
from toolcrib.bundled.mail.mailboxes import Chosen, Mailboxes
from toolcrib.bundled.mail.outgoing import Outgoing
from toolcrib.bundled.mail.reading import text_of
from toolcrib.bundled.mail.results import ChangedLabels, SentEmail, TrashedEmail
from toolcrib.bundled.mail.writing import (
    Letter,
    compose,
    file_name,
    quoted_text,
    read_recipients,
    reply,
)
from toolcrib.serverkit.approved import ShownPreviews, shortened
from toolcrib.serverkit.confined import Roots
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.results import with_text
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
        "text": shortened(letter.body, MAX_TEXT),
        "attachments": [{"name": file_name(file.name), "size": file.size} for file in files],
    }


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
        letter = _letter(body, to, subject, cc, bcc, required=True)
        chosen = await self._mailboxes.choose(account, change=True, context=context)
        message = await self._compose("send", chosen, letter, attachments)
        return _sent("Sent", chosen, letter, await chosen.mailbox.send(message, None))

    async def preview_send(
        self, account: str | None = None, attachments: list[str] | None = None, **letter: Any
    ) -> dict[str, Any]:
        """The message as it will be sent."""
        written = _letter(**letter, required=True)
        chosen = await self._mailboxes.choose(account, change=True)
        return await self._preview("send", chosen, written, attachments)

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
        answer = await _answer(chosen.mailbox, id, body, reply_all, quote)
        message = await self._compose("reply", chosen, answer.letter, attachments)
        return _sent("Sent", chosen, answer.letter, await chosen.mailbox.send(message, answer.original))

    async def preview_reply(
        self, account: str | None = None, attachments: list[str] | None = None, **reply: Any
    ) -> dict[str, Any]:
        """Reads the original, so that the real recipients are shown."""
        chosen = await self._mailboxes.choose(account, change=True)
        answer = await _answer(chosen.mailbox, **reply)
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
        answer = await _draft(chosen.mailbox, body, reply_to_id, to=to, subject=subject, cc=cc, bcc=bcc)
        message = await self._compose("draft", chosen, answer.letter, attachments)
        return _sent(
            "Draft saved", chosen, answer.letter, await chosen.mailbox.save_draft(message, answer.original)
        )

    async def preview_draft(
        self, account: str | None = None, attachments: list[str] | None = None, **draft: Any
    ) -> dict[str, Any]:
        """The draft as it will be stored."""
        chosen = await self._mailboxes.choose(account, change=True)
        answer = await _draft(chosen.mailbox, **draft)
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
        return with_text(f"Moved {subject!r} to the trash. Its id is now {changed.id}", result)

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
        return with_text("\n".join(lines), result)

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

    async def _preview(
        self, action: str, chosen: Chosen, letter: Letter, attachments: Sequence[str] | None
    ) -> dict[str, Any]:
        files = await in_thread(listed, self._folder, attachments or ())
        shown = letter_preview(action, chosen.account.name, chosen.mailbox.sender, letter, files)
        self._shown.keep(shown, letter, [file.changed for file in files])
        return shown

    async def _compose(
        self, action: str, chosen: Chosen, letter: Letter, attachments: Sequence[str] | None
    ) -> Outgoing:
        """The message, if it is the one that the user was asked about."""
        files = await in_thread(take, self._folder, attachments or (), self._max_attachment)
        attached = [ListedFile(file.name, len(file.data), file.changed) for file in files]
        preview = letter_preview(action, chosen.account.name, chosen.mailbox.sender, letter, attached)
        self._shown.check(preview, letter, [file.changed for file in files])
        return await in_thread(compose, chosen.mailbox.sender, letter, files)


def _letter(
    body: str,
    to: Recipients | None = None,
    subject: str = "",
    cc: Recipients | None = None,
    bcc: Recipients | None = None,
    *,
    required: bool = False,
) -> Letter:
    people = read_recipients(to, "to"), read_recipients(cc, "cc"), read_recipients(bcc, "bcc")
    if required and not any(people):
        raise ToolFailure("There is no recipient.", "Name at least one address in `to`.")
    return Letter(to=people[0], cc=people[1], bcc=people[2], subject=subject, body=body)


async def _answer(
    mailbox: Mailbox,
    id: str,  # noqa: A002
    body: str,
    reply_all: bool = False,
    quote: bool = False,
) -> Answer:
    original = await mailbox.open(id)
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


async def _draft(mailbox: Mailbox, body: str, reply_to_id: str | None = None, **given: Any) -> Answer:
    """A new message, or a reply in which the given recipients and subject replace those of the thread."""
    own = _letter(body, **given)
    if reply_to_id is None:
        return Answer(own)
    original = await mailbox.open(reply_to_id)
    thread = reply(original.headers, mailbox.address, body, reply_all=False)
    letter = replace(
        thread,
        to=own.to or thread.to,
        cc=own.cc or thread.cc,
        bcc=own.bcc,
        subject=own.subject or thread.subject,
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
    return with_text("\n".join([*lines, *([f"id: {sent.id}"] if sent.id else [])]), result)


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
