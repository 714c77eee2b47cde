"""Text of any kind gives the words that are compared."""

from __future__ import annotations

import pytest

from toolcrib.retrieval.query import clauses
from toolcrib.retrieval.words import LONGEST_TEXT, LONGEST_WORD, stem, stems


@pytest.mark.parametrize(
    "name", ["createPullRequest", "create_pull_request", "create-pull-request", "create a pull request"]
)
def test_every_way_to_write_a_name_gives_its_words(name: str) -> None:
    assert set(stems("create pull request")) <= set(stems(name))


@pytest.mark.parametrize(
    "forms",
    [
        ("create", "creates", "created", "creating", "creation"),
        ("query", "queries", "querying", "queried"),
        ("stop", "stops", "stopped", "stopping"),
        ("translate", "translation", "translations", "translator"),
        ("notify", "notifies", "notification"),
        ("match", "matches", "matching"),
        ("organize", "organise", "organizer", "organization"),
    ],
)
def test_the_forms_of_a_word_meet(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize(
    "word", ["", "a", "is", "bus", "this", "sing", "red", "thing", "css", "64", "ünïcode"]
)
def test_no_word_is_stemmed_to_nothing(word: str) -> None:
    assert bool(stem(word)) == bool(word)


def test_a_brand_with_humps_meets_its_plain_spelling() -> None:
    assert set(stems("github")) <= set(stems("GitHub"))
    assert set(stems("youtube")) <= set(stems("YouTube"))


def test_accents_widths_and_case_are_folded() -> None:
    assert stems("Café") == stems("cafe") == stems("CAFE\u0301") == stems("ｃａｆｅ")
    assert stems("Straße") == stems("STRASSE")


def test_text_without_spaces_is_compared_by_pairs() -> None:
    assert set(stems("天気")) <= set(stems("東京の天気を教えて"))
    assert stems("雨") == ["雨"]


def test_letters_of_other_scripts_are_words() -> None:
    assert stems("погода в Москве") == ["погода", "в", "москве"]
    assert stems("حالة الطقس") == ["حالة", "الطقس"]


@pytest.mark.parametrize(
    "text", ["", "   ", "the of and", "🔥🔥🔥", "___---", "\x00\x1b[31m\u202e", "\ud800"]
)
def test_what_says_nothing_has_few_words(text: str) -> None:
    assert len(stems(text)) <= 1


def test_a_text_without_end_is_read_at_its_beginning() -> None:
    assert len(stems("word " * 1_000_000)) <= LONGEST_TEXT // 5
    assert all(len(one) <= LONGEST_WORD for one in stems("x" * 1_000_000))


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("find the flight and then mail it", ["find the flight", "mail it"]),
        ("Read it. Sum it up; send it", ["Read it", "Sum it up", "send it"]),
        ("open an issue", []),
        ("version 2.5 of example.com", []),
        ("a\n" * 100, []),
        ("", []),
        ("and then", []),
    ],
)
def test_a_question_is_split_where_another_task_begins(question: str, parts: list[str]) -> None:
    assert clauses(question) == parts
