"""Long texts are split so that nothing is lost and every part fits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from toolcrib.bundled.discord.sending import LONGEST, Mentions, compose, split_text
from toolcrib.serverkit.context import ToolFailure

WORDS = some.text(alphabet="abc.🌻é\n ", min_size=1, max_size=40)


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@given(some.lists(WORDS, min_size=1, max_size=40), some.integers(1, 6))
def test_nothing_is_lost_and_every_part_fits(words: list[str], times: int) -> None:
    text = "".join(words * times) or "x"

    parts = split_text(text)

    assert all(units(part) <= LONGEST for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "text", ["x" * 9000, "🌻" * 4500, "word " * 1900, "a" + " " * 5000 + "b", "\n".join(["line"] * 1800)]
)
def test_texts_without_good_places_are_split_too(text: str) -> None:
    parts = split_text(text)

    assert all(0 < units(part) <= LONGEST for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


@pytest.mark.parametrize("text", ["```" + "a" * 12_000, "```\n" * 4000, "x" * 10_001])
def test_what_does_not_fit_into_five_messages_is_refused(text: str) -> None:
    with pytest.raises(ToolFailure, match="more than 5 messages"):
        split_text(text)


def test_a_paragraph_is_not_split_if_it_fits() -> None:
    one, two = "First. " * 200, "Second. " * 200

    assert split_text(f"{one}\n\n{two}") == [one.strip(), two.strip()]


def test_names_with_special_characters_are_replaced_literally() -> None:
    mentions = Mentions(users={"900000000000000009": r"a.b\1 (x)"})

    assert compose(r"Hi @a.b\1 (x)!", mentions) == "Hi <@900000000000000009>!"
    with pytest.raises(ToolFailure, match="empty"):
        compose(" \n", mentions)


def test_a_code_block_that_ends_within_a_line_does_not_continue_in_the_next_message() -> None:
    one, two = split_text("Look:\n```py\nprint(1)```\n" + "word " * 600)

    assert one.endswith("word")
    assert two.startswith("word")


def test_a_code_block_that_begins_within_a_line_is_opened_again_with_its_language() -> None:
    one, two = split_text("Look: ```c++\n" + "int x;\n" * 400 + "```\nend")

    assert one.endswith("int x;\n```")
    assert two.startswith("```c++\nint x;")


@pytest.mark.parametrize("before", range(1975, 2001))
def test_a_mention_is_not_split(before: int) -> None:
    parts = split_text("x" * before + "<@900000000000000009>" + "y" * 100)

    assert sum("<@900000000000000009>" in part for part in parts) == 1
