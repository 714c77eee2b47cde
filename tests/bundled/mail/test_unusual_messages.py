"""Damaged and unusual messages are shown as far as possible, and a remark says what is missing."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.bundled.mail.conftest import Desk, letter

HEAD = b"From: Bob <bob@example.com>\r\nSubject: a\r\nMIME-Version: 1.0\r\nContent-Type: "
DAMAGED = "The message is damaged: parts of it may be missing."
TWO_PARTS = (
    b"--B\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    b"R3LDvMOfZQ==\r\n--B\r\nContent-Type: application/pdf; name=a.pdf\r\n\r\n%PDF\r\n--B--\r\n"
)
INNER = b"From: Carla <carla@example.com>\r\nSubject: Inside\r\n\r\nInner text\r\n"
STATUS = (
    b"Reporting-MTA: dns; mx.example.org\r\n\r\nFinal-Recipient: rfc822; x@example.org\r\nAction: failed\r\n"
)
ALTERNATIVE = (
    b"multipart/alternative; boundary=B\r\n\r\n--B\r\nContent-Type: text/plain\r\n\r\n%b\r\n--B\r\n"
    b"Content-Type: text/html\r\n\r\n%b\r\n--B--\r\n"
)
SHAPES: dict[str, tuple[bytes, list[str], list[str]]] = {
    "multipart without a boundary": (b"multipart/mixed\r\n\r\n" + TWO_PARTS, ["Grüße"], [DAMAGED]),
    "wrong boundary": (b"multipart/mixed; boundary=WRONG\r\n\r\n" + TWO_PARTS, ["Grüße"], [DAMAGED]),
    "encoded boundary in pieces": (
        b"multipart/mixed; boundary*0*=''A%20;\r\n boundary*1=B\r\n\r\n"
        + TWO_PARTS.replace(b"--B", b"--A B"),
        ["Grüße"],
        [DAMAGED],
    ),
    "multipart that is only text": (b"multipart/alternative;\r\n\r\nBlah blah\r\n", ["Blah blah"], [DAMAGED]),
    "wrong boundary inside": (
        b"multipart/mixed; boundary=O\r\n\r\n--O\r\n\r\nOuter\r\n--O\r\nContent-Type: multipart/mixed;"
        b" boundary=WRONG\r\n\r\n" + TWO_PARTS + b"\r\n--O--\r\n",
        ["Outer", "Grüße"],
        [DAMAGED],
    ),
    "no empty line after the header": (b"text/plain\r\nhere is\r\nmore\r\n", ["here is", "more"], [DAMAGED]),
    "content type without a name": (b"/\r\n\r\nStill text\r\n", ["Still text"], []),
    "content type of one word": (b"nonsense\r\n\r\nStill text\r\n", ["Still text"], []),
    "only a message": (b"message/rfc822\r\n\r\n" + INNER, ["From: Carla", "Inside", "Inner text"], []),
    "messages of a digest": (
        b"multipart/digest; boundary=D\r\n\r\n--D\r\n\r\n" + INNER + b"\r\n--D--\r\n",
        ["Subject: Inside", "Inner text"],
        [],
    ),
    "delivery report": (
        b"multipart/report; boundary=R\r\n\r\n--R\r\nContent-Type: message/delivery-status\r\n\r\n"
        + STATUS
        + b"\r\n--R\r\nContent-Type: text/rfc822-headers\r\n\r\nSubject: What I sent\r\n\r\n--R--\r\n",
        ["Final-Recipient: rfc822; x@example.org", "Action: failed", "Subject: What I sent"],
        [],
    ),
    "named text": (b"text/plain; name=body.txt\r\n\r\nNamed\r\n", ["Named"], []),
    "text of another kind": (b"text/enriched\r\n\r\nRich\r\n", ["Rich"], []),
    "plain text that points to the HTML": (
        b"multipart/alternative; boundary=B\r\n\r\n--B\r\n\r\nYour program does not support HTML.\r\n--B\r\n"
        b"Content-Type: text/html\r\n\r\n<p>Your code is 4711</p>\r\n--B--\r\n",
        ["Your code is 4711"],
        [],
    ),
    "Outlook's format": (
        b"application/ms-tnef; name=winmail.dat\r\n\r\n\x78\x9f\x3e\x22\r\n",
        [],
        [
            "winmail.dat is in Outlook's format (TNEF), which cannot be read here.",
            "The message has no text, only attachments.",
        ],
    ),
    "only a picture": (
        b"image/png; name=a.png\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n",
        [],
        ["The message has no text, only attachments."],
    ),
    "only markup": (
        b"text/html\r\n\r\n<img src=x>\r\n",
        [],
        ["No text was found in its content (text/html, 13 bytes)."],
    ),
    "plain text that points to a browser": (
        ALTERNATIVE % (b"Please open this message in your browser.", b"<p>Your code is 4711</p>"),
        ["Your code is 4711"],
        [],
    ),
    "long plain text that says nothing": (
        ALTERNATIVE % (b"This is plain text. " * 40, b"<p>Your invoice is due on 5 December.</p>" * 90),
        ["invoice"],
        [],
    ),
    "HTML without text": (
        ALTERNATIVE % (b"Is HTML read here?", b"<html><body></body></html>"),
        ["Is HTML read here?"],
        [],
    ),
    "HTML with other text than the plain text": (
        ALTERNATIVE % (b"The HTML report of the night is ready, 3 pages failed." * 3, b"<p>Unsubscribe</p>"),
        ["3 pages failed", "Unsubscribe"],
        [],
    ),
    "HTML around a file": (
        ALTERNATIVE
        % (
            b"Short",
            b"\r\n--B\r\nContent-Type: multipart/mixed; boundary=C\r\n\r\n--C\r\n"
            b"Content-Type: text/html\r\n\r\n<p>Before the file</p>\r\n--C\r\n"
            b"Content-Type: application/pdf; name=a.pdf\r\n\r\n%PDF\r\n--C\r\n"
            b"Content-Type: text/html\r\n\r\n<p>After the file</p>\r\n--C--\r\n",
        ),
        ["Before the file", "After the file"],
        [],
    ),
    "signed with its text inside": (
        b"application/pkcs7-mime; smime-type=signed-data; name=smime.p7m\r\n\r\n0\x80\r\n",
        ["inside an S/MIME signature"],
        [],
    ),
    "Japanese without a character set": (
        b"text/plain\r\n\r\n" + "こんにちは世界".encode("iso-2022-jp") + b"\r\n",
        ["こんにちは世界"],
        [],
    ),
    "Japanese labelled as UTF-8": (
        b"text/plain; charset=utf-8\r\n\r\n" + "こんにちは世界".encode("iso-2022-jp") + b"\r\n",
        ["こんにちは世界"],
        [],
    ),
    "HTML that names its character set": (
        b"text/html\r\n\r\n<meta charset=windows-1250>" + "Zażółć gęślą".encode("cp1250") + b"\r\n",
        ["Zażółć gęślą"],
        [],
    ),
    "invitation as a file of no type": (
        b"application/octet-stream; name=invite.ics\r\n\r\nBEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n"
        b"SUMMARY:Sync\r\nDTSTART:20261120T100000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
        ["Sync", "Fri 20 Nov 2026 10:00"],
        [],
    ),
    "empty": (b"text/plain\r\n\r\n", [], ["The message is empty."]),
    "several senders": (
        b"text/plain\r\nFrom: Eve <eve@example.com>\r\n\r\nHello\r\n",
        ["Hello"],
        ["The message names several senders: Bob <bob@example.com>, Eve <eve@example.com>."],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
async def test_a_message_never_looks_empty_without_a_remark(desk: Desk, name: str) -> None:
    data, texts, remarks = SHAPES[name]
    desk.put(HEAD + data)
    (found,) = await desk.find("")

    read = await desk.call("read_email", id=found["id"])

    assert [text for text in texts if text not in read["text"]] == []
    assert bool(read["text"]) == bool(texts)
    assert read["remarks"] == remarks
    assert "does not support HTML" not in read["text"]


async def test_an_attachment_of_a_damaged_message_is_saved(desk: Desk) -> None:
    desk.put(HEAD + SHAPES["wrong boundary"][0])
    (found,) = await desk.find("")

    read = await desk.call("read_email", id=found["id"], save_attachments=True)

    assert [each["name"] for each in read["attachments"]] == ["a.pdf"]
    assert (desk.files / "a.pdf").read_bytes().strip() == b"%PDF"


async def test_a_message_that_is_nested_without_end_is_read_with_a_remark(desk: Desk) -> None:
    level = b"Content-Type: multipart/mixed; boundary=%d\r\n\r\n--%d\r\n"
    desk.put(
        HEAD[: -len(b"Content-Type: ")] + b"".join(level % (n, n) for n in range(3000)) + b"\r\ndeep\r\n"
    )
    (found,) = await desk.find("")

    read = await desk.call("read_email", id=found["id"])

    assert read["remarks"] or read["text"]


async def test_a_sender_without_an_address_is_still_shown(desk: Desk) -> None:
    desk.put(letter("a", From="The mail system"))

    (found,) = await desk.find("")

    assert found["sender"] == "The mail system"


@pytest.mark.parametrize("raw", ["<grüße@x.org>".encode(), "<grüße@x.org>".encode("latin-1")])
async def test_a_message_id_of_any_bytes_does_not_fail_the_search(desk: Desk, raw: bytes) -> None:
    head = b"Message-ID: %b\r\nReferences: %b\r\n" % (raw, raw)
    desk.put(head + HEAD + b"text/plain\r\n\r\nHello\r\n")

    (found,) = await desk.find("")
    read = await desk.call("read_email", id=found["id"])

    assert read["text"] == "Hello"
    assert read["message_id"] == "<grüße@x.org>"


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


OUTLOOK = """BEGIN:VTIMEZONE
TZID:Custom Eastern
BEGIN:STANDARD
DTSTART:16010101T020000
TZOFFSETFROM:-0400
TZOFFSETTO:-0500
RRULE:FREQ=YEARLY;BYDAY=1SU;BYMONTH=11
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010101T020000
TZOFFSETFROM:-0500
TZOFFSETTO:-0400
RRULE:FREQ=YEARLY;BYDAY=2SU;BYMONTH=3
END:DAYLIGHT
END:VTIMEZONE
"""
TIMES = {
    "DTSTART:20261117T130000Z\nDTEND:20261117T143000Z": "Tue 17 Nov 2026 14:00 to 15:30 CET",
    "DTSTART;TZID=America/New_York:20260701T090000\nDURATION:PT1H": "Wed 1 Jul 2026 15:00 to 16:00 CEST",
    'DTSTART;TZID="Custom Eastern":20260701T090000': "Wed 1 Jul 2026 15:00 CEST",
    "DTSTART;TZID=Custom Eastern:20261201T230000\nDTEND;TZID=Custom Eastern:20261202T000000": (
        "Wed 2 Dec 2026 05:00 to 06:00 CET"
    ),
    "DTSTART;TZID=/example.org/Europe/London:20260105T090000": "Mon 5 Jan 2026 10:00 CET",
    "DTSTART;TZID=Nowhere:20260105T090000": "Mon 5 Jan 2026 09:00 in the unknown time zone Nowhere",
    "DTSTART;VALUE=DATE:20261223\nDTEND;VALUE=DATE:20261227": "Wed 23 Dec 2026 to Sat 26 Dec 2026, all day",
    "DTSTART:damaged": "damaged",
}


@pytest.mark.usefixtures("in_berlin")
@pytest.mark.parametrize("times", TIMES)
async def test_an_invitation_says_what_when_where_and_who(desk: Desk, times: str) -> None:
    calendar = f"""BEGIN:VCALENDAR
