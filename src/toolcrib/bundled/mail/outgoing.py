"""The bytes of a message: built from checked text, then read again before anything is sent. Decides how
headers, names and file names are encoded, line length, that Bcc is not sent along, and the error "The message
was not sent".

No text of a message, a tool argument or a file name is handed to a header parser while the message is built:
the `email` package would decode encoded words in it (`=?utf-8?q?…?=`), which may contain line breaks. What
is not plain ASCII is encoded here.
"""

from __future__ import annotations

import base64
import re
import secrets
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from email import message_from_string
from email.header import decode_header, make_header
from email.message import EmailMessage, Message, MIMEPart
from email.policy import SMTP, compat32, default
from email.quoprimime import header_encode
from email.utils import getaddresses
from urllib.parse import quote

from toolcrib.bundled.mail.headers import Mailto
from toolcrib.serverkit.context import ToolFailure

LINE = 76
"""Characters of a line that RFC 5322 recommends."""
LONGEST_WORD = 900
"""Characters without a blank: a line must not have more than 998."""
_PLAIN = re.compile(r"[ -~]*")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9 .,'&_()/+-]*")
_PLAIN_FILE = re.compile(r"[A-Za-z0-9 ._()+-]{1,60}")
_MESSAGE_ID = re.compile(rf"<[!-;=?-~]{{1,{LONGEST_WORD}}}>")
_HEAD_LINE = re.compile(rb"(?:[A-Za-z-]+:)? [^\x00-\x1f\x7f]*")
_Fields = Sequence[tuple[str, str]]
_People = Sequence[tuple[str, Sequence[Mailto]]]
_PEOPLE = ("To", "Cc", "Bcc")


class NotAsAsked(ToolFailure):
    """The finished message does not say what was asked for, so it is not sent."""

    kind = "message_changed"


@dataclass(frozen=True)
class Attached:
    name: str
    media_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Outgoing:
    """A message that is ready to be sent or stored."""

    head: bytes = field(repr=False)
    """The header fields without `Bcc`."""
    hidden: bytes = field(repr=False)
    """The field `Bcc`; empty if there is none."""
    body: bytes = field(repr=False)
    """What follows the empty line."""
    recipients: tuple[str, ...]
    """Every address in To, Cc and Bcc, once."""
    message_id: str

    @property
    def to_send(self) -> bytes:
        """Without `Bcc`, which the recipients must not see."""
        return b"".join((self.head, b"\r\n", self.body))

    @property
    def to_store(self) -> bytes:
        return b"".join((self.hidden, self.head, b"\r\n", self.body))


def is_message_id(text: str) -> bool:
    """Whether it can be written into a header: it cannot be encoded there."""
    return _MESSAGE_ID.fullmatch(text) is not None and "=?" not in text


def build(fields: _Fields, people: _People, text: str, files: Sequence[Attached]) -> Outgoing:
    """A message with these header fields; raises `NotAsAsked` if it reads differently.

    Values are text to be encoded, except those of `Message-ID`, `In-Reply-To` and `References`.
    """
    addressed = [(name, listed) for name, listed in people if listed]
    content, body, parts = _content(text, files)
    lines = {name: _field(name, _addresses(listed)) for name, listed in addressed}
    written = [lines[name] for name in lines if name != "Bcc"]
    written += [_field(name, _value(name, value)) for name, value in fields]
    found: dict[str, str] = {}
    for name, listed in addressed:
        for person in listed if name in _PEOPLE else ():
            found.setdefault(person.address.lower(), person.address)
    made = Outgoing(
        head=b"".join((*written, b"MIME-Version: 1.0\r\n", content)),
        hidden=lines.get("Bcc", b""),
        body=body,
        recipients=tuple(found.values()),
        message_id=dict(fields).get("Message-ID", ""),
    )
    _check(made, fields, addressed, content)
    for part, file in zip(parts, files, strict=True):
        _check_file(part, file)
    return made


def encoded_text(text: str) -> str:
    """Unstructured text for a header, folded; it reads back literally."""
    lines = textwrap.wrap(text, LINE - 10, break_long_words=False, break_on_hyphens=False)
    if _PLAIN.fullmatch(text) and "=?" not in text and all(len(line) <= LONGEST_WORD for line in lines):
        return "\r\n ".join(lines)
    return _encoded_words(text)


def _encoded_words(text: str) -> str:
    """RFC 2047, in words of at most 75 characters that begin and end with whole characters."""
    pieces, size = [""], 0
    for character in text:
        size += len(character.encode())
        if size > 45:
            pieces.append("")
            size = len(character.encode())
        pieces[-1] += character
    return "\r\n ".join(_encoded_word(piece.encode()) for piece in pieces)


def _encoded_word(data: bytes) -> str:
    """In the form that keeps ASCII readable, unless the other one is clearly shorter."""
    readable = header_encode(data, "utf-8")
    as_base64 = f"=?utf-8?b?{base64.b64encode(data).decode('ascii')}?="
    return readable if len(readable) < len(as_base64) + 5 and len(readable) <= 75 else as_base64


