"""Reads messages over an IMAP connection: summaries, structure, parts. Nothing is marked as read. Decides the
length of snippets, ids of messages, labels shown for flags, and errors for messages or folders that no longer
exist."""

from __future__ import annotations

import imaplib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.message import Message
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import quote, unquote

from toolcrib.bundled.mail.decoding import decode_text, transfer_decoded
from toolcrib.bundled.mail.folders import LABELS, Folder
from toolcrib.bundled.mail.headers import Headers
from toolcrib.bundled.mail.imap_criteria import quoted
from toolcrib.bundled.mail.mailbox import MessageGone, MessageSummary, OpenMessage
from toolcrib.bundled.mail.structure import MessagePart, contents, from_body_structure, has_attachments
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.html_text import html_to_text
from toolcrib.serverkit.visible_text import visible

if TYPE_CHECKING:
    from toolcrib.accounts.imap import ImapConnection

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NUMBER = re.compile(r"[0-9]{1,10}")
MAX_LENGTH = 2000

FIELDS = b"FROM TO CC SUBJECT DATE MESSAGE-ID REFERENCES IN-REPLY-TO"
CHUNK = 500
"""Messages in one command: the numbers of more may exceed the server's line length."""
PIECE = 1 << 20
SNIPPET_BYTES = 3000
SNIPPET_LENGTH = 160
MAX_HEADER_BYTES = 256 * 1024
MAX_SIMILAR = 100
"""Messages whose Message-ID is compared when one is looked for."""
PLAIN_TEXT = MessagePart("1", "text/plain", encoding="")


@dataclass(frozen=True)
class ImapId:
    folder: str
    validity: int
    """Changes if the server numbers the folder anew (UIDVALIDITY)."""
    uid: int
    message_id: str = ""
    """With angle brackets; empty if the message has none."""

    def __str__(self) -> str:
        fields = (quote(self.folder, safe=""), str(self.validity), str(self.uid), self._quoted_message_id)
        return ":".join(fields)

    @property
    def _quoted_message_id(self) -> str:
        return quote(_bare(self.message_id), safe="@.$+=!*'()")

    @classmethod
    def read(cls, text: str) -> Self:
        """Raises `ToolFailure` for what is not an id."""
        parts = text.strip().split(":")
        if len(parts) != 4 or len(text) > MAX_LENGTH or not all(map(_NUMBER.fullmatch, parts[1:3])):
            raise not_an_id(text)
        folder, message_id = unquote(parts[0]), unquote(parts[3])
        if not folder or _CONTROL.search(folder + message_id):
            raise not_an_id(text)
        return cls(folder, int(parts[1]), int(parts[2]), f"<{message_id}>" if message_id else "")


def same_message_id(one: str, other: str) -> bool:
    """Whether both mean one message, as far as an id holds them."""
    return _bare(one) == _bare(other)


def _bare(message_id: str) -> str:
    return message_id.strip("<>")[:500]


def not_an_id(text: str) -> ToolFailure:
    return ToolFailure(
        f"{text[:80]!r} is not the id of a message in this account.",
        "Use an id from search_emails, with the same account.",
    )


def gone(text: str) -> MessageGone:
    return MessageGone(
        f"The message {text[:80]!r} no longer exists: it was deleted, or moved to where it cannot be found.",
        "Search for it again with search_emails.",
    )


class FolderState(NamedTuple):
    validity: int
    """UIDVALIDITY."""
    exists: int
    """How many messages it has."""
    keywords: tuple[bytes, ...] = ()
    """Flags that can be stored; `\\*` allows new ones."""


def select(connection: ImapConnection, folder: str, *, change: bool = False) -> FolderState:
    """Open a folder; raises `ToolFailure` if it does not exist."""
    try:
        state = connection.select_folder(folder, readonly=not change)
    except imaplib.IMAP4.abort:
        raise
    except imaplib.IMAP4.error as error:
        raise ToolFailure(
            f"The folder {folder!r} cannot be opened.", "Search again, or use another folder."
        ) from error
    allowed = tuple(state.get(b"PERMANENTFLAGS", ()))
    return FolderState(int(state.get(b"UIDVALIDITY", 0)), int(state.get(b"EXISTS", 0)), allowed)


def locate(
    connection: ImapConnection, wanted: ImapId, folders: Sequence[Folder], *, change: bool = False
) -> ImapId:
    """Open the folder that the message is in now; raises `ToolFailure` if it is gone."""
    try:
        validity = select(connection, wanted.folder, change=change).validity
        if validity == wanted.validity and connection.find([b"UID", str(wanted.uid).encode()]):
            return wanted
    except ToolFailure:
        pass  # the folder was deleted or renamed
    if wanted.message_id:
        # Where it was comes last: it left that folder, and the inbox is the largest one.
        for folder in sorted(folders, key=lambda folder: (folder.name == wanted.folder, folder.role == "")):
            if found := find_by_message_id(connection, folder.name, wanted.message_id, change=change):
                return found
    raise gone(str(wanted))


