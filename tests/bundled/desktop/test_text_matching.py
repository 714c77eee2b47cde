"""Words of a picture and the search among them, without a picture."""

from __future__ import annotations

import pytest

from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.vision.text import MatchMode, OcrWord, find_phrases, group_lines, normalise


def _lines(*texts: str) -> list[OcrWord]:
    """Words of ten pixels a character, each line twenty pixels below the last."""
    words: list[OcrWord] = []
    for number, text in enumerate(texts):
        x = 0
        for part in text.split():
            words.append(OcrWord(part, Rect(x, 20 * number, 10 * len(part), 12), 0.9, number))
            x += 10 * (len(part) + 1)
    return words


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        ("Save As…", "save as..."),
        ("well-known", "Well known"),
        ("well-known", "well‑known"),
        ("ﬁle ofﬁce", "File office"),
        ("“quoted”", '"quoted"'),
        ("STRASSE", "straße"),
    ],
)
def test_spellings_of_the_same_text_are_equal(shown: str, wanted: str) -> None:
    assert normalise(shown) == normalise(wanted)


@pytest.mark.parametrize(
    ("wanted", "mode", "places"),
    [
        ("second line", "contains", [(40, 20)]),
        ("econd", "contains", [(40, 20)]),
        ("econd", "exact", []),
        ("second", "exact", [(40, 20)]),
        ("the", "contains", [(0, 0), (0, 20)]),
        ("well-known", "exact", [(40, 40)]),
        ("secondline", "contains", [(40, 20)]),
        ("Total 1O0", "contains", [(0, 60)]),
        ("nothing", "contains", []),
        ("first the", "contains", []),
    ],
)
def test_a_phrase_is_found_where_its_words_are(
    wanted: str, mode: MatchMode, places: list[tuple[int, int]]
) -> None:
    lines = group_lines(_lines("The first", "the second line", "two well- known", "Total 100"))
    found = find_phrases(lines, wanted, mode)
    assert [(phrase.rect.x, phrase.rect.y) for phrase in found] == places


def test_a_less_literal_match_has_less_confidence() -> None:
    lines = group_lines(_lines("Invoice lllO1"))
    [literal] = find_phrases(lines, "invoice", "contains")
    [similar] = find_phrases(lines, "ill01", "contains")
    assert similar.confidence < literal.confidence == 0.9


def test_the_box_of_a_phrase_covers_all_its_words() -> None:
    [phrase] = find_phrases(group_lines(_lines("one two three")), "two three", "exact")
    assert phrase.rect == Rect(40, 0, 90, 12)
