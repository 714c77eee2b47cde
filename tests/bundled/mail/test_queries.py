"""Gmail's query syntax, parsed, and answered by an IMAP server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bundled.mail.conftest import Desk, letter
from toolcrib.bundled.mail.folders import Folder
from toolcrib.bundled.mail.imap_criteria import SearchScope, criteria, folders_to_search
from toolcrib.bundled.mail.query import All, AnyOf, Not, Term, parse_query, simplified
from toolcrib.errors import ToolcribError

SCOPE = SearchScope("ann@example.org", datetime(2026, 11, 16, tzinfo=UTC).date())


def test_a_query_becomes_a_tree() -> None:
    assert parse_query('is:unread from:"Bob Ray" OR from:carla -subject:(sale offer)') == All(
        (
            Term("is", "unread"),
            AnyOf((Term("from", "Bob Ray"), Term("from", "carla"))),
            Not(All((Term("subject", "sale"), Term("subject", "offer")))),
        )
    )
    assert parse_query("{from:a to:b}") == AnyOf((Term("from", "a"), Term("to", "b")))
    assert parse_query("re:invoice https://example.org") == All(
        (Term("", "re:invoice"), Term("", "https://example.org"))
    )
    assert parse_query("") == All(())


@given(st.text(alphabet='ab:"(){}- ORis:unreadhas:attachmentin:inbox', max_size=60))
def test_no_query_breaks_the_parser_or_the_command(text: str) -> None:
    tree = parse_query(text)
    for _, rest in folders_to_search(tree, [Folder("INBOX", "inbox"), Folder("Sent", "sent")]):
        try:
            words = criteria(rest, SCOPE)
        except ToolcribError:
            continue
        line = b" ".join(words)
        assert line.count(b"(") - line.count(b")") == line.count(b'"(') - line.count(b')"') or b'"' in line
        assert not any(each in line for each in (b"\r", b"\n", b"\0"))
    assert simplified(simplified(tree)) == simplified(tree)


def messages() -> list[tuple[str, str, bytes, tuple[bytes, ...], int]]:
    """Folder, flags and age in days of a small mailbox."""
    file = EmailMessage()
    file["From"], file["To"], file["Subject"] = "bob@example.com", "ann@example.org", "With file"
    file["Message-ID"] = "<file@example.com>"
    file.set_content("See the file")
    file.add_attachment(b"x" * 300_000, maintype="application", subtype="pdf", filename="Invoice March.pdf")
    return [
        ("INBOX", "Budget", letter("Budget", "The numbers (final) of März"), (), 1),
        ("INBOX", "Lunch", letter("Lunch", "Pizza?", From="Carla <carla@example.com>"), (b"\\Seen",), 10),
        ("INBOX", "Star", letter("Star", "x", Cc="dora@example.com"), (b"\\Flagged", b"\\Seen"), 40),
        ("INBOX", "Key", letter("Key", "x"), (b"$Important", b"Taxes"), 400),
        ("INBOX", "With file", file.as_bytes(), (), 2),
        ("Sent", "Mine", letter("Mine", "Pizza sent", From="ann@example.org", To="c@x.org"), (b"\\Seen",), 5),
        ("Trash", "Old", letter("Old", "Pizza gone"), (), 3),
        ("Junk", "Win", letter("Win", "Pizza prize"), (), 3),
        ("Work/Köln", "Dom", letter("Dom", "Turm"), (), 3),
        ("INBOX", "Newsletter", letter("Newsletter", "x", List_ID="<news.example.com>"), (), 6),
    ]  # fmt: skip


EVERYTHING = {"Budget", "Lunch", "Star", "Key", "With file", "Mine", "Dom", "Newsletter"}
QUERIES: dict[str, set[str]] = {
    "": EVERYTHING,
    "in:anywhere": EVERYTHING | {"Old", "Win"},
    "pizza": {"Lunch", "Mine"},
    "pizza in:anywhere": {"Lunch", "Mine", "Old", "Win"},
    "in:inbox pizza": {"Lunch"},
    "in:trash": {"Old"},
    "in:spam OR in:trash": {"Old", "Win"},
    "-in:inbox": {"Mine", "Dom"},
    "is:unread in:inbox": {"Budget", "Key", "With file", "Newsletter"},
    "is:read": {"Lunch", "Star", "Mine"},
    "is:starred": {"Star"},
    "is:important": {"Key"},
    "label:Taxes": {"Key"},
    "label:work-köln": {"Dom"},
    "label:inbox from:carla": {"Lunch"},
    "from:me": {"Mine"},
    "to:dora": {"Star"},
    "cc:dora@example.com": {"Star"},
    "from:carla OR from:me": {"Lunch", "Mine"},
    "{subject:lunch subject:star}": {"Lunch", "Star"},
    "subject:(with file)": {"With file"},
    'subject:"with file"': {"With file"},
    '"numbers (final)"': {"Budget"},
    '"März"': {"Budget"},
    "Köln OR Turm OR März": {"Budget", "Dom"},
    "has:attachment": {"With file"},
    "-has:attachment from:bob": {"Budget", "Star", "Key", "Dom", "Newsletter"},
    "filename:pdf": {"With file"},
    "filename:docx": set(),
    "has:attachment OR from:carla": {"With file", "Lunch"},
    "-(has:attachment OR is:starred) in:inbox is:unread": {"Budget", "Key", "Newsletter"},
    "larger:200K": {"With file"},
    "smaller:1K from:carla": {"Lunch"},
    "newer_than:7d": {"Budget", "With file", "Mine", "Dom", "Newsletter"},
    "older_than:1y": {"Key"},
    "older_than:1m -older_than:1y": {"Star"},
    "rfc822msgid:<file@example.com>": {"With file"},
    "list:news.example.com": {"Newsletter"},
    "-pizza -is:unread": {"Star"},
    "is:sent": {"Mine"},
}


async def test_an_imap_mailbox_answers_gmails_queries(desk: Desk) -> None:
    client = desk.imap()
    client.create_folder("Work/Köln")
    now = datetime.now(UTC)
    for folder, _, data, flags, age in messages():
        client.append(
            folder, data.replace(b"ann@example.org", desk.user.encode()), flags, now - timedelta(days=age)
        )

    answers = {query: await desk.subjects(query) for query in QUERIES}

    assert answers == QUERIES


async def test_days_are_those_of_the_query(desk: Desk) -> None:
    for day in (1, 2, 3):
        desk.put(letter(f"Day {day}"), when=datetime(2026, 3, day, 12, tzinfo=UTC))

    assert await desk.subjects("after:2026/03/02") == {"Day 2", "Day 3"}
    assert await desk.subjects("before:2026-03-02") == {"Day 1"}
    assert await desk.subjects("after:1772409600 before:2026/3/3") == {"Day 2"}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("category:promotions", "`category:promotions` cannot be searched for"),
        ("is:snoozed", "`is:snoozed` cannot be searched for"),
        ("has:drive", "`has:drive` cannot be searched for"),
        ("after:yesterday", "is not a date"),
        ("after:2026/13/45", "is not a date"),
        ("larger:huge", "is not a size"),
        ("older_than:long", "is not an age"),
        ("x" * 3000, "longer than 2000"),
        ("(" * 50, "nested too deeply"),
    ],
)
async def test_what_cannot_be_searched_is_said(desk: Desk, query: str, said: str) -> None:
    desk.put(letter())

    assert said in await desk.failure("search_emails", query=query)
