"""The events of a running turn are kept compressed, and each question knows its call."""

from __future__ import annotations

from typing import Any

from toolcrib.chats.reducer import EventLog

CALL = {
    "event": "call",
    "id": "c1",
    "tool": "box__echo",
    "server": "box",
    "name": "echo",
    "arguments": {"text": "a"},
}
RESULT = {**CALL, "event": "result", "outcome": "ok", "ms": 1.0, "text": "a", "images": 0, "rule": ""}
USAGE = {"input": 1, "output": 1, "cached": 0, "requests": 1, "written": 0}


def asking(question: str, arguments: dict[str, Any]) -> dict[str, Any]:
    detail = {"tool": "box__echo", "arguments": arguments}
    return {"event": "asking", "id": question, "about": "call", "server": "box", "text": "", "detail": detail}


def progress(done: float) -> dict[str, Any]:
    return {"event": "progress", "id": "c1", "progress": done, "total": None, "message": None}


def answered(question: str) -> dict[str, Any]:
    return {"event": "answered", "id": question, "action": "accept", "scope": "once", "message": ""}


def test_consecutive_text_is_one_event_and_a_call_keeps_its_latest_progress() -> None:
    log = EventLog()
    for event in (
        {"event": "text", "text": "One "},
        {"event": "text", "text": "two."},
        {"event": "round", "round": 1, "usage": USAGE, "text": "One two."},
        {"event": "text", "text": "Three."},
        CALL,
        progress(1),
        progress(2),
    ):
        log.add(dict(event))

    kept = [(event["event"], event.get("text", event.get("progress"))) for event in log.events()]
    assert kept == [
        ("text", "One two."),
        ("round", "One two."),
        ("text", "Three."),
        ("call", None),
        ("progress", 2),
    ]


def test_of_two_equal_calls_each_question_is_about_its_own() -> None:
    log = EventLog()
    log.add(dict(CALL))
    log.add({**CALL, "id": "c2"})

    first = log.add(asking("q1", {"text": "a"}))
    second = log.add(asking("q2", {"text": "a"}))
    other = log.add(asking("q3", {"text": "b"}))

    assert (first["call"], second["call"], other["call"]) == ("c1", "c2", None)


def test_a_question_about_a_server_belongs_to_a_call_of_it_that_runs() -> None:
    log = EventLog()
    log.add({**CALL, "event": "queued"})
    form = {"event": "asking", "about": "elicitation", "server": "box", "text": "Which?", "detail": {}}

    waiting = log.add({**form, "id": "q1"})
    log.add(dict(CALL))
    running = log.add({**form, "id": "q2"})

    assert (waiting["call"], running["call"]) == (None, "c1")


def test_a_question_is_open_until_it_is_answered_or_its_call_has_ended() -> None:
    log = EventLog()
    log.add(dict(CALL))
    log.add({**CALL, "id": "c2"})
    log.add(asking("q1", {"text": "a"}))
    log.add(asking("q2", {"text": "a"}))
    log.add(answered("q1"))
    log.add({**RESULT, "id": "c2"})

    assert (log.has_question("q1"), log.has_question("q2"), log.turn.open_questions) == (False, False, [])
