"""The Gmail API on a loopback port, over messages in memory, with the sign-in of the Google service."""

from __future__ import annotations

import base64
import email.policy
import json
import re
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from email import message_from_bytes
from email.message import EmailMessage, Message
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.accounts.google_service import USER, Answer, GoogleService

ROOT = "/gmail/v1/users/me/"
SYSTEM = ("INBOX", "UNREAD", "STARRED", "IMPORTANT", "TRASH", "SPAM", "SENT", "DRAFT", "CATEGORY_PROMOTIONS")
INLINE = 10_000
"""Bytes of a part that come with the message; Gmail leaves files out."""


@dataclass
class Stored:
    id: str
    thread: str
    labels: list[str]
    raw: bytes
    received: int

    @property
    def message(self) -> EmailMessage:
        found = message_from_bytes(self.raw, policy=email.policy.default)
        assert isinstance(found, EmailMessage)
        return found


@dataclass
class GmailService(GoogleService):
    messages: dict[str, Stored] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    """Id and name of the user's labels."""
    queries: list[str] = field(default_factory=list)
    uploads: int = 0
    after_list: Callable[[], object] = lambda: None
    """What happens elsewhere after messages were listed and before they are read."""
    before_attachment: Callable[[], object] = lambda: None

    def put(self, raw: bytes, *labels: str, thread: str = "") -> Stored:
        number = f"{len(self.messages) + 1:016x}"
        made = Stored(
            number, thread or number, list(labels), raw, int(time.time() * 1000) + len(self.messages)
        )
        self.messages[number] = made
        return made

    def vanish(self, stored: Stored) -> bool:
        """Another device deletes it."""
        return self.messages.pop(stored.id, None) is not None

    def edit_draft(self, stored: Stored) -> Stored:
        """Another device saves a draft again, which gives it another message id."""
        self.vanish(stored)
        made = replace(stored, id=f"{secrets.randbits(60):016x}")
        self.messages[made.id] = made
        return made

    def label(self, name: str) -> str:
        """Make a label of the user; returns its id, which says nothing about its name."""
        made = f"Label_{secrets.randbelow(9 * 10**18) + 10**18}"
        self.labels[made] = name
        return made

    def answer(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Answer | None:
        path = urlsplit(target).path
        if not path.startswith((ROOT, f"/upload{ROOT}")) or self.planned:
            return super().answer(method, target, headers, body)
        self.asked.append((method, path))
        if not self._is_signed_in(headers.get("authorization", "")):
            return Answer(401, {"error": {"code": 401, "message": "Invalid Credentials"}})
        query = parse_qs(urlsplit(target).query)
        if path.startswith("/upload"):
            return self._upload(path.removeprefix(f"/upload{ROOT}"), headers, body)
        given = json.loads(body) if body else {}
        return self._route(method, path.removeprefix(ROOT), query, given) or _missing()

    def _is_signed_in(self, authorization: str) -> bool:
        issued = self.tokens.get(authorization.removeprefix("Bearer "))
        return issued is not None and issued.expires_at >= time.time() and not issued.grant.revoked

    def _route(self, method: str, path: str, query: dict[str, list[str]], given: Any) -> Answer | None:
        name, *rest = path.split("/")
        if (method, path) == ("GET", "profile"):
            return Answer(200, {"emailAddress": USER})
        if name == "labels":
            return self._labels(method, rest, given)
        if (method, path) == ("GET", "messages"):
            return self._list(query)
        if (method, path) == ("POST", "messages/send"):
            return self._send(_raw(given), given.get("threadId", ""), "SENT")
        if (method, path) == ("POST", "drafts"):
            about = given["message"]
            return self._send(_raw(about), about.get("threadId", ""), "DRAFT", draft=True)
        if name == "threads" and rest:
            return self._thread(rest[0])
        if "attachments" in rest:
            self.before_attachment()
        found = self.messages.get(rest[0]) if name == "messages" and rest else None
        return self._message(found, rest[1:], query, given) if found else None

    def _message(
        self, found: Stored, rest: list[str], query: dict[str, list[str]], given: Any
    ) -> Answer | None:
        if not rest:
            whole = _represented(found, query.get("format", ["full"])[0], query.get("metadataHeaders"))
            return Answer(200, _limited(whole, query["fields"][0]) if "fields" in query else whole)
        if rest[0] == "attachments":
            data = next(body for handle, body in _bodies(found.message) if handle == rest[1])
            return Answer(200, {"size": len(data), "data": _encoded(data)})
        if rest[0] == "trash":
            found.labels = [*(each for each in found.labels if each != "INBOX"), "TRASH"]
            return Answer(200, _represented(found, "minimal", None))
        if rest[0] == "modify":
            changed = self._modify(found, given)
            return changed if changed.status >= 400 else Answer(200, _represented(found, "minimal", None))
        return None

    def _modify(self, found: Stored, given: Any) -> Answer:
        known = {*SYSTEM, *self.labels}
        add, remove = given.get("addLabelIds", []), given.get("removeLabelIds", [])
        if {*add, *remove} - known:
            return Answer(400, {"error": {"code": 400, "message": "Invalid label"}})
        found.labels = [label for label in dict.fromkeys([*found.labels, *add]) if label not in remove]
        return Answer(200, {})

    def _list(self, query: dict[str, list[str]]) -> Answer:
        wanted = query.get("q", [""])[0]
        self.queries.append(wanted)
        found = [each for each in reversed(self.messages.values()) if _matches(each, wanted)]
        start, limit = int(query.get("pageToken", ["0"])[0]), int(query["maxResults"][0])
        page = [{"id": each.id, "threadId": each.thread} for each in found[start : start + limit]]
        result: dict[str, Any] = {"resultSizeEstimate": len(found), **({"messages": page} if page else {})}
        if start + limit < len(found):
            result["nextPageToken"] = str(start + limit)
        self.after_list()
        return Answer(200, result)

    def _labels(self, method: str, rest: list[str], given: Any) -> Answer | None:
        if method == "POST":
            if given["name"].casefold() in map(str.casefold, self.labels.values()):
                return Answer(409, {"error": {"code": 409, "message": "Label name exists or conflicts"}})
            return Answer(200, {"id": self.label(given["name"]), "name": given["name"]})
        named = {**{each: each for each in SYSTEM}, **self.labels}
        if not rest:
            return Answer(200, {"labels": [{"id": key, "name": name} for key, name in named.items()]})
        if rest[0] not in named:
            return None
        unread = [each for each in self.messages.values() if {rest[0], "UNREAD"} <= set(each.labels)]
        return Answer(200, {"id": rest[0], "messagesUnread": len(unread)})

    def _thread(self, thread: str) -> Answer | None:
        found = [each for each in self.messages.values() if each.thread == thread]
        return (
            Answer(200, {"messages": [_represented(each, "metadata", None) for each in found]})
            if found
            else None
        )

    def _send(self, raw: bytes, thread: str, label: str, *, draft: bool = False) -> Answer:
        if not raw:
            return Answer(400, {"error": {"code": 400, "message": "'raw' RFC822 payload message required"}})
        made = self.put(raw, label, thread=thread)
        about = {"id": made.id, "threadId": made.thread, "labelIds": made.labels}
        return Answer(200, {"id": "r1", "message": about} if draft else about)

    def _upload(self, path: str, headers: dict[str, str], body: bytes) -> Answer:
        self.uploads += 1
        mark = re.search(r'boundary="([^"]+)"', headers["content-type"])
        assert mark
        _, about, content, _ = body.split(f"--{mark[1]}".encode())
        given = json.loads(about.partition(b"\r\n\r\n")[2])
        raw = content.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
        draft = path == "drafts"
        thread = (given.get("message", {}) if draft else given).get("threadId", "")
        return self._send(raw, thread, "DRAFT" if draft else "SENT", draft=draft)


def _missing() -> Answer:
    return Answer(404, {"error": {"code": 404, "message": "Requested entity was not found."}})


def _matches(stored: Stored, query: str) -> bool:
    """Words and the few operators that the tests use."""
    message = stored.message
    tests = {
        "subject": lambda value: value.lower() in str(message["Subject"]).lower(),
        "from": lambda value: value in str(message["From"]),
        "is": lambda value: value.upper() in stored.labels,
        "in": lambda value: value.upper() in stored.labels,
    }
    for word in query.split():
        name, colon, value = word.partition(":")
        if not (tests[name](value) if colon else word.encode() in stored.raw):
            return False
    return True


def _raw(given: Any) -> bytes:
    return base64.urlsafe_b64decode(given.get("raw", ""))


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _represented(stored: Stored, form: str, wanted: list[str] | None) -> dict[str, Any]:
    about: dict[str, Any] = {
        "id": stored.id,
        "threadId": stored.thread,
        "labelIds": stored.labels,
        "snippet": "It&#39;s the beginning",
        "internalDate": str(stored.received),
        "sizeEstimate": len(stored.raw),
    }
    if form == "minimal":
        return about
    message = stored.message
    if form == "raw":
        return {**about, "raw": _encoded(stored.raw)}
    if form == "metadata":
        names = {each.lower() for each in wanted} if wanted else None
        fields = [each for each in _fields(message) if names is None or each["name"].lower() in names]
        return {**about, "payload": {"mimeType": message.get_content_type(), "headers": fields}}
    return {**about, "payload": _payload(message, "")}


def _limited(whole: dict[str, Any], mask: str) -> dict[str, Any]:
    """A partial response: names, and what is wanted of each in parentheses."""
    found = {}
    for name, inner in _named(mask):
        value = whole.get(name)
        if isinstance(value, list) and inner:
            found[name] = [_limited(each, inner) for each in value]
        elif value is not None:
            found[name] = _limited(value, inner) if inner else value
    return found


def _named(mask: str) -> Iterator[tuple[str, str]]:
    while mask:
        match = re.match(r"\w+", mask)
        assert match, mask
        end = match.end()
        depth, start = 0, end
        while end < len(mask) and (depth or mask[end] != ","):
            depth += {"(": 1, ")": -1}.get(mask[end], 0)
            end += 1
        assert depth == 0
        yield match[0], mask[start + 1 : end - 1]
        mask = mask[end + 1 :]


def _fields(message: Message) -> list[dict[str, str]]:
    return [{"name": name, "value": str(value)} for name, value in message.items()]


def _payload(part: Any, number: str) -> dict[str, Any]:
    about: dict[str, Any] = {
        "partId": number,
        "mimeType": part.get_content_type(),
        "filename": part.get_filename() or "",
        "headers": _fields(part),
    }
    if part.is_multipart() and part.get_content_maintype() == "multipart":
        children = [
            _payload(child, f"{number}.{index}".lstrip(".")) for index, child in enumerate(part.iter_parts())
        ]
        return {**about, "body": {"size": 0}, "parts": children}
    data = _data(part)
    if part.get_filename() or len(data) > INLINE:
        return {**about, "body": {"size": len(data), "attachmentId": _handle(data)}}
    return {**about, "body": {"size": len(data), "data": _encoded(data)}}


def _data(part: Any) -> bytes:
    if part.get_content_type() == "message/rfc822":
        return bytes(part.get_content().as_bytes())
    data = part.get_payload(decode=True) or b""
    if part.get_content_maintype() == "text" and not part.get_filename():
        # Gmail converts text to UTF-8 and leaves the label unchanged.
        return bytes(data.decode(part.get_content_charset("utf-8"), "replace").encode())
    return bytes(data)


def _handle(data: bytes) -> str:
    import hashlib

    return "ANGjdJ" + hashlib.sha256(data).hexdigest()


def _bodies(message: EmailMessage) -> Iterator[tuple[str, bytes]]:
    for part in message.walk():
        if part.get_content_maintype() != "multipart":
            data = _data(part)
            yield _handle(data), data
