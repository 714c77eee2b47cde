"""Splits text and names into comparable words, the same for tools and questions: stop words, word endings
(stemming), accents and camelCase, and lists of verbs that mean the same, such as delete and remove.

`createPullRequest`, `create_pull_request` and "Create a pull request" have the same words. Accents, widths
and case are folded, endings removed (without a dictionary; other languages pass almost unchanged), stop words
left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

LONGEST_TEXT = 6_000
"""Characters read of one text: the beginning says what it is about."""
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
    """The words of a text in order, folded and stemmed."""
    return [stemmed for token in _tokens(text) for stemmed in _stems(token)]


def stems_and_words(text: str) -> Iterator[tuple[str, str]]:
    """The same, each with the original word."""
    for token in _tokens(text):
        for stemmed in _stems(token):
            yield stemmed, token


def _tokens(text: str) -> list[str]:
    text = text[:LONGEST_TEXT]
    # Composed first: a separate accent would split its word.
    return _WORD.findall(text if text.isascii() else unicodedata.normalize("NFKC", text))


@lru_cache(maxsize=65_536)
def _stems(token: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in _parts(token) if word not in _STOP)


def _parts(token: str) -> list[str]:
    if token.islower() and token.isascii():
        return [token]
    if _IS_UNSPACED.match(token):
        # Written without spaces: pairs of characters serve as words.
        return ["".join(pair) for pair in pairwise(token)] or [token]
    whole = _fold(token)
    humps = _HUMPS.findall(token) if token.isascii() else []
    # The whole word too: `GitHub` must match `github`.
    return [whole] if len(humps) < 2 else [*(hump.lower() for hump in humps), whole]


def _fold(token: str) -> str:
    if token.isascii():
        return token.lower()
    decomposed = unicodedata.normalize("NFKD", token)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter)).casefold()


_SHORTEST = 4
"""Shorter words are not stemmed."""
_VOWEL = re.compile(r"[aeiouy]")
_PARTICIPLES = ("ingly", "edly", "ing", "ed")
_DOUBLED = re.compile(r"([bdgmnprt])\1\Z")
_DERIVED = (
    ("ization", "iz"),
    ("isation", "iz"),
    ("ification", "ifi"),
    ("ational", "at"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("ability", "abl"),
    ("ations", "at"),
    ("ation", "at"),
    ("ator", "at"),
    ("izer", "iz"),
    ("iser", "iz"),
    ("ise", "iz"),
    ("ment", ""),
    ("ness", ""),
    ("tion", "t"),
    ("sion", "s"),
    ("ally", "al"),
    ("er", ""),
    ("or", ""),
    ("ly", ""),
)
"""Endings of derived words and their replacements, longest first."""
_LEAST_LEFT = 3


def stem(word: str) -> str:
    if len(word) < _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    return _without_last_vowel(_without_derivation(_without_participle(_singular(word))))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > _SHORTEST:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_participle(word: str) -> str:
    for ending in _PARTICIPLES:
        left = word.removesuffix(ending)
        if left == word:
            continue
        if len(left) < _LEAST_LEFT or _VOWEL.search(left) is None:
            return word
        return left[:-1] if _DOUBLED.search(left) else left
    return word


def _without_derivation(word: str) -> str:
    for ending, instead in _DERIVED:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_LEFT:
            return word[: -len(ending)] + instead
    return word


def _without_last_vowel(word: str) -> str:
    if len(word) < _SHORTEST:
        return word
    if word.endswith("e"):
        return word[:-1]
    return word[:-1] + "i" if word.endswith("y") else word


_KINDS = {
    "create": "create add new make insert setup register put write generate raise build append attach book",
    "read": "get fetch read show retrieve view see tell what describe detail info is how much check",
    "list": "list all every which many enumerate who",
    "search": "search find look query lookup where discover explore",
    "update": "update edit change modify set rename move mark assign patch transition swap replace turn",
    "delete": "delete remove erase drop clear cancel purge wipe stop destroy unassign archive take away",
    "send": "send post reply message notify share publish broadcast push forward text mail email",
    "run": "run execute start launch trigger invoke play deploy test evaluate",
}
_OF: dict[str, frozenset[str]] = {}
for _kind, _words in _KINDS.items():
    for _word in _words.split():
        _OF[stem(_word)] = _OF.get(stem(_word), frozenset()) | {_kind}


def verbs_of(words: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*(_of(word) for word in words))


@lru_cache(maxsize=16_384)
def _of(word: str) -> frozenset[str]:
    return _OF.get(word, frozenset()) | _OF.get(stem(word.lower()), frozenset())
