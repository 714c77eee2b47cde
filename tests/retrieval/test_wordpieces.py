"""Text is cut as the model learned it, whatever the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.retrieval.embedders.builtin import MODEL, WordPieces

PIECES = WordPieces.read(MODEL / "vocab.txt")
VOCABULARY = (MODEL / "vocab.txt").read_text(encoding="utf-8").splitlines()


def cut(text: str, most: int = 64) -> list[str]:
    return [VOCABULARY[number] for number in PIECES.encode(text, most)[0]]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Create a pull-request!", ["create", "a", "pull", "-", "request", "!"]),
        ("kubectl", ["ku", "##be", "##ct", "##l"]),
        ("Café  naïve\tÀ", ["cafe", "naive", "a"]),
        ("天文a", ["天", "文", "a"]),
        ("a\x00b\u200bc", ["abc"]),
        ("x" * 101, ["[UNK]"]),
        ("", []),
    ],
)
def test_text_is_cut_as_the_model_learned_it(text: str, pieces: list[str]) -> None:
    found = cut(text)

    assert found[0] == "[CLS]"
    assert found[-1] == "[SEP]"
    assert found[1:-1] == pieces


def test_each_piece_knows_where_it_stands() -> None:
    text = "Merge the café branch"
    ids, places = PIECES.encode(text, 64)

    assert len(ids) == len(places)
    assert [text[start:end] for start, end in places[1:-1]] == ["Merge", "the", "café", "branch"]


@given(st.text(max_size=500), st.integers(min_value=2, max_value=32))
def test_any_text_gives_a_bounded_number_of_pieces(text: str, most: int) -> None:
    ids, places = PIECES.encode(text, most)

    assert 2 <= len(ids) == len(places) <= most
    assert all(0 <= start <= end <= len(text) for start, end in places)


def test_a_piece_that_looks_like_a_line_end_shifts_no_number(tmp_path: Path) -> None:
    file = tmp_path / "vocab.txt"
    file.write_text("[CLS]\n[SEP]\n[UNK]\n\u2028\n\x85\nword\n", encoding="utf-8")

    assert WordPieces.read(file).encode("word", 8)[0] == [0, 5, 1]
