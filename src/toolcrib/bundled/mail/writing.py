"""Builds messages to send: addresses, subject, text, attachments, and the headers that keep a thread."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8, EmailPolicy
from email.utils import format_datetime, getaddresses, make_msgid
from typing import Any

from toolcrib.bundled.mail.headers import Headers, Mailto
from toolcrib.serverkit.context import ToolFailure

MAX_RECIPIENTS = 200
MAX_BODY = 5_000_000
MAX_REFERENCES = 50
"""The first and the latest ones are kept, as RFC 5537 advises."""
_IS_REPLY = re.compile(r"\s*(re|aw|antw|sv|vs|ref|rif)\s*(\[\d+\]|\(\d+\))?\s*[:：]", re.IGNORECASE)
_WHITESPACE = re.compile(r"[\s\x00-\x1f\x7f]+")


@dataclass(frozen=True)
class AttachedFile:
    name: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Letter:
    """What is to be sent, checked."""

    to: Sequence[Mailto] = ()
    cc: Sequence[Mailto] = ()
    bcc: Sequence[Mailto] = ()
    subject: str = ""
    body: str = ""
    in_reply_to: str = ""
    references: Sequence[str] = ()


def read_recipients(given: Sequence[str] | str | None, field_name: str = "to") -> list[Mailto]:
    """Addresses such as `a@example.org` or `Ann <a@example.org>`; raises `ToolFailure` for an invalid one."""
    entries = [given] if isinstance(given, str) else list(given or ())
    if control := next((entry for entry in entries if re.search(r"[\x00-\x1f\x7f]", entry.strip())), None):
        raise _invalid(control, field_name)
    found = getaddresses([_WHITESPACE.sub(" ", entry).strip() for entry in entries if entry.strip()])
    read = [_checked(name, address, field_name) for name, address in found]
    if len(read) > MAX_RECIPIENTS:
        raise ToolFailure(f"There are more than {MAX_RECIPIENTS} recipients.", "Send to fewer at a time.")
    return unique(read)


def compose(sender: Mailto, letter: Letter, files: Sequence[AttachedFile] = ()) -> EmailMessage:
    """The message with its headers and attachments."""
    message = EmailMessage(policy=SMTP)
    message["From"] = _addresses("From", [sender])
    for name, people in (("To", letter.to), ("Cc", letter.cc), ("Bcc", letter.bcc)):
        if people:
            message[name] = _addresses(name, people)
    message["Subject"] = _WHITESPACE.sub(" ", _encodable(letter.subject)).strip()
    message["Date"] = format_datetime(datetime.now(UTC))
    message["Message-ID"] = make_msgid(domain=_ascii_domain(sender.address.rpartition("@")[2]) or "localhost")
    if letter.in_reply_to:
        message["In-Reply-To"] = letter.in_reply_to
        message["References"] = " ".join(_shortened(letter.references))
    if len(letter.body) > MAX_BODY:
        raise ToolFailure("The text is longer than 5,000,000 characters.", "Attach it as a file.")
    message.set_content(_encodable(letter.body))
    for file in files:
        _attach(message, file)
    return message


def reply(original: Headers, own: str, body: str, *, reply_all: bool) -> Letter:
    """An answer to a message: to whom, under which subject, in which thread.

    Answers to one's own message go to those it was sent to. The user's own address is never a recipient;
    without another one, there is none.
    """
    writers = original.addresses("from")
    senders = original.addresses("reply-to") or writers
    if writers and all(_same(each.address, own) for each in writers):
        senders = original.addresses("to")
    copies = [*original.addresses("to"), *original.addresses("cc")] if reply_all else []
    to = _without(senders, [own])
    cc = _without(copies, [own, *(each.address for each in to)])
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
    who = next((str(each) for each in original.addresses("from")), "someone")
    when = original.sent.strftime("%a, %d %b %Y at %H:%M") if original.sent else "an earlier date"
    return f"On {when}, {who} wrote:\n" + "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def as_bytes(message: EmailMessage) -> bytes:
    """All of it, with CRLF; non-ASCII only where an address needs it."""
    return hidden_recipients(message) + to_send(message)


def to_send(message: EmailMessage) -> bytes:
    """The same without `Bcc`, which the recipients must not see."""
    hidden = message["Bcc"]
    del message["Bcc"]
    try:
        return message.as_bytes(policy=_policy(message))
    finally:
        if hidden is not None:
            message["Bcc"] = hidden


def hidden_recipients(message: EmailMessage) -> bytes:
    """The field `Bcc`, which may come before all others; encoding a large message once more takes seconds."""
    return b"" if message["Bcc"] is None else _policy(message).fold_binary("Bcc", message["Bcc"])


def _policy(message: EmailMessage) -> EmailPolicy[Any]:
    return SMTP if all(address.isascii() for address in recipients_of(message)) else SMTPUTF8


def recipients_of(message: EmailMessage) -> list[str]:
    """Every address in To, Cc and Bcc, once."""
    found: dict[str, str] = {}
    for name in ("To", "Cc", "Bcc"):
        if message[name] is not None:
            for each in message[name].addresses:
                found.setdefault(each.addr_spec.lower(), each.addr_spec)
    return list(found.values())


def unique(people: Iterable[Mailto]) -> list[Mailto]:
    """Each address once, in order."""
    found: dict[str, Mailto] = {}
    for each in people:
        found.setdefault(each.address.lower(), each)
    return list(found.values())


def _without(people: Iterable[Mailto], excluded: Iterable[str]) -> list[Mailto]:
    hidden = {address.lower() for address in excluded}
    return [each for each in unique(people) if each.address.lower() not in hidden]


def _same(one: str, other: str) -> bool:
    return one.lower() == other.lower()


def _checked(name: str, address: str, field_name: str) -> Mailto:
    local, at, domain = address.strip().rpartition("@")
    ascii_domain = _ascii_domain(domain)
    made = Mailto(_encodable(name).strip(), f"{local}@{ascii_domain}")
    valid = at and local and ascii_domain and not re.search(r"[\s<>,;\x00-\x1f]", local)
    if valid and not local.startswith("."):
        try:
            _address(made)
        except ToolFailure:
            pass
        else:
            return made
    raise _invalid(address or name, field_name)


def _invalid(text: str, field_name: str) -> ToolFailure:
    return ToolFailure(
        f"{text[:100]!r} in `{field_name}` is not an email address.",
        "Write it like ann@example.org or Ann Lee <ann@example.org>.",
    )


def _ascii_domain(domain: str) -> str:
    """Empty if it cannot be a domain, or if encoding makes another one of it, as `fass.de` of `faß.de`."""
    try:
        name = domain if domain.isascii() else domain.encode("idna").decode("ascii")
        if not domain.isascii() and name.encode().decode("idna") != domain.lower():
            return ""
    except UnicodeError:
        return ""
    return name if re.fullmatch(r"[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f.:IPv]+\]", name) else ""


def _address(each: Mailto) -> Address:
    try:
        return Address(display_name=_WHITESPACE.sub(" ", each.name), addr_spec=each.address)
    except (ValueError, IndexError, MessageError) as error:
        raise ToolFailure(f"{each.address[:100]!r} is not an email address.") from error


def _addresses(field_name: str, people: Sequence[Mailto]) -> list[Address]:
    """With names only if the header, once encoded, still has these recipients and no others.

    A name that looks like an encoded word, or a long one with punctuation, can become further addresses.
    """
    named = [_address(each) for each in people]
    header = SMTPUTF8.header_factory(field_name, named)
    wanted = [each.address for each in people]
    if all(_recipients_in(policy.fold_binary(field_name, header)) == wanted for policy in (SMTP, SMTPUTF8)):
        return named
    return [_address(Mailto("", address)) for address in wanted]


def _recipients_in(field_line: bytes) -> list[str]:
    value = field_line.decode("utf-8", "replace").partition(":")[2]
    return [address for _, address in getaddresses([" ".join(value.split())])]


def _shortened(references: Sequence[str]) -> list[str]:
    known = list(dict.fromkeys(references))
    return known if len(known) <= MAX_REFERENCES else [known[0], *known[1 - MAX_REFERENCES :]]


def _attach(message: EmailMessage, file: AttachedFile) -> None:
    guessed, encoding = mimetypes.guess_type(file.name)
    kind = guessed if guessed and not encoding else "application/octet-stream"
    if kind.startswith(("message/", "multipart/")):  # their content would be parsed and changed
        kind = "application/octet-stream"
    main, _, sub = kind.partition("/")
    name = _WHITESPACE.sub(" ", _encodable(file.name))
    message.add_attachment(file.data, maintype=main, subtype=sub, filename=name)


def _encodable(text: str) -> str:
    """Lone surrogates, which models can write in JSON, cannot be sent."""
    return text.encode("utf-8", "replace").decode("utf-8")
