"""Words that were read in a picture, and the search for a text among them: which characters count as the same
(hyphens, quotes, `l` and `1`), and lower confidence for less exact matches.

Readings differ in hyphens, ligatures, spaces and similar glyphs, so texts are compared normalised.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from toolcrib.bundled.desktop.geometry import Rect

MatchMode = Literal["contains", "exact"]
COMPACT_LENGTH = 6
"""Shorter texts would match across words by accident when spaces are ignored."""
COMPACT_PENALTY = 0.95
SIMILAR_PENALTY = 0.85
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("-\u00ad\u2010\u2011\u2012\u2013\u2014\u2212_", " "),
        **dict.fromkeys("\u2018\u2019\u201a\u201b`\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"'),
    }
)
_SIMILAR = str.maketrans({"1": "l", "i": "l", "|": "l", "!": "l", "0": "o", "5": "s", "8": "b"})


@dataclass(frozen=True)
class OcrWord:
    text: str
    rect: Rect
    """In pixels of the picture."""
    confidence: float
    """0 to 1."""
    line: int


@dataclass(frozen=True)
class WordSequence:
    words: tuple[OcrWord, ...]

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def rect(self) -> Rect:
        return Rect.around(word.rect for word in self.words)


class TextLine(WordSequence):
    @property
    def confidence(self) -> float:
        return sum(word.confidence for word in self.words) / len(self.words)


@dataclass(frozen=True)
class OcrMatch(WordSequence):
    """Consecutive words that contain a text."""

    confidence: float


def normalise(text: str) -> str:
    """For comparison: ligatures resolved, hyphens as spaces, one kind of quotes, no case."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_PLAIN)
    return " ".join(folded.split())


def find_ranges(text: str, wanted: str) -> Iterator[tuple[int, int]]:
    """Where a text is, without regard to case and kind of spaces."""
    words = (re.escape(word) for word in wanted.split())
    yield from (found.span() for found in re.finditer(r"\s+".join(words), text, re.IGNORECASE))


def contains(text: str, wanted: str, mode: MatchMode) -> bool:
    """Whether a text matches `wanted`, which is normalised."""
    found = normalise(text)
    return found == wanted if mode == "exact" else wanted in found


def group_lines(words: Iterable[OcrWord]) -> list[TextLine]:
    """From top to bottom, then from left to right."""
    lines = [TextLine(tuple(members)) for _, members in groupby(words, key=lambda word: word.line)]
    return sorted(lines, key=lambda line: (line.rect.centre.y // 8, line.rect.x))


def find_phrases(lines: Sequence[TextLine], wanted: str, mode: MatchMode) -> list[OcrMatch]:
    """Where a text stands; less literal comparisons are used only while there is no match."""
    plain = normalise(wanted)
    if not plain:
        return []
    compact = plain.replace(" ", "")
    if found := _find(lines, plain, mode, normalise, " ", 1.0):
        return found
    if len(compact) >= COMPACT_LENGTH:
        if found := _find(lines, compact, mode, _compact, "", COMPACT_PENALTY):
            return found
        return _find(lines, compact.translate(_SIMILAR), mode, _similar, "", SIMILAR_PENALTY)
    return _find(lines, plain.translate(_SIMILAR), mode, _similar_words, " ", SIMILAR_PENALTY)


def _compact(text: str) -> str:
    return normalise(text).replace(" ", "")


def _similar(text: str) -> str:
    return _compact(text).translate(_SIMILAR)


def _similar_words(text: str) -> str:
    return normalise(text).translate(_SIMILAR)


def _find(
    lines: Sequence[TextLine],
    wanted: str,
    mode: MatchMode,
    form: Callable[[str], str],
    separator: str,
    weight: float,
) -> list[OcrMatch]:
    found: list[OcrMatch] = []
    for line in lines:
        for words in _phrases_of(line, wanted, mode, form, separator):
            confidence = weight * min(word.confidence for word in words)
            found.append(OcrMatch(words, round(confidence, 3)))
    return found


def _phrases_of(
    line: TextLine, wanted: str, mode: MatchMode, form: Callable[[str], str], separator: str
) -> Iterable[tuple[OcrWord, ...]]:
    forms = [form(word.text) for word in line.words]
    kept = [(text, word) for text, word in zip(forms, line.words, strict=True) if text]
    starts, position = [], 0
    for text, _ in kept:
        starts.append(position)
        position += len(text) + len(separator)
    ends = [start + len(text) for start, (text, _) in zip(starts, kept, strict=True)]
    joined = separator.join(text for text, _ in kept)
    at = joined.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        # Whole words for an exact match: a line of a window often holds several texts.
        if mode == "contains" or (at in starts and end in ends):
            touched = range(len(kept))
            yield tuple(kept[n][1] for n in touched if starts[n] < end and ends[n] > at)
        at = joined.find(wanted, end)
