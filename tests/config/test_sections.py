"""Sections are read from JSON: what fits is taken, what does not is named by its place, not by its value."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from toolcrib.config.sections import (
    InvalidValue,
    Section,
    address,
    choice,
    flag,
    flag_or_text,
    full_text,
    named_choices,
    named_parts,
    named_texts,
    number,
    part,
    text,
    texts,
    whole,
)


class Lamp(Section):
    """What stands inside a room."""

    watts: float = number(above=0, most=100)
    colour: Literal["white", "red"] = choice("white", "red")


class Room(Section):
    """One field of every kind."""

    full_name: str = full_text()
    note: str | None = text(None)
    code: str = text("A1", pattern=r"[A-Z]\d", expected="a letter and a digit")
    site: str = address("")
    feed: str = address("http://127.0.0.1")
    open_now: bool = flag(True)
    verify: bool | str = flag_or_text(True)
    floor: int = whole(0, least=-3, most=99)
    seats: int | None = whole(None, least=1)
    heat: float = number(20.0, least=5, most=30)
    tags: tuple[str, ...] = texts()
    labels: dict[str, str] = named_texts()
    moods: dict[str, str] = named_choices("calm", "loud")
    lamp: Lamp = part(Lamp)
    lamps: dict[str, Lamp] = named_parts(Lamp)


def test_what_is_given_is_read_and_the_rest_is_the_default() -> None:
    room = Room.read(
        {
            "fullName": "Crib",
            "openNow": False,
            "verify": "/ca.pem",
            "floor": 2,
            "heat": 21,
            "tags": ["a", "b"],
            "labels": {"any name": "x"},
            "moods": {"desk": "loud"},
            "lamp": {"watts": 0.5},
            "lamps": {"one": {"watts": 60, "colour": "red"}},
        }
    )

    assert (room.full_name, room.open_now, room.verify, room.floor, room.heat) == (
        "Crib",
        False,
        "/ca.pem",
        2,
        21,
    )
    assert (room.tags, room.labels, room.moods) == (("a", "b"), {"any name": "x"}, {"desk": "loud"})
    assert room.lamp == Lamp(watts=0.5)
    assert room.lamps == {"one": Lamp(watts=60, colour="red")}
    assert (room.note, room.code, room.site, room.seats) == (None, "A1", "", None)


def test_null_is_absent_other_keys_are_passed_over_and_snake_case_is_as_good() -> None:
    given = {"full_name": "x", "openNow": None, "later": 1, "lamp": {"watts": 1}}

    assert Room.read(given) == Room(full_name="x", lamp=Lamp(watts=1))


def test_what_was_read_can_be_written_and_read_again() -> None:
    room = Room.read({"fullName": "x", "tags": ["a"], "lamp": {"watts": 1}, "lamps": {"b": {"watts": 2}}})

    written = room.as_json()

    assert (written["fullName"], written["tags"]) == ("x", ["a"])
    assert written["lamps"] == {"b": {"watts": 2, "colour": "white"}}
    assert Room.read(written) == room


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"fullName": ""}, "fullName must be text that is not empty"),
        ({"fullName": 5}, "fullName must be text that is not empty, not a number"),
        ({"fullName": None}, "fullName is missing"),
        ({"note": ["s3cret"]}, "note must be text, not a list"),
        ({"code": "s3cret"}, "code must be a letter and a digit, not text"),
        ({"site": "ftp://s3cret"}, "site must be an address: https://…, not text"),
        ({"site": "https://two words"}, "site must be an address: https://…, not text"),
        ({"feed": ""}, "feed must be an address: https://…, not text"),
        ({"openNow": "yes"}, "openNow must be true or false, not text"),
        ({"openNow": 1}, "openNow must be true or false, not a number"),
        ({"verify": 1}, "verify must be true, false or text, not a number"),
        ({"floor": 100}, "floor must be a whole number between -3 and 99, not 100"),
        ({"floor": 2.0}, "floor must be a whole number between -3 and 99, not 2.0"),
        ({"floor": True}, "floor must be a whole number between -3 and 99, not true or false"),
        ({"floor": "2"}, "floor must be a whole number between -3 and 99, not text"),
        ({"seats": 0}, "seats must be a whole number of at least 1, not 0"),
        ({"heat": 4.9}, "heat must be a number between 5 and 30, not 4.9"),
        ({"heat": float("nan")}, "heat must be a number between 5 and 30, not nan"),
        ({"tags": "a"}, "tags must be a list of text, not text"),
        ({"tags": ["a", 7]}, "tags.1 must be text, not a number"),
        ({"labels": []}, "labels must be an object: { … }, not a list"),
        ({"labels": {"pin": 1234}}, "labels.pin must be text, not a number"),
        ({"labels": {"a": {"s3cret": 1}}}, "labels.a must be text, not an object"),
        ({"moods": {"desk": "s3cret"}}, "moods.desk must be 'calm' or 'loud', not text"),
        ({"lamp": 1}, "lamp must be an object: { … }, not a number"),
        ({"lamp": {}}, "lamp.watts is missing"),
        ({"lamp": {"watts": 0}}, "lamp.watts must be a number above 0 and at most 100, not 0"),
        (
            {"lamps": {"a": {"watts": 1, "colour": 3}}},
            "lamps.a.colour must be 'white' or 'red', not a number",
        ),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        Room.read({"fullName": "x", "lamp": {"watts": 1}} | given)

    assert str(caught.value) == says


def test_what_is_no_object_is_no_section() -> None:
    with pytest.raises(InvalidValue, match=r"^must be an object"):
        Room.read([1])
