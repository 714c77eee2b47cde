"""A mailbox reached by the Gmail API."""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
from collections.abc import AsyncIterator, Sequence
from typing import Any

from toolcrib.accounts import Account, AccountStore
from toolcrib.accounts.google import GoogleAccess, failure_of
from toolcrib.bundled.mail.gmail_messages import decode_base64url, inline_contents, open_message, summary
from toolcrib.bundled.mail.headers import Mailto
from toolcrib.bundled.mail.mailbox import Changed, FoundPage, OpenMessage, Sent, Summary, Thread
from toolcrib.bundled.mail.outgoing import Outgoing
from toolcrib.bundled.mail.structure import Part
from toolcrib.serverkit.context import ToolFailure

AT_ONCE = 8
"""Requests for the messages of a page."""
UPLOAD_FROM = 4_000_000
"""Bytes from which a message is uploaded: the plain request takes 5 MB."""
MAX_REMEMBERED = 8
_FIELDS = ("From", "To", "Cc", "Subject", "Date", "Message-ID", "References", "In-Reply-To")
_SYSTEM = frozenset({"INBOX", "UNREAD", "STARRED", "IMPORTANT", "TRASH", "SPAM", "SENT", "DRAFT"})


class GmailMailbox:
    def __init__(self, store: AccountStore, account: Account) -> None:
        self._account = account
        self._access = GoogleAccess(store, account)
        self._texts: dict[str, dict[str, bytes]] = {}
        """The text that came with a message opened lately."""
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
            self._address = str((await self._get("profile", {})).get("emailAddress", ""))

    async def search(self, query: str, limit: int, page: str | None) -> FoundPage:
        asked = {"q": query, "maxResults": limit, **({"pageToken": page} if page else {})}
        if "in:anywhere" in query or "in:trash" in query or "in:spam" in query:
            asked["includeSpamTrash"] = "true"
        listed = await self._get("messages", asked)
        ids = [str(each["id"]) for each in listed.get("messages") or ()]
        return FoundPage(
            messages=await self._summaries(ids),
            next_page=listed.get("nextPageToken"),
            total=listed.get("resultSizeEstimate"),
        )

    async def open(self, message_id: str) -> OpenMessage:
        raw = await self._get(f"messages/{_checked(message_id)}", {"format": "full"})
        message = open_message(raw)
        self._texts[message.id] = inline_contents(raw)
        while len(self._texts) > MAX_REMEMBERED:
            self._texts.pop(next(iter(self._texts)))
        return message

    async def content(self, message: OpenMessage, part: Part, limit: int) -> bytes:
        came = self._texts.get(message.id, {}).get(part.section)
        if came is not None:
            return came[:limit]
        if not part.handle:
            return b""
        data = await self._get(f"messages/{message.id}/attachments/{part.handle}", {})
        return decode_base64url(str(data.get("data") or ""))[:limit]

    async def raw(self, message: OpenMessage, limit: int) -> bytes:
        found = await self._get(f"messages/{_checked(message.id)}", {"format": "raw"})
        return decode_base64url(str(found.get("raw") or ""))[:limit]

    async def stream(self, message: OpenMessage, part: Part) -> AsyncIterator[bytes]:
        yield await self.content(message, part, limit=1 << 31)

    async def thread(self, message: OpenMessage) -> Thread:
        asked: dict[str, Any] = {"format": "metadata", "metadataHeaders": list(_FIELDS)}
        found = await self._get(f"threads/{_checked(message.thread)}", asked)
        return Thread.of([summary(each) for each in found.get("messages") or ()])

    async def send(self, message: Outgoing, answered: OpenMessage | None) -> Sent:
        return _sent(await self._store("messages/send", message, answered, wrap=False))

    async def save_draft(self, message: Outgoing, answered: OpenMessage | None) -> Sent:
        made = await self._store("drafts", message, answered, wrap=True)
        return _sent(made.get("message") or made)

    async def trash(self, message_id: str) -> Changed:
        return _changed(await self._post(f"messages/{_checked(message_id)}/trash", None))

    async def unread(self, label: str) -> int:
        known = await self._label_ids([label], create=False)
        found = await self._get(f"labels/{known[0]}", {})
        return int(found.get("messagesUnread") or 0)

    async def modify(self, ids: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> list[Changed]:
        for each in ids:
            _checked(each)
        change = {
            "addLabelIds": await self._label_ids(add, create=True),
            "removeLabelIds": await self._label_ids(remove, create=False),
        }
        if len(ids) > 1:
            await self._post("messages/batchModify", {"ids": list(ids), **change})
            return [Changed(each) for each in ids]
        return [_changed(await self._post(f"messages/{each}/modify", change)) for each in ids]

    async def _summaries(self, ids: Sequence[str]) -> list[Summary]:
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(message_id: str) -> Summary:
            async with gate:
                asked: dict[str, Any] = {"format": "metadata", "metadataHeaders": list(_FIELDS)}
                return summary(await self._get(f"messages/{message_id}", asked))

        return list(await asyncio.gather(*map(one, ids)))

    async def _label_ids(self, labels: Sequence[str], *, create: bool) -> list[str]:
        """Ids for names; system labels are their own ids."""
        if all(label.upper() in _SYSTEM for label in labels):
            return [label.upper() for label in labels]
        listed = (await self._get("labels", {})).get("labels") or ()
        known = {str(each["name"]).casefold(): str(each["id"]) for each in listed}
        known |= {str(each["id"]).casefold(): str(each["id"]) for each in listed}
        return [
            known.get(label.casefold()) or await self._missing(label, list(known), create) for label in labels
        ]

    async def _missing(self, label: str, known: list[str], create: bool) -> str:
        if create:
            return str((await self._post("labels", {"name": label}))["id"])
        shown = ", ".join(sorted(known)[:40])
        raise ToolFailure(f"There is no label {label[:60]!r}.", f"Labels of this account: {shown}.")

    async def _store(self, path: str, message: Outgoing, answered: OpenMessage | None, *, wrap: bool) -> Any:
        data = message.to_store
        about = {"threadId": answered.thread} if answered and answered.thread else {}
        if len(data) < UPLOAD_FROM:
            raw = {**about, "raw": base64.urlsafe_b64encode(data).decode("ascii")}
            return await self._post(path, {"message": raw} if wrap else raw)
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

    async def _get(self, path: str, params: dict[str, Any]) -> Any:
        return self._read(await self._access.request("GET", self._url(path), params=params))

    async def _post(self, path: str, body: Any) -> Any:
        return self._read(await self._access.request("POST", self._url(path), json=body))

    def _url(self, path: str) -> str:
        return f"{self._access.base('gmail')}/gmail/v1/users/me/{path}"

    def _read(self, response: Any) -> Any:
        if response.status_code == 404:
            raise ToolFailure(
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


def _changed(message: Any) -> Changed:
    return Changed(str(message.get("id", "")), tuple(message.get("labelIds") or ()))
