"""Events and stored entries make the same turn; the recordings of both are those of today's host."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests.chats.recording import FOLDER, RecordedNames, as_text, base_turn, record, stored, turn_record
from tests.chats.scenarios import SCENARIOS
from toolcrib.chats.reducer import EventLog, apply
from toolcrib.chats.replay import replay

Json = dict[str, Any]
SHOWN = 500
"""Characters of a result in an event; the store has all that the model was shown."""
ENDED = [name for name in SCENARIOS if name != "waiting_for_an_answer"]


def read(name: str) -> Json:
    found: Json = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return found


def common(turn: Json) -> Json:
    """What both the events and the store know of a turn.

    Known only while it runs: thinking (of an interrupted answer the store has it too), that an answer broke
    off and was requested again, the progress of calls, the user's answers to questions, the error's hint,
    tools that the model searched for, notices of pictures that the model cannot see.
    Known only to the store: that an answer was continued, the text of the note that it was stopped, each step
    and the text of a compaction, the longer of two texts when both broke off, pictures of the question.
    Text of one message before and after a call is joined before the call while the turn runs.
    """
    left_out = ("time", "error")
    return {
        **{key: value for key, value in turn.items() if key not in left_out},
        "usage": turn["usage"] if turn["usage"] and turn["usage"]["requests"] else None,
        "items": [item for item, _ in groupby(map(common_item, filter(is_common, turn["items"])))],
    }


def is_common(item: Json) -> bool:
    return item["kind"] != "thinking" and item.get("note") not in ("again", "continued")


def common_item(item: Json) -> Json:
    if item["kind"] == "call":
        return {**item, "text": item["text"][:SHOWN], "progress": None, "answered": None}
    return {**item, "text": ""} if item.get("note") in ("stopped", "shortened") else item


@pytest.mark.parametrize("name", ENDED)
def test_stored_entries_make_the_turn_that_the_events_made(name: str) -> None:
    recording = read(name)

    [turn] = replay(stored(recording), RecordedNames(recording), recording["turn"]["of"])

    assert common(turn_record(turn)) == common(recording["turn"])


@pytest.mark.parametrize("name", SCENARIOS)
def test_compressed_events_make_the_same_turn(name: str) -> None:
    recording, log = read(name), EventLog()
    for event in recording["events"]:
        log.add(event)
    turn = base_turn(recording)
    for event in log.events():
        apply(turn, event)

    assert len(log.events()) <= len(recording["events"])
    assert turn_record(turn) == recording["turn"]


@pytest.mark.parametrize("name", SCENARIOS)
async def test_the_recording_is_up_to_date(name: str, tmp_path: Path) -> None:
    """If it is not, and should not be: `python -m tests.chats.recording`, and look at what changed."""
    recording = await record(name, tmp_path / "home")

    assert as_text(recording) == (FOLDER / f"{name}.json").read_text(encoding="utf-8")


def test_every_recording_has_its_scenario() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(SCENARIOS)
