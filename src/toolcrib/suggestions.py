"""Suggestions for misspelt names: "Did you mean …?" with the closest known ones, at most three."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str], *, otherwise: str = "") -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=3, cutoff=0.6)
    if not near:
        return otherwise
    return f"Did you mean {' or '.join(near)}?"