def _addresses(people: Sequence[Mailto]) -> str:
    return ",\r\n ".join(map(_mailbox, people))


def _mailbox(person: Mailto) -> str:
    if not person.name:
        return person.address
    plain = _PLAIN_NAME.fullmatch(person.name) and len(person.name) <= LINE
    name = f'"{person.name}"' if plain else _encoded_words(person.name)
    return f"{name} <{person.address}>"


def _value(name: str, value: str) -> str:
    if name in ("Message-ID", "In-Reply-To", "References"):
        return "\r\n ".join(value.split())
    return encoded_text(value)


def _field(name: str, value: str) -> bytes:
    return f"{name}: {value}\r\n".encode()


def _content(text: str, files: Sequence[Attached]) -> tuple[bytes, bytes, list[bytes]]:
    """The header fields about the content, the content, and the head of each attachment."""
    part = MIMEPart(policy=SMTP)
    part.set_content(text)
    head, _, body = part.as_bytes().partition(b"\r\n\r\n")
    head += b"\r\n"
    if not files:
        return head, body, []
    mark = f"=_{secrets.token_hex(24)}"
    between = f"--{mark}\r\n".encode()
    heads = [_file_head(file) for file in files]
    pieces = [between, head, b"\r\n", body]
    for start, file in zip(heads, files, strict=True):
        lines = base64.encodebytes(file.data).replace(b"\n", b"\r\n")
        pieces += [b"\r\n", between, start, b"\r\n", lines]
    pieces.append(f"\r\n--{mark}--\r\n".encode())
    return f'Content-Type: multipart/mixed; boundary="{mark}"\r\n'.encode(), b"".join(pieces), heads


def _file_head(file: Attached) -> bytes:
    return (
        f"Content-Type: {file.media_type}\r\n"
        "Content-Transfer-Encoding: base64\r\n"
        f"Content-Disposition: attachment;\r\n {_file_name(file.name)}\r\n"
    ).encode("ascii")


def _file_name(name: str) -> str:
    """The parameter `filename`, as RFC 2231 encodes and continues it."""
    if _PLAIN_FILE.fullmatch(name):
        return f'filename="{name}"'
    pieces = [""]
    for character in name:
        encoded = quote(character, safe="")
        if len(pieces[-1]) + len(encoded) > LINE - 26:
            pieces.append("")
        pieces[-1] += encoded
    if len(pieces) == 1:
        return f"filename*=utf-8''{pieces[0]}"
    start = [f"filename*0*=utf-8''{pieces[0]}"]
    return ";\r\n ".join(start + [f"filename*{n}*={piece}" for n, piece in enumerate(pieces[1:], 1)])


def _check(made: Outgoing, fields: _Fields, people: _People, content: bytes) -> None:
    """Read the finished head again, as others will, and compare it with what was asked."""
    data = made.hidden + made.head
    asked = [*(name for name, _ in people), *(name for name, _ in fields), "MIME-Version"]
    names = sorted([*asked, *(line.partition(":")[0] for line in content.decode("ascii").splitlines())])
    if not _is_head(data) or sorted(_names(data)) != names:
        raise _differs("its header fields are others")
    for message in _readings(data):
        if sorted(message.keys()) != names:
            raise _differs("its header fields are others")
        for name, listed in people:
            if _recipients(message, name) != [person.address for person in listed]:
                raise _differs(f"`{name}` has other addresses")
        for name, value in fields:
            if _squeezed(_text(message, name)) != _squeezed(value):
                raise _differs(f"`{name}` is another text")


def _check_file(head: bytes, file: Attached) -> None:
    if not _is_head(head):
        raise _differs("the name of an attachment is not readable")
    for message in _readings(head):
        name = message.get_filename()
        if name != file.name or message.get_content_type() != file.media_type or len(message.keys()) != 3:
            raise _differs(f"the attachment {file.name!r} would have another name or type")


def _is_head(data: bytes) -> bool:
    """Whether every line begins a field or continues one, and only the end is empty."""
    *lines, end = data.split(b"\r\n")
    return not end and all(map(_HEAD_LINE.fullmatch, lines))


def _names(data: bytes) -> list[str]:
    return [line.partition(b":")[0].decode("ascii") for line in data.splitlines() if line[:1] != b" "]


def _readings(data: bytes) -> Iterator[Message]:
    """As older and newer programs read it."""
    for policy in (compat32, default):
        yield message_from_string(data.decode("utf-8") + "\r\n", policy=policy)


def _recipients(message: Message, name: str) -> list[str]:
    if isinstance(message, EmailMessage):
        return [address.addr_spec for address in message[name].addresses]
    return [address for _, address in getaddresses([" ".join(str(message[name]).split())])]


def _text(message: Message, name: str) -> str:
    value = str(message[name])
    return value if isinstance(message, EmailMessage) else str(make_header(decode_header(value)))


def _squeezed(text: str) -> str:
    """Without blanks: readers differ in those between encoded words."""
    return "".join(text.split())


def _differs(how: str) -> NotAsAsked:
    return NotAsAsked(
        f"The message was not sent: once encoded, {how}.",
        "Write the subject, names and file names in other words.",
    )
