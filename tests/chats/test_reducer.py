"""The effects of events that no recording has."""

from __future__ import annotations

from typing import Any

from tests.chats.recording import turn_record
from toolcrib.chats.reducer import apply
from toolcrib.chats.turn import Turn

USAGE = {"input": 1, "output": 1, "cached": 0, "requests": 1, "written": 0}


def turn_of(*events: dict[str, Any]) -> dict[str, Any]:
    turn = Turn()
    for event in events:
        apply(turn, event)
    return turn_record(turn)


def test_an_unknown_event_changes_nothing() -> None:
    sampled = {"event": "sampled", "server": "box", "usage": USAGE}

    assert turn_of(sampled, {"event": "of_tomorrow"}) == turn_of()


def test_a_round_has_its_whole_text_also_when_some_of_it_was_missed() -> None:
    turn = turn_of(
        {"event": "text", "text": "two."}, {"event": "round", "round": 1, "usage": USAGE, "text": "One two."}
    )

    assert turn["items"] == [{"kind": "text", "text": "One two."}]


def test_a_blank_text_is_left_out_once_its_round_is_over() -> None:
    turn = turn_of(
        {"event": "text", "text": "\n"}, {"event": "round", "round": 1, "usage": USAGE, "text": "\n"}
    )

    assert turn["items"] == []


def test_a_busy_model_is_shown_until_the_next_event() -> None:
    waiting = {"event": "busy", "reason": "429", "seconds": 2}

    assert turn_of(waiting)["busy"] == "429"
    assert turn_of(waiting, {"event": "text", "text": "Hi"})["busy"] is None
