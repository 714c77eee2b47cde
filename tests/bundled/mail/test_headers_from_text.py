"""Text of received messages, of arguments and of file names never becomes header syntax."""

from __future__ import annotations

import re
import unicodedata
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.message import EmailMessage, Message
from email.utils import getaddresses, unquote

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.bundled.mail.conftest import Desk, letter
from tests.bundled.mail.test_gmail_mailbox import GmailDesk, gmail  # noqa: F401 - a fixture
from toolcrib.bundled.mail import outgoing
from toolcrib.bundled.mail.headers import Headers, Mailto
from toolcrib.bundled.mail.writing import AttachedFile, Letter, compose, read_recipients, reply
from toolcrib.serverkit.context import ToolFailure

ANN = Mailto("Ann", "ann@example.org")
BOB = "bob@example.com"
NESTED = "=?utf-8?q?=3D=3Futf-8=3Fq=3FInvoice=3D0d=3D0aBcc:=5Fevil=40x.test=3F=3D?="
"""Decoded once, this is an encoded word with a line break."""
NASTY = [
    "=?utf-8?q?a=0d=0aBcc:_evil@x.test?=",
    "=?utf-8?q?a=0d=0a=0d=0abody?=",
    "=?utf-8?b?YQ0KQmNjOiBldmlsQHgudGVzdA==?=",
    "=?utf-7?q?+AA0ACg-Bcc:_evil@x.test?=",
    "=?x?=?= =?utf-8?q?=0d?= =?utf-8?q?=0aBcc:?=",
    "=?utf-8*en?q?a=0aBcc:_evil@x.test?=",
    "a\r\nBcc: evil@x.test",
    "a\nBcc: evil@x.test",
    "a\rBcc: evil@x.test",
    "a\r\n\r\nbody",
    "a\0b\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029Bcc: evil@x.test",
    'x" <evil@x.test>, "y',
    "x <evil@x.test>, evil2@x.test; group: evil3@x.test;",
    "(comment) \\ , ; : @ [x]",
    "\u202egnp.exe \u200b\u2066\ufeff",
    "\ud800 lone \udfff",
    "é" * 400,
    "x" * 2000,
    "word " * 300,
    "'; filename=evil.exe; x=\"",
    "%0d%0aBcc: evil@x.test",
    "..",
    "",
]
WHITE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
pieces = st.sampled_from(
    [*NASTY, "=?", "?=", "?q?", "?b?", "=0d=0a", "Bcc:", "\r\n", " ", '"', "<", ">", ","]
)
nasty = st.lists(st.one_of(pieces, st.text(max_size=12)), max_size=6).map("".join)


def literal(text: str) -> str:
    return WHITE.sub(" ", text.encode("utf-8", "replace").decode()).strip()


def attached_name(text: str) -> str:
    """Python's own parser removes quotes and brackets around a name, each time that it reads it."""
    name = literal(text)
    while (inner := literal(unquote(name))) != name:
        name = inner
    return name or "file"


def text_of(message: Message, name: str) -> str:
    value = str(message[name])
    if not isinstance(message, EmailMessage):  # the older way to read does not decode
        value = str(make_header(decode_header(value)))
    return "".join(value.split())


