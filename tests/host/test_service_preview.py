"""An approval question shows a mail, an event or a message as the server describes it, and nothing else."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from toolcrib.approvals.question import preview_text
from toolcrib.host.chat_questions import QuestionWords
from toolcrib.host.service_preview import (
    LARGEST_PICTURE,
    LONGEST_TEXT,
    MOST_NAMES,
    read_preview,
    read_scope,
)

MAIL = {
    "kind": "email",
    "action": "send",
    "from": "me@example.org",
    "to": ["anna@example.org", "ben@example.org"],
    "bcc": "boss@example.org",
    "subject": "Lunch",
    "text": "At noon?\nYours\u200b",
    "attachments": [{"name": "menu.pdf", "size": 12}, "odd"],
    "secret": "not a field",
}


def test_known_fields_are_kept_and_others_dropped() -> None:
    shown = read_preview(MAIL)

    assert shown is not None
    assert shown["sender"] == "me@example.org"
    assert shown["bcc"] == ["boss@example.org"]
    assert shown["attachments"] == [{"name": "menu.pdf", "size": 12}, {"name": "", "size": 0}]
    assert "secret" not in shown
    assert "from" not in shown


def test_what_does_not_fit_is_counted() -> None:
    many = [f"user{number}@example.org" for number in range(MOST_NAMES + 2)]

    shown = read_preview({"kind": "email", "to": many, "text": "x" * LONGEST_TEXT + "hidden"}) or {}

    assert shown["to"][-2:] == [many[MOST_NAMES - 1], "… and 2 more"]
    assert shown["text"].endswith("x… (6 more characters)")


@pytest.mark.parametrize("raw", [None, "text", {}, {"kind": "command", "command": "rm"}, []])
def test_what_is_not_a_preview_is_not_shown(raw: Any) -> None:
    assert read_preview(raw) is None


def test_the_text_names_every_recipient_and_reveals_hidden_characters() -> None:
    text = preview_text(read_preview(MAIL) or {})

    assert text.splitlines()[:4] == [
        "From: me@example.org",
        "To: anna@example.org, ben@example.org",
        "Bcc: boss@example.org",
        "Subject: Lunch",
    ]
    assert "\u200b" not in text
    assert text.splitlines()[-1].startswith("Yours")


@pytest.mark.parametrize(
    ("preview", "title"),
    [
        (MAIL, "Send this email?"),
        ({"kind": "email", "action": "trash"}, "Move this email to the trash?"),
        (
            {"kind": "event", "action": "create", "attendees": ["a@x", "b@x"], "notify": True},
            "Create this event and notify 2 people?",
        ),
        ({"kind": "event", "action": "delete", "attendees": ["a@x"], "notify": False}, "Delete this event?"),
        ({"kind": "message", "action": "send"}, "Send this message?"),
        ({"kind": "message", "action": "odd"}, "Let mail run send_email?"),
    ],
)
async def test_the_title_says_what_would_happen(preview: dict[str, Any], title: str) -> None:
    words = QuestionWords(lambda name: None, lambda tool: False)

    shown = await words.described(
        {"tool": "send_email", "server": "mail", "arguments": {}, "preview": read_preview(preview)}
    )

    assert shown["title"] == title
    assert shown["exhibit"]["kind"] == preview["kind"]


JPEG = base64.b64encode(b"\xff\xd8\xff rest").decode()
SCREEN = {
    "kind": "screen",
    "action": "type",
    "title": "Letter",
    "application": "Mousepad",
    "element": "text “Body”",
    "text": "Dear Ada",
    "picture": JPEG,
    "width": 400,
    "height": 300,
    "target": {"x": 1, "y": 2, "width": 3, "height": 4, "colour": "red"},
}


def test_a_screenshot_is_kept_with_its_target() -> None:
    shown = read_preview(SCREEN) or {}

    assert (shown["picture"], shown["width"], shown["height"]) == (JPEG, 400, 300)
    assert shown["target"] == {"x": 1, "y": 2, "width": 3, "height": 4}
    assert preview_text(shown).splitlines() == [
        "Window: Letter",
        "Application: Mousepad",
        "Element: text “Body”",
        "",
        "Dear Ada",
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {"picture": "not base64!"},
        {"picture": base64.b64encode(b"<svg onload=x>").decode()},
        {"picture": JPEG + "A" * (LARGEST_PICTURE * 2)},
        {"width": "400"},
        {"height": 10**6},
    ],
)
def test_anything_but_a_small_jpeg_is_left_out(changed: dict[str, Any]) -> None:
    shown = read_preview({**SCREEN, **changed}) or {}

    assert "picture" not in shown
    assert shown["text"] == "Dear Ada"


def test_a_scope_needs_a_key_and_a_label() -> None:
    assert read_scope({"key": "", "label": "Control it", "reason": "x" * 1000}) is not None
    assert read_scope({"key": 1, "label": "Control it"}) is None
    assert read_scope({"key": "a", "label": ""}) is None
    assert read_scope("Control it") is None
