"""Cuts text of any kind, names included, into the words that are compared; the same for tools and questions.

`createPullRequest`, `create_pull_request` and "Create a pull request" share their words. Accents, widths and
case are folded, endings taken off, a few words that say nothing left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from toolcrib.retrieval.stemming import stem

LONGEST_TEXT = 6_000
"""Characters of one text that are looked at: what a longer one is about, it says at its beginning."""
LONGEST_WORD = 40

_STOP = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "been", "by", "can", "could", "do", "does", "for", "from"}
    | {"had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "of", "on", "or"}
    | {"our", "please", "s", "so", "some", "t", "that", "the", "their", "them", "then", "there", "these"}
    | {"this", "those", "to", "us", "want", "was", "we", "were", "what", "when", "which", "will", "with"}
    | {"would", "you", "your"}
)
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]{{1,{LONGEST_WORD}}}|[^\W_{_UNSPACED}]{{1,{LONGEST_WORD}}}")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")


def stems(text: str) -> list[str]:
    """The words of a text in their order, folded and without endings."""
    return [stemmed for token in _tokens(text) for stemmed in _stems(token)]


def stems_and_words(text: str) -> Iterator[tuple[str, str]]:
    """The same, each with the word of the text that it was made of."""
    for token in _tokens(text):
        for stemmed in _stems(token):
            yield stemmed, token


def _tokens(text: str) -> list[str]:
    text = text[:LONGEST_TEXT]
    # Composed first: an accent that stands alone would break its word in two.
    return _WORD.findall(text if text.isascii() else unicodedata.normalize("NFKC", text))


@lru_cache(maxsize=65_536)
def _stems(token: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in _parts(token) if word not in _STOP)


def _parts(token: str) -> list[str]:
    if token.islower() and token.isascii():
        return [token]
    if _IS_UNSPACED.match(token):
        # Written without spaces: two neighbours are the nearest thing to a word.
        return ["".join(pair) for pair in pairwise(token)] or [token]
    whole = _fold(token)
    humps = _HUMPS.findall(token) if token.isascii() else []
    # Whole as well: `GitHub` must meet `github`.
    return [whole] if len(humps) < 2 else [*(hump.lower() for hump in humps), whole]


def _fold(token: str) -> str:
    if token.isascii():
        return token.lower()
    decomposed = unicodedata.normalize("NFKD", token)
    return "".join(one for one in decomposed if not unicodedata.combining(one)).casefold()