def find_by_message_id(
    connection: ImapConnection, folder: str, message_id: str, *, change: bool = False
) -> ImapId | None:
    """The newest message with this Message-ID in a folder, which is open afterwards."""
    try:
        validity = select(connection, folder, change=change).validity
    except ToolFailure:
        return None
    uids = connection.find([b"HEADER", b"Message-ID", quoted(message_id.strip("<>"))])
    exact = _with_message_id(connection, uids[-MAX_SIMILAR:], message_id)
    return ImapId(folder, validity, exact[-1], message_id) if exact else None


def _with_message_id(connection: ImapConnection, uids: Sequence[int], message_id: str) -> list[int]:
    """Servers search for a part of the field: `1@example.org` also finds `11@example.org`."""
    if not uids:
        return []
    asked = fetch(connection, uids, [b"BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)]"])
    found = {uid: Headers.read(_section(data, b"BODY[HEADER")).message_id for uid, data in asked.items()}
    return [uid for uid in uids if same_message_id(found.get(uid, ""), message_id)]


def fetch(
    connection: ImapConnection, uids: Sequence[int], items: Sequence[bytes]
) -> dict[int, Mapping[bytes, Any]]:
    """Items of messages in the open folder, without messages that were deleted meanwhile.

    For one that is gone, some servers refuse the whole command, and some return it without its content.
    """
    found: dict[int, Mapping[bytes, Any]] = {}
    for start in range(0, len(uids), CHUNK):
        chunk = uids[start : start + CHUNK]
        try:
            found |= connection.fetch(chunk, items)
        except imaplib.IMAP4.abort:
            raise
        except imaplib.IMAP4.error:
            there = _existing(connection, chunk)
            if len(there) == len(chunk):
                raise
            found |= connection.fetch(there, items)
    hollow = [uid for uid, data in found.items() if _is_hollow(data)]
    for uid in set(hollow) - set(_existing(connection, hollow)):
        del found[uid]
    return found


def _is_hollow(data: Mapping[bytes, Any]) -> bool:
    return any(value is None for key, value in data.items() if key.startswith(b"BODY["))


def _existing(connection: ImapConnection, uids: Sequence[int]) -> list[int]:
    if not uids:
        return []
    connection.noop()  # servers may report deleted messages only now
    return connection.find([b"UID", ",".join(map(str, uids)).encode()])


class Moment(NamedTuple):
    """What messages are put in order by; the same as `find_by_date` uses."""

    sent: float
    received: float
    uid: int


def moments(connection: ImapConnection, uids: Sequence[int]) -> dict[int, Moment]:
    """When messages of the open folder were sent: by their `Date`, or by their arrival without one."""
    found = fetch(connection, uids, [b"INTERNALDATE", b"BODY.PEEK[HEADER.FIELDS (DATE)]"])
    return {uid: _moment(uid, data) for uid, data in found.items()}


def _moment(uid: int, data: Mapping[bytes, Any]) -> Moment:
    arrived = _time(data)
    received = arrived.timestamp() if arrived else 0.0
    field = _section(data, b"BODY[HEADER").decode("ascii", "replace").partition(":")[2]
    sent = Headers([("date", field)]).sent
    return Moment(sent.timestamp() if sent else received, received, uid)


def summaries(
    connection: ImapConnection, folder: Folder, validity: int, uids: Sequence[int], *, snippets: bool = True
) -> dict[int, MessageSummary]:
    """Summaries of messages in the open folder; without those that vanished meanwhile."""
    if not uids:
        return {}
    asked = [
        b"FLAGS",
        b"INTERNALDATE",
        b"RFC822.SIZE",
        b"BODYSTRUCTURE",
        b"BODY.PEEK[HEADER.FIELDS (" + FIELDS + b")]",
    ]
    fetched = {uid: data for uid, data in fetch(connection, uids, asked).items() if b"FLAGS" in data}
    roots = {uid: _root(data) for uid, data in fetched.items()}
    texts = _snippets(connection, roots) if snippets else {}
    return {
        uid: _summary(folder, validity, uid, data, roots[uid], texts.get(uid, ""))
        for uid, data in fetched.items()
    }


def open_message(connection: ImapConnection, found: ImapId, folder: Folder) -> OpenMessage:
    """Headers and structure of a message in the open folder."""
    header = f"BODY.PEEK[HEADER]<0.{MAX_HEADER_BYTES}>".encode()
    data = fetch(connection, [found.uid], [b"FLAGS", b"INTERNALDATE", b"BODYSTRUCTURE", header])
    if found.uid not in data:
        raise gone(str(found))
    return _opened(found, folder, data[found.uid])


