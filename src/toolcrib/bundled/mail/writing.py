"""What a message to send says: addresses, subject, text, attachments, and the headers that keep a thread.
Decides who gets a reply, its subject ("Re:", "AW:"), the line above quoted text ("On … wrote:"), most
recipients and longest text."""

from __future__ import annotations

import contextlib
import mimetypes
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime, getaddresses, make_msgid, unquote

from toolcrib.bundled.mail.headers import Headers, Mailto
from toolcrib.bundled.mail.outgoing import Attached, Outgoing, build, is_message_id
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.mail_address import ascii_domain, header_text, mail_address

MAX_RECIPIENTS = 200
MAX_BODY = 5_000_000
MAX_REFERENCES = 50
"""The first and the latest ones are kept, as RFC 5537 advises."""
_IS_REPLY = re.compile(r"\s*(re|aw|antw|sv|vs|ref|rif)\s*(\[\d+\]|\(\d+\))?\s*[:：]", re.IGNORECASE)
_MEDIA_TYPE = re.compile(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,120}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True)
class AttachedFile:
    name: str
    data: bytes = field(repr=False)
    changed: int = 0
    """When the file was changed last."""


@dataclass(frozen=True, kw_only=True)
class Letter:
    """What is to be sent, checked."""

    to: Sequence[Mailto] = ()
    cc: Sequence[Mailto] = ()
    bcc: Sequence[Mailto] = ()
    subject: str = ""
    """On one line, as it is sent and shown."""
    body: str = ""
    in_reply_to: str = ""
    references: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "subject", header_text(self.subject))


def read_recipients(given: Sequence[str] | str | None, field_name: str = "to") -> list[Mailto]:
    """Addresses such as `a@example.org` or `Ann <a@example.org>`; raises `ToolFailure` for an invalid one."""
    entries = [given] if isinstance(given, str) else list(given or ())
    if control := next((entry for entry in entries if _CONTROL.search(entry.strip())), None):
        raise _invalid(control, field_name)
    found = getaddresses([header_text(entry) for entry in entries if entry.strip()])
    read = [_checked(name, address, field_name) for name, address in found]
    if len(read) > MAX_RECIPIENTS:
        raise ToolFailure(f"There are more than {MAX_RECIPIENTS} recipients.", "Send to fewer at a time.")
    return unique(read)


def compose(sender: Mailto, letter: Letter, files: Sequence[AttachedFile] = ()) -> Outgoing:
    """The message, ready to be sent or stored; raises `ToolFailure` if it would not say what was asked."""
    if len(letter.body) > MAX_BODY:
        raise ToolFailure("The text is longer than 5,000,000 characters.", "Attach it as a file.")
    domain = ascii_domain(sender.address.rpartition("@")[2]) or "localhost"
    fields = [
        ("Subject", letter.subject),
        ("Date", format_datetime(datetime.now(UTC))),
        ("Message-ID", make_msgid(domain=domain)),
    ]
    if is_message_id(letter.in_reply_to):
        fields.append(("In-Reply-To", letter.in_reply_to))
    if references := _shortened(letter.references):
        fields.append(("References", " ".join(references)))
    people = [("From", [sender]), ("To", letter.to), ("Cc", letter.cc), ("Bcc", letter.bcc)]
    checked = [(name, [_checked(*person, name) for person in some]) for name, some in people]
    return build(fields, checked, encodable(letter.body), list(map(_attached, files)))


def reply(original: Headers, own: str, body: str, *, reply_all: bool) -> Letter:
    """An answer to a message: its recipients, subject and thread.

    Answers to one's own message go to those it was sent to. The user's own address is never a recipient;
    without another one, there is none.
    """
    writers = original.addresses("from")
    senders = original.addresses("reply-to") or writers
    if writers and all(_same(writer.address, own) for writer in writers):
        senders = original.addresses("to")
    copies = [*original.addresses("to"), *original.addresses("cc")] if reply_all else []
    to = _without(senders, [own])
    cc = _without(copies, [own, *(person.address for person in to)])
    if not to:
        to, cc = cc, []
    return Letter(
        to=to,
        cc=cc,
        subject=reply_subject(original.text("subject")),
        body=body,
        in_reply_to=original.message_id,
        references=[*original.references, original.message_id] if original.message_id else [],
    )


def reply_subject(subject: str) -> str:
    """With one `Re:`, whatever language the earlier one is in."""
    return subject if _IS_REPLY.match(subject) else f"Re: {subject}".rstrip()


def quoted_text(original: Headers, text: str) -> str:
    """The original below a reply, as mail programs show it."""
    who = original.sender or "someone"
    when = original.sent.strftime("%a, %d %b %Y at %H:%M") if original.sent else "an earlier date"
    return f"On {when}, {who} wrote:\n" + "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def unique(people: Iterable[Mailto]) -> list[Mailto]:
    """Each address once, in order."""
    found: dict[str, Mailto] = {}
    for person in people:
        found.setdefault(person.address.lower(), person)
    return list(found.values())


def _without(people: Iterable[Mailto], excluded: Iterable[str]) -> list[Mailto]:
    hidden = {address.lower() for address in excluded}
    return [person for person in unique(_deliverable(people)) if person.address.lower() not in hidden]


def _same(one: str, other: str) -> bool:
    return one.lower() == other.lower()


def _checked(name: str, address: str, field_name: str) -> Mailto:
    valid = mail_address(address)
    if not valid:
        raise _invalid(address or name, field_name)
    return Mailto(header_text(name), valid)


def _deliverable(people: Iterable[Mailto]) -> Iterator[Mailto]:
    """Those of a received message with an address that mail can be sent to."""
    for person in people:
        with contextlib.suppress(ToolFailure):
            yield _checked(person.name, person.address, "")


def _invalid(text: str, field_name: str) -> ToolFailure:
    return ToolFailure(
        f"{text[:100]!r} in `{field_name}` is not an email address.",
        "Write it like ann@example.org or Ann Lee <ann@example.org>.",
    )


def _shortened(references: Sequence[str]) -> list[str]:
    known = list(dict.fromkeys(filter(is_message_id, references)))
    return known if len(known) <= MAX_REFERENCES else [known[0], *known[1 - MAX_REFERENCES :]]


def _attached(file: AttachedFile) -> Attached:
    guessed, encoding = mimetypes.guess_type(file.name)
    kind = (guessed or "").lower() if not encoding else ""
    # The content of messages and multiparts would be parsed and changed.
    if not _MEDIA_TYPE.fullmatch(kind) or kind.startswith(("message/", "multipart/")):
        kind = "application/octet-stream"
    return Attached(file_name(file.name), kind, file.data)


def file_name(name: str) -> str:
    """The name under which a file is attached, without quotes or brackets around it: readers remove them."""
    bare = header_text(name)
    while (inner := header_text(unquote(bare))) != bare:
        bare = inner
    return bare or "file"


def encodable(text: str) -> str:
    """Lone surrogates, which models can write in JSON, cannot be sent."""
    return text.encode("utf-8", "replace").decode("utf-8")
