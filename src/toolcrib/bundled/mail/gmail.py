"""A mailbox reached by the Gmail API: search, read, send, trash and labels. Decides how long label names are
cached, how many requests run at once, from which size messages are uploaded, how categories are named, and
errors for wrong ids."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import secrets
import time
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from toolcrib.accounts import Account, AccountStore
from toolcrib.accounts.google import GoogleAccess, failure_of
from toolcrib.bundled.mail.decoding import decode_words
from toolcrib.bundled.mail.headers import Headers, Mailto
from toolcrib.bundled.mail.mailbox import (
    Changed,
    FoundPage,
    MessageGone,
    MessageSummary,
    OpenMessage,
    Sent,
    Thread,
    gone_remark,
)
from toolcrib.bundled.mail.outgoing import Outgoing
from toolcrib.bundled.mail.structure import (
    MAX_DEPTH,
    MessagePart,
    has_attachments,
    read_parameters,
    valid_type,
)
from toolcrib.errors import ToolcribError
from toolcrib.serverkit.context import ToolFailure

Json = Mapping[str, Any]


_PART = "partId,mimeType,filename,headers"
SUMMARY_FIELDS = (
    "id,threadId,labelIds,snippet,internalDate,sizeEstimate,"
    f"payload({_PART},parts({_PART},parts({_PART},parts({_PART}))))"
)
"""What is asked for of a message in a list: its structure, without the content."""

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

R = TypeVar("R")
AT_ONCE = 8
"""Requests for the messages of a page."""
UPLOAD_FROM = 4_000_000
"""Bytes from which a message is uploaded: the plain request takes 5 MB."""
_FIELDS = ("From", "To", "Cc", "Subject", "Date", "Message-ID", "References", "In-Reply-To")


def summary(message: Json) -> MessageSummary:
    """From `messages.get` with `SUMMARY_FIELDS`, or with `format=metadata`, which has no structure."""
    payload = message.get("payload") or {}
    return MessageSummary(
        id=str(message.get("id", "")),
        thread=str(message.get("threadId", "")),
        headers=_headers(payload),
        received=_received(message),
        size=int(message.get("sizeEstimate") or 0),
        labels=tuple(message.get("labelIds") or ()),
        snippet=_snippet(str(message.get("snippet") or "")),
        has_attachments=has_attachments(_part(payload, 0)) if "filename" in payload else None,
    )


def open_message(message: Json) -> OpenMessage:
    """From `messages.get` with `format=full`."""
    payload = message.get("payload") or {}
    return OpenMessage(
        id=str(message.get("id", "")),
        thread=str(message.get("threadId", "")),
        headers=_headers(payload),
        root=_part(payload, 0),
        received=_received(message),
        labels=tuple(message.get("labelIds") or ()),
    )


def decode_base64url(data: str) -> bytes:
    """Google leaves out the padding at times."""
    try:
        return base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))
    except (binascii.Error, ValueError):
        return b""


def _headers(payload: Json) -> Headers:
    fields = payload.get("headers") or ()
    return Headers((str(field.get("name", "")), str(field.get("value", ""))) for field in fields)


def _part(payload: Json, depth: int) -> MessagePart:
    headers = _headers(payload)
    body = payload.get("body") or {}
    media_type = valid_type(str(payload.get("mimeType") or ""))
    nested = () if media_type == "message/rfc822" or depth >= MAX_DEPTH else payload.get("parts") or ()
    return MessagePart(
        section=str(payload.get("partId", "")),
        media_type=media_type,
        parameters=_parameters(headers.raw("content-type")),
        disposition=headers.raw("content-disposition").partition(";")[0].strip().lower(),
        name=decode_words(str(payload.get("filename") or "")),
        size=int(body.get("size") or 0),
        handle=str(body.get("attachmentId") or ""),
        inline=decode_base64url(str(body["data"])) if body.get("data") else None,
        children=tuple(_part(child, depth + 1) for child in nested),
    )


def _parameters(content_type: str) -> dict[str, str]:
    pairs = [parameter.partition("=") for parameter in content_type.split(";")[1:]]
    return read_parameters([text.strip().strip('"') for name, _, value in pairs for text in (name, value)])


def _received(message: Json) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(message["internalDate"]) / 1000, UTC)
    except (KeyError, ValueError, TypeError, OverflowError, OSError):
        return None


def _snippet(text: str) -> str:
    """Gmail escapes it as HTML."""
    import html

    return decode_words(html.unescape(text))[:200]


class GmailLabels:
    def __init__(self, mailbox: GmailMailbox) -> None:
        self._mailbox = mailbox
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
        return tuple(_SHOWN.get(label) or self._names.get(label, label) for label in ids)

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
        listed = (await self._mailbox.get("labels")).get("labels") or ()
        self._names = {str(label["id"]): str(label["name"]) for label in listed if label["id"] not in _SHOWN}
        self._read_at = time.monotonic()

    async def _missing(self, label: str, create: bool) -> str:
        if create:
            made = str((await self._mailbox.post("labels", {"name": label}))["id"])
            self._names[made] = label
            return made
        shown = ", ".join([*_SYSTEM, *sorted(self._names.values(), key=str.casefold)][:40])
        raise ToolFailure(f"There is no label {label[:60]!r}.", f"Labels of this account: {shown}.")


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name.strip()).casefold()


class GmailMailbox:
    def __init__(self, store: AccountStore, account: Account) -> None:
        self._account = account
        self._access = GoogleAccess(store, account)
        self._labels = GmailLabels(self)
        self._address = account.user

    @property
    def address(self) -> str:
        return self._address

    @property
    def sender(self) -> Mailto:
        return Mailto(self._account.text("name"), self._address)

    async def identify(self) -> None:
        """Ask Google for the address if the account was stored without it."""
        if not self._address:
            self._address = str((await self.get("profile")).get("emailAddress", ""))

    async def search(self, query: str, limit: int, page: str | None) -> FoundPage:
        asked = {"q": query, "maxResults": limit, **({"pageToken": page} if page else {})}
        if "in:anywhere" in query or "in:trash" in query or "in:spam" in query:
            asked["includeSpamTrash"] = "true"
        listed = await self.get("messages", asked)
        ids = [str(message["id"]) for message in listed.get("messages") or ()]
        found = await self._summaries(ids)
        return FoundPage(
            messages=found,
            next_page=listed.get("nextPageToken"),
            total=listed.get("resultSizeEstimate"),
            remarks=gone_remark(len(ids) - len(found)),
        )

    async def open(self, message_id: str) -> OpenMessage:
        raw = await self.get(f"messages/{_checked(message_id)}", {"format": "full"})
        message = open_message(raw)
        return replace(message, labels=await self._names(message.labels))

    async def content(self, message: OpenMessage, part: MessagePart, limit: int) -> bytes:
        if part.inline is not None:
            return part.inline[:limit]
        if not part.handle:
            return b""
        data = await self.get(f"messages/{message.id}/attachments/{part.handle}")
        return decode_base64url(str(data.get("data") or ""))[:limit]

    async def raw(self, message: OpenMessage, limit: int) -> bytes:
        found = await self.get(f"messages/{_checked(message.id)}", {"format": "raw"})
        return decode_base64url(str(found.get("raw") or ""))[:limit]

    async def stream(self, message: OpenMessage, part: MessagePart) -> AsyncIterator[bytes]:
        yield await self.content(message, part, limit=1 << 31)

    async def thread(self, message: OpenMessage) -> Thread:
        asked: dict[str, Any] = {"format": "metadata", "metadataHeaders": list(_FIELDS)}
        found = await self.get(f"threads/{_checked(message.thread)}", asked)
        return Thread.of([summary(message) for message in found.get("messages") or ()])

    async def send(self, message: Outgoing, answered: OpenMessage | None) -> Sent:
        return _sent(await self._store("messages/send", message, answered, wrap=False))

    async def save_draft(self, message: Outgoing, answered: OpenMessage | None) -> Sent:
        made = await self._store("drafts", message, answered, wrap=True)
        return _sent(made.get("message") or made)

    async def trash(self, message_id: str) -> Changed:
        return await self._changed(await self.post(f"messages/{_checked(message_id)}/trash", None))

    async def unread(self, label: str) -> int:
        known = await self._labels.ids([label], create=False)
        found = await self.get(f"labels/{known[0]}")
        return int(found.get("messagesUnread") or 0)

    async def modify(self, ids: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> list[Changed]:
        for given in ids:
            _checked(given)
        change = {
            "addLabelIds": await self._labels.ids(add, create=True),
            "removeLabelIds": await self._labels.ids(remove, create=False),
        }

        async def one(message_id: str) -> Changed:
            try:
                return await self._changed(await self.post(f"messages/{message_id}/modify", change))
            except MessageGone as error:
                return Changed(message_id, error=f"{error.message} {error.hint}")

        return await _together(one, ids)

    async def _summaries(self, ids: Sequence[str]) -> list[MessageSummary]:
        """Without messages that were deleted meanwhile: a draft gets another id each time it is saved."""

        async def one(message_id: str) -> MessageSummary | None:
            try:
                asked = {"format": "full", "fields": SUMMARY_FIELDS}
                return summary(await self.get(f"messages/{message_id}", asked))
            except MessageGone:
                return None

        found = [message for message in await _together(one, ids) if message is not None]
        await self._labels.learn(label for message in found for label in message.labels)
        return [replace(message, labels=self._labels.names(message.labels)) for message in found]

    async def _names(self, labels: Sequence[str]) -> tuple[str, ...]:
        await self._labels.learn(labels)
        return self._labels.names(labels)

    async def _changed(self, message: Any) -> Changed:
        return Changed(str(message.get("id", "")), await self._names(message.get("labelIds") or ()))

    async def _store(self, path: str, message: Outgoing, answered: OpenMessage | None, *, wrap: bool) -> Any:
        data = message.to_store
        about = {"threadId": answered.thread} if answered and answered.thread else {}
        if len(data) < UPLOAD_FROM:
            raw = {**about, "raw": base64.urlsafe_b64encode(data).decode("ascii")}
            return await self.post(path, {"message": raw} if wrap else raw)
        return await self._upload(path, {"message": about} if wrap else about, data)

    async def _upload(self, path: str, about: dict[str, Any], data: bytes) -> Any:
        mark = secrets.token_hex(16)
        start = f"--{mark}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{json.dumps(about)}\r\n"
        start += f"--{mark}\r\nContent-Type: message/rfc822\r\n\r\n"
        response = await self._access.request(
            "POST",
            f"{self._access.base('gmail')}/upload/gmail/v1/users/me/{path}",
            params={"uploadType": "multipart"},
            content=start.encode() + data + f"\r\n--{mark}--\r\n".encode(),
            headers={"Content-Type": f'multipart/related; boundary="{mark}"'},
        )
        return self._read(response)

    async def get(self, path: str, params: dict[str, Any] | None = None) -> Any:
        return self._read(await self._access.request("GET", self._url(path), params=params))

    async def post(self, path: str, body: Any) -> Any:
        return self._read(await self._access.request("POST", self._url(path), json=body))

    def _url(self, path: str) -> str:
        return f"{self._access.base('gmail')}/gmail/v1/users/me/{path}"

    def _read(self, response: Any) -> Any:
        if response.status_code == 404:
            raise MessageGone(
                "Gmail does not have this message, label or attachment.",
                "Use an id from search_emails, with the same account.",
            )
        if response.status_code >= 400:
            raise failure_of(response, self._account)
        return response.json() if response.content else {}


def _checked(message_id: str) -> str:
    text = message_id.strip()
    if not text.isascii() or not text.replace("-", "").replace("_", "").isalnum() or len(text) > 200:
        raise ToolFailure(
            f"{message_id[:80]!r} is not the id of a message in this account.",
            "Use an id from search_emails, with the same account.",
        )
    return text


def _sent(message: Any) -> Sent:
    return Sent(str(message.get("id", "")), str(message.get("threadId", "")))


async def _together(function: Callable[[str], Awaitable[R]], ids: Sequence[str]) -> list[R]:
    """The function's result for each id, in their order, a few at a time."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(message_id: str) -> R:
        async with gate:
            return await function(message_id)

    return list(await asyncio.gather(*map(one, ids)))