def _opened(found: ImapId, folder: Folder, data: Mapping[bytes, Any]) -> OpenMessage:
    headers = Headers.read(_section(data, b"BODY[HEADER"))
    return OpenMessage(
        id=str(ImapId(found.folder, found.validity, found.uid, headers.message_id)),
        thread=thread_of(headers),
        headers=headers,
        root=_declared(_root(data), headers),
        received=_time(data),
        labels=labels_of(data[b"FLAGS"], folder),
    )


def read_section(
    connection: ImapConnection, found: ImapId, section: str, offset: int = 0, size: int = PIECE
) -> bytes:
    """Bytes of a message in the open folder as stored, or of a part of it; empty after the end."""
    asked = f"BODY.PEEK[{section}]<{offset}.{size}>".encode()
    data = fetch(connection, [found.uid], [asked])
    if found.uid not in data:
        raise gone(str(found))
    return _section(data[found.uid], b"BODY[")


def labels_of(flags: Iterable[bytes], folder: Folder) -> tuple[str, ...]:
    """Gmail's labels for flags, keywords and the folder."""
    given = {flag.decode("utf-8", "replace") for flag in flags}
    lower = {flag.casefold() for flag in given}
    labels = [LABELS.get(folder.role, folder.name)] if folder.role != "all" else []
    labels += ["UNREAD"] if "\\seen" not in lower else []
    labels += ["STARRED"] if "\\flagged" in lower else []
    labels += ["IMPORTANT"] if "$important" in lower else []
    return (*labels, *sorted(flag for flag in given if not flag.startswith(("\\", "$"))))


def thread_of(headers: Headers) -> str:
    """The Message-ID of the first message of the thread."""
    return next(iter([*headers.references, headers.message_id])).strip("<>")


def _summary(
    folder: Folder, validity: int, uid: int, data: Mapping[bytes, Any], root: MessagePart, text: str
) -> MessageSummary:
    headers = Headers.read(_section(data, b"BODY[HEADER"))
    return MessageSummary(
        id=str(ImapId(folder.name, validity, uid, headers.message_id)),
        thread=thread_of(headers),
        headers=headers,
        received=_time(data),
        size=int(data.get(b"RFC822.SIZE", 0)),
        labels=labels_of(data[b"FLAGS"], folder),
        snippet=text,
        has_attachments=has_attachments(root),
    )


def _snippets(connection: ImapConnection, roots: Mapping[int, MessagePart]) -> dict[int, str]:
    """The beginning of each message's text; one command for all messages of the same structure."""
    chosen: dict[int, MessagePart] = {}
    for uid, root in roots.items():
        block = next(iter(contents(root).texts), None)
        part = (block.plain or block.html) if block else None
        if part is not None:
            chosen[uid] = part
    found: dict[int, str] = {}
    for section in {part.section for part in chosen.values()}:
        uids = [uid for uid, part in chosen.items() if part.section == section]
        asked = f"BODY.PEEK[{section}]<0.{SNIPPET_BYTES}>".encode()
        for uid, data in fetch(connection, uids, [asked]).items():
            found[uid] = _snippet(chosen[uid], _section(data, b"BODY["))
    return found


def _snippet(part: MessagePart, data: bytes) -> str:
    raw = transfer_decoded(data, part.encoding)
    if len(data) >= SNIPPET_BYTES:
        raw = raw[:-8]  # the last character may be cut
    text = decode_text(raw, part.charset)
    text = html_to_text(text) if part.media_type == "text/html" else visible(text)
    return " ".join(text.split())[:SNIPPET_LENGTH]


def _root(data: Mapping[bytes, Any]) -> MessagePart:
    try:
        return from_body_structure(data[b"BODYSTRUCTURE"])
    except (KeyError, IndexError, TypeError, AttributeError):
        return PLAIN_TEXT


def _declared(root: MessagePart, headers: Headers) -> MessagePart:
    """Some servers ignore the type and encoding of a message without `MIME-Version`; mail programs do not."""
    if headers.raw("mime-version") or root.children or root.media_type != "text/plain":
        return root
    kind = Message()
    kind["Content-Type"] = " ".join(headers.raw("content-type").split()) or "text/plain"
    if kind.get_content_maintype() != "text":
        return root
    charset = str(kind.get_param("charset", ""))
    encoding = headers.raw("content-transfer-encoding").strip().lower()
    return replace(
        root, media_type=kind.get_content_type(), parameters={"charset": charset}, encoding=encoding
    )


def _section(data: Mapping[bytes, Any], prefix: bytes) -> bytes:
    return next(
        (value for key, value in data.items() if key.startswith(prefix) and isinstance(value, bytes)), b""
    )


def _time(data: Mapping[bytes, Any]) -> datetime | None:
    value = data.get(b"INTERNALDATE")
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)
