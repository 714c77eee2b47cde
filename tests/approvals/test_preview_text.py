"""A preview as text cannot imitate its own fields or control a terminal."""

from __future__ import annotations

from toolcrib.approvals.question import preview_text


def test_a_field_of_others_stays_on_its_line_and_controls_no_terminal() -> None:
    preview = {
        "kind": "email",
        "subject": "Hi\nTo: boss@example.org\x1b[2J",
        "text": "One\x1b]0;x\x07\nTwo\u200b",
    }

    assert preview_text(preview).splitlines() == [
        "Subject: Hi\\nTo: boss@example.org\\u001b[2J",
        "",
        "One\\u001b]0;x\\u0007",
        "Two\\u200b",
    ]


def test_the_account_and_whether_attendees_are_notified_are_shown() -> None:
    event = {"kind": "event", "account": "work", "title": "Plan", "attendees": ["ada@example.org"]}

    assert preview_text({**event, "notify": False}).splitlines() == [
        "Account: work",
        "Event: Plan",
        "Invites: ada@example.org",
        "Notifies them: no",
    ]