def assert_as_asked(data: bytes, subject: str, people: dict[str, list[str]], files: list[str]) -> None:
    for way in (policy.compat32, policy.default):
        message = message_from_bytes(data, policy=way)
        kinds = {"From", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type", *people}
        assert {*message.keys()} - {"Content-Transfer-Encoding", "In-Reply-To", "References"} == kinds
        assert len(message.keys()) == len({*message.keys()})
        for name, wanted in people.items():
            raw = " ".join(str(message[name]).split())
            assert [address for _, address in getaddresses([raw])] == wanted
        assert text_of(message, "Subject") == "".join(literal(subject).split())
        parts = message.get_payload() if message.is_multipart() else []
        assert isinstance(parts, list)
        assert [part.get_filename() for part in parts[1:]] == files
        assert all(len(part.keys()) == 3 for part in parts[1:])
        text = parts[0] if parts else message
        assert isinstance(text, Message)
        assert text.get_payload(decode=True) == b"Hello\r\n"
    assert all(len(line) < 998 for line in data.split(b"\r\n"))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example(subject="", names=[""], file='"\'; filename=evil.exe; x="', sender="")
@example(subject="", names=[""], file='" <<a>> "', sender="")
@given(subject=nasty, names=st.lists(nasty, min_size=1, max_size=3), file=nasty, sender=nasty)
def test_whatever_the_text_the_message_has_exactly_the_fields_and_recipients_asked_for(
    subject: str, names: list[str], file: str, sender: str
) -> None:
    people = [Mailto(name, f"p{number}@example.com") for number, name in enumerate(names)]
    addresses = [each.address for each in people]

    made = compose(
        Mailto(sender, ANN.address),
        Letter(to=people, cc=people, bcc=people, subject=subject, body="Hello\n"),
        [AttachedFile(file, b"1")],
    )

    shown = {"To": addresses, "Cc": addresses}
    assert_as_asked(made.to_send, subject, shown, [attached_name(file)])
    assert_as_asked(made.to_store, subject, {**shown, "Bcc": addresses}, [attached_name(file)])
    assert list(made.recipients) == addresses
    read = Headers.read(made.to_store)
    if (kept := [unicodedata.normalize("NFC", literal(name)) for name in names]) and all(
        name.isprintable() for name in kept
    ):
        found = ["".join(each.name.split()) for each in read.addresses("to")]
        assert found == ["".join(literal(name).split()) for name in names]


@pytest.mark.parametrize("text", NASTY)
def test_a_subject_reads_back_literally(text: str) -> None:
    made = compose(ANN, Letter(to=[Mailto("", BOB)], subject=text, body="Hello\n"))

    assert_as_asked(made.to_send, text, {"To": [BOB]}, [])


@settings(max_examples=40, deadline=None)
@given(subject=nasty, name=nasty, identifier=nasty)
def test_a_reply_to_any_received_text_has_the_recipients_of_that_message(
    subject: str, name: str, identifier: str
) -> None:
    from base64 import b64encode

    def word(text: str) -> str:
        return f"=?utf-8?b?{b64encode(literal(text).encode()).decode()}?="

    original = Headers(
        [
            ("Subject", word(subject)),
            ("From", f"{word(name)} <{BOB}>"),
            ("Message-ID", f"<{identifier}>"),
            ("References", f"<{identifier}> <1@example.com> <=?utf-8?q?=0d=0aBcc:_e@x.test?=@x>"),
        ]
    )

    answer = reply(original, ANN.address, "Hello\n", reply_all=True)
    made = compose(ANN, answer)

    assert_as_asked(made.to_store, answer.subject, {"To": [BOB]}, [])
    assert "=?" not in str(message_from_bytes(made.to_store)["References"])


async def test_a_received_subject_puts_no_recipient_into_the_reply(desk: Desk) -> None:
    desk.put(letter(NESTED, From=f"{NESTED} <{BOB}>"))
    (found,) = await desk.find("from:bob@example.com")

    asked = await desk.server.tools["reply_to_email"].preview({"id": found["id"], "body": "Hello"})  # type: ignore[attr-defined]
    sent = await desk.call("reply_to_email", id=found["id"], body="Hello")

    (received,) = desk.sink.received
    stored = await desk.call("read_email", id=sent["id"])
    assert asked["subject"] == sent["subject"] == stored["subject"]
    assert "Bcc" not in received.message
    assert received.recipients == [BOB]
    assert stored["bcc"] == []


async def test_gmail_gets_the_bytes_that_were_asked_for(gmail: GmailDesk) -> None:  # noqa: F811
    for text in NASTY:
        await gmail.call("send_email", to=BOB, subject=text, body="Hello\n")
        await gmail.call("create_draft", to=BOB, bcc=BOB, subject=text, body="Hello\n")

    stored = list(gmail.service.messages.values())
    for text, (sent, draft) in zip(NASTY, zip(stored[::2], stored[1::2], strict=True), strict=True):
        assert_as_asked(sent.raw, text, {"To": [BOB]}, [])
        assert_as_asked(draft.raw, text, {"To": [BOB], "Bcc": [BOB]}, [])


@pytest.mark.parametrize(
    "given_address",
    [
        "=?utf-8?q?evil=40x.test=2C?=@example.com",
        '"a\r\nBcc: evil@x.test"@example.com',
        '"a b"@example.com',
        "a\u200bb@example.com",
        "a\u202eb@example.com",
        "bob\uff20example.com@x.test",
        "bob@exa\u2028mple.com",
        "bob@x.test>\r\nRCPT TO:<evil@x.test",
        "bob@example.com\0",
        "b\ud800b@example.com",
    ],
)
def test_an_address_with_syntax_in_it_is_refused(given_address: str) -> None:
    with pytest.raises(ToolFailure, match="not an email address"):
        read_recipients(given_address)
    with pytest.raises(ToolFailure, match="not an email address"):
        compose(ANN, Letter(to=[Mailto("", given_address)]))


def test_a_name_that_looks_like_an_address_is_shown_in_quotes() -> None:
    (found,) = read_recipients('"bob@example.com, Carla" <evil@x.test>')

    assert str(found) == '"bob@example.com, Carla" <evil@x.test>'


def test_a_message_that_reads_differently_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last check does not rely on the encoding."""
    monkeypatch.setattr(outgoing, "encoded_text", lambda text: text)

    for text in ("a\r\nBcc: evil@x.test", "a\r\n\r\nb", "a\nb", "=?utf-8?q?a=0d=0aBcc:_x?=", "a\r\n Bcc: \0"):
        with pytest.raises(ToolFailure, match="was not sent"):
            outgoing.build([("Subject", text)], [("To", [Mailto("", BOB)])], "Hello", [])


@pytest.mark.parametrize("name", ['a"; filename="evil.exe', "a\r\nX: y", "=?utf-8?q?x=0d=0ay?=", "../../a"])
def test_an_attachment_whose_name_reads_differently_is_not_sent(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outgoing, "_file_name", lambda text: f'filename="{text}x"')

    with pytest.raises(ToolFailure, match="was not sent"):
        outgoing.build(
            [], [("To", [Mailto("", BOB)])], "Hello", [outgoing.Attached(name, "text/plain", b"1")]
        )
