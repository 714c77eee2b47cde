"""Reduces English words to what their forms share: `creating`, `created` and `creation` all give `creat`.

Light on purpose: it takes endings off and knows no dictionary. Words of other languages pass almost whole.
"""

from __future__ import annotations

import re

_SHORTEST = 4
"""Characters; shorter words are left alone."""
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
"""Endings of derived words and what stands for them, the longest first."""
_LEAST_LEFT = 3


def stem(word: str) -> str:
    """The common part of a lower-case word's forms."""
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