METHOD:REQUEST
{OUTLOOK}BEGIN:VEVENT
SUMMARY:Planung\\, Köln
{times}
LOCATION:Raum 5\\; Dom
ORGANIZER;CN="Ray, Bob":mailto:bob@example.com
ATTENDEE;PARTSTAT=ACCEPTED;CN=Carla:MAILTO:carla@ex
 ample.com
ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:ann@example.org
RRULE:FREQ=WEEKLY;COUNT=3
DESCRIPTION:Bring\\nfigures
BEGIN:VALARM
SUMMARY:not this
END:VALARM
END:VEVENT
END:VCALENDAR
"""
    desk.put(
        HEAD
        + b"text/calendar; charset=utf-8; method=REQUEST\r\n\r\n"
        + calendar.replace("\n", "\r\n").encode()
    )
    (found,) = await desk.find("")

    read = await desk.call("read_email", id=found["id"])

    assert read["text"].splitlines() == [
        "Invitation: Planung, Köln",
        f"When: {TIMES[times]}",
        "Repeats: weekly (COUNT=3)",
        "Where: Raum 5; Dom",
        "Organizer: Ray, Bob <bob@example.com>",
        "Attendees: Carla <carla@example.com> (accepted), ann@example.org",
        "Bring",
        "figures",
    ]
    assert [each["name"] for each in read["attachments"]] == ["invitation.ics"]
    assert read["remarks"] == []


@pytest.mark.parametrize(
    ("method", "word"), [("CANCEL", "Cancelled"), ("REPLY", "Answer to an invitation"), ("", "Event")]
)
async def test_an_invitation_beside_a_text_is_shown_once(desk: Desk, method: str, word: str) -> None:
    event = f"BEGIN:VCALENDAR\r\nMETHOD:{method}\r\nBEGIN:VEVENT\r\nSUMMARY:Tea\r\nEND:VEVENT\r\n"
    parts = f"--B\r\n\r\nPlease come\r\n--B\r\nContent-Type: text/calendar\r\n\r\n{event}"
    again = f"--O\r\nContent-Type: application/ics; name=i.ics\r\n\r\n{event}"
    inner = f"--O\r\nContent-Type: multipart/alternative; boundary=B\r\n\r\n{parts}--B--\r\n"
    desk.put(HEAD + f"multipart/mixed; boundary=O\r\n\r\n{inner}{again}--O--\r\n".encode())
    (found,) = await desk.find("")

    read = await desk.call("read_email", id=found["id"])

    assert read["text"] == f"Please come\n\n{word}: Tea"
