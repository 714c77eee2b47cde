"""What the tools return: structured content, and the same as compact text. Decides how a search result, a
message, its attachments and thread look to the model: order of fields, dates, sizes, "(no subject)"."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from toolcrib.bundled.mail.mailbox import FoundPage, MessageSummary, OpenMessage
from toolcrib.bundled.mail.structure import MessagePart
from toolcrib.serverkit.results import with_text


class EmailSummary(TypedDict):
    id: str
    thread_id: str
    sender: str
    to: list[str]
    subject: str
    date: str
    labels: list[str]
    snippet: str
    size: int
    has_attachments: bool | None


class EmailSearch(TypedDict):
    account: str
    messages: list[EmailSummary]
    estimated_total: int | None
    next_page: str | None
    remarks: list[str]


class EmailAttachment(TypedDict):
    number: int
    name: str
    media_type: str
    size: int
    saved_as: str | None


class ThreadEntry(TypedDict):
    id: str
    sender: str
    date: str
    subject: str


class EmailContent(TypedDict):
    account: str
    id: str
    thread_id: str
    message_id: str
    sender: str
    reply_to: list[str]
    to: list[str]
    cc: list[str]
    bcc: list[str]
    subject: str
    date: str
    labels: list[str]
    text: str
    part: int
    parts: int
    attachments: list[EmailAttachment]
    thread: list[ThreadEntry]
    remarks: list[str]


class SentEmail(TypedDict):
    account: str
    id: str
    thread_id: str
    sender: str
    to: list[str]
    cc: list[str]
    bcc: list[str]
    subject: str
    remarks: list[str]


class TrashedEmail(TypedDict):
    account: str
    id: str
    subject: str


class UnreadCount(TypedDict):
    account: str
    label: str
    unread: int


class ChangedEmail(TypedDict):
    """A changed message; unlike in `Changed`, a missing error is null."""

    id: str
    labels: list[str]
    error: str | None


class ChangedLabels(TypedDict):
    account: str
    messages: list[ChangedEmail]


def summarized(message: MessageSummary) -> EmailSummary:
    headers = message.headers
    return {
        "id": message.id,
        "thread_id": message.thread,
        "sender": headers.sender,
        "to": [str(address) for address in headers.addresses("to")[:20]],
        "subject": headers.text("subject"),
        "date": moment(headers.sent or message.received),
        "labels": list(message.labels),
        "snippet": message.snippet,
        "size": message.size,
        "has_attachments": message.has_attachments,
    }


def search_result(account: str, query: str, found: FoundPage) -> EmailSearch:
    """One paragraph a message."""
    messages = [summarized(message) for message in found.messages]
    result: EmailSearch = {
        "account": account,
        "messages": messages,
        "estimated_total": found.total,
        "next_page": found.next_page,
        "remarks": list(found.remarks),
    }
    lines = [_line(message) for message in messages] or [f"No message matches {query!r}."]
    if found.next_page:
        lines.append(f"More: call again with page={found.next_page!r}.")
    return with_text("\n\n".join([*lines, *found.remarks]), result)


def entry(message: MessageSummary) -> ThreadEntry:
    made = summarized(message)
    return {"id": made["id"], "sender": made["sender"], "date": made["date"], "subject": made["subject"]}


def attachment(number: int, part: MessagePart, saved: tuple[str, int] | None = None) -> EmailAttachment:
    return {
        "number": number,
        "name": part.file_name,
        "media_type": part.media_type,
        "size": saved[1] if saved else part.file_size,
        "saved_as": saved[0] if saved else None,
    }


def content_result(content: EmailContent) -> EmailContent:
    """Headers, text, then attachments and thread."""
    head = [
        f"From: {content['sender']}",
        *(f"{name}: {', '.join(content[key])}" for name, key in _PEOPLE if content[key]),  # type: ignore[literal-required]
        f"Date: {content['date']}",
        f"Subject: {content['subject']}",
        f"Labels: {', '.join(content['labels'])}",
    ]
    parts = ["\n".join(head), content["text"] or "(no text)"]
    if content["parts"] > 1:
        more = f"; continue with part={content['part'] + 1}" if content["part"] < content["parts"] else ""
        parts.append(f"(part {content['part']} of {content['parts']} of the text{more})")
    if content["attachments"]:
        parts.append("Attachments:\n" + "\n".join(map(_attachment_line, content["attachments"])))
    if len(content["thread"]) > 1:
        lines = [f"- {message['date']} {message['sender']}: {message['id']}" for message in content["thread"]]
        parts.append("Thread:\n" + "\n".join(lines))
    return with_text("\n\n".join([*parts, *content["remarks"]]), content)


_PEOPLE = (("To", "to"), ("Cc", "cc"), ("Bcc", "bcc"), ("Reply-To", "reply_to"))


def opened(account: str, message: OpenMessage) -> EmailContent:
    """Everything that the headers say; the rest is filled in later."""
    headers = message.headers
    people = {key: [str(address) for address in headers.addresses(name)] for name, key in _PEOPLE}
    return {
        "account": account,
        "id": message.id,
        "thread_id": message.thread,
        "message_id": headers.message_id,
        "sender": headers.sender,
        "reply_to": people["reply_to"],
        "to": people["to"],
        "cc": people["cc"],
        "bcc": people["bcc"],
        "subject": headers.text("subject"),
        "date": moment(headers.sent or message.received),
        "labels": list(message.labels),
        "text": "",
        "part": 1,
        "parts": 1,
        "attachments": [],
        "thread": [],
        "remarks": [],
    }


def moment(value: datetime | None) -> str:
    """ISO 8601 with the sender's offset; empty if unknown."""
    return value.isoformat(timespec="seconds") if value else ""


def size_text(size: int) -> str:
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def _line(message: EmailSummary) -> str:
    marks = ", ".join(message["labels"])
    clip = " · attachments" if message["has_attachments"] else ""
    return (
        f"{message['subject'] or '(no subject)'}\n"
        f"  from {message['sender']} · {message['date']} · {marks}{clip}\n"
        f"  {message['snippet']}\n"
        f"  id: {message['id']}"
    )


def _attachment_line(attachment: EmailAttachment) -> str:
    saved = f", saved as {attachment['saved_as']}" if attachment["saved_as"] else ""
    described = f"{attachment['media_type']}, {size_text(attachment['size'])}{saved}"
    return f"{attachment['number']}. {attachment['name']} ({described})"
