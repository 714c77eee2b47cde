"""What a turn told is kept folded, and a question knows its call."""

from __future__ import annotations

from typing import Any

from toolcrib.host.folding import Folded

CALL = {"event": "call", "id": "c1", "tool": "box__echo", "server": "box", "arguments": {"text": "a"}}


def asking(question: str, arguments: dict[str, Any]) -> dict[str, Any]:
    detail = {"tool": "box__echo", "arguments": arguments}
    return {"event": "asking", "id": question, "about": "call", "server": "box", "detail": detail}


def test_words_of_one_text_are_one_entry_and_progress_is_the_last_of_it() -> None:
    folded = Folded()
    for event in (
        {"event": "text", "text": "One "},
        {"event": "text", "text": "two."},
        {"event": "round", "round": 1},
        {"event": "text", "text": "Three."},
        {"event": "progress", "id": "c1", "progress": 1},
        {"event": "progress", "id": "c1", "progress": 2},
    ):
        folded.add(event)

    assert [one.get("text", one.get("progress")) for one in folded.events()] == [
        "One two.",
        None,
        "Three.",
        2,
    ]


def test_of_two_calls_that_are_alike_each_question_is_about_its_own() -> None:
    folded = Folded()
    folded.add(CALL)
    folded.add({**CALL, "id": "c2"})

    first = folded.add(asking("q1", {"text": "a"}))
    second = folded.add(asking("q2", {"text": "a"}))
    other = folded.add(asking("q3", {"text": "b"}))

    assert (first["call"], second["call"], other["call"]) == ("c1", "c2", None)


def test_a_question_is_open_until_it_is_answered_or_its_call_has_ended() -> None:
    folded = Folded()
    folded.add(CALL)
    folded.add({**CALL, "id": "c2"})
    folded.add(asking("q1", {"text": "a"}))
    folded.add(asking("q2", {"text": "a"}))
    folded.add({"event": "answered", "id": "q1"})
    folded.add({"event": "result", "id": "c2"})

    assert (folded.asks("q1"), folded.asks("q2"), folded.open_questions) == (False, False, 0)
