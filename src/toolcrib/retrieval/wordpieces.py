"""Cuts text into the word pieces that the built-in model knows: BERT's way, lower case, without accents.

Written here because the package that does it brings a model hub's client along. Time and length are bounded,
whatever the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

_BEGIN, _END, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
_LONGEST_WORD = 100
"""Characters; a longer word is unknown, as it was while the model learned."""
_CHARACTERS_A_PIECE = 40
"""Of a text, so many for each piece that may come out: more cannot matter."""
_IDEOGRAPH = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ebef\U0002f800-\U0002fa1f"
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_PLAIN = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")


class WordPieces:
    """A vocabulary that texts are cut by."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._known = vocabulary
        self._begin, self._end = vocabulary[_BEGIN], vocabulary[_END]
        self._unknown = vocabulary[_UNKNOWN]
        self._pieces = lru_cache(maxsize=32_768)(self._cut)

    @classmethod
    def read(cls, path: Path) -> WordPieces:
        """The vocabulary of a file with one piece a line."""
        # Not `splitlines`, which cuts at characters that are pieces: all numbers after them would shift.
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        return cls({piece: number for number, piece in enumerate(lines)})

    def encode(self, text: str, most: int) -> tuple[list[int], list[tuple[int, int]]]:
        """The numbers of at most so many pieces, ends included, and where in the text each stands."""
        text = text[: most * _CHARACTERS_A_PIECE]
        ids, places = [self._begin], [(0, 0)]
        for word, start, end in _words(text):
            pieces = self._pieces(word)
            ids += pieces
            places += [(start, end)] * len(pieces)
            if len(ids) >= most:
                break
        del ids[most - 1 :], places[most - 1 :]
        return [*ids, self._end], [*places, (0, 0)]

    def _cut(self, word: str) -> tuple[int, ...]:
        """The longest known piece from the left, again and again."""
        if len(word) > _LONGEST_WORD:
            return (self._unknown,)
        found, start = [], 0
        while start < len(word):
            before = "##" if start else ""
            for end in range(len(word), start, -1):
                number = self._known.get(before + word[start:end])
                if number is not None:
                    break
            else:
                return (self._unknown,)
            found.append(number)
            start = end
        return tuple(found)


def _words(text: str) -> list[tuple[str, int, int]]:
    lowered = text.lower()
    if lowered.isascii() and _CONTROL.search(lowered) is None:
        return [(found[0], found.start(), found.end()) for found in _PLAIN.finditer(lowered)]
    return _folded_words(text)


def _folded_words(text: str) -> list[tuple[str, int, int]]:
    """The same for any script: accents go, punctuation and ideographs stand alone."""
    words: list[tuple[str, int, int]] = []
    current, start = "", 0
    for place, one in enumerate(text):
        kind = unicodedata.category(one)
        folded = _fold(one)
        if kind[0] == "C" and one not in "\t\n\r":
            continue
        if one.isspace():
            current = _close(words, current, start, place)
        elif kind[0] == "P" or (one.isascii() and not one.isalnum()) or _ANY_IDEOGRAPH.match(one):
            current = _close(words, current, start, place)
            words.append((folded or one, place, place + 1))
        else:
            start = start if current else place
            current += folded
    _close(words, current, start, len(text))
    return words


def _close(words: list[tuple[str, int, int]], current: str, start: int, end: int) -> str:
    if current:
        words.append((current, start, end))
    return ""


@lru_cache(maxsize=4096)
def _fold(one: str) -> str:
    decomposed = unicodedata.normalize("NFD", one.lower())
    return "".join(part for part in decomposed if unicodedata.category(part) != "Mn")


_ANY_IDEOGRAPH = re.compile(rf"[{_IDEOGRAPH}]")
