"""A tool as the model reads it: its server, its name in words, and the first sentence of what it says.

One text and one pass of the model a tool; more of a description costs time and was not worth it. Changing
what a passage says asks for the model to be trained anew.
"""

from __future__ import annotations

import re
from functools import lru_cache

LONGEST_SENTENCE = 200
"""Characters of the description; a description stuffed with words gets no more than this."""
_LONGEST_NAME = 120
_LOOKED_AT = 2_000
_HUMP = re.compile(r"([a-z0-9])([A-Z])")
_ACRONYM = re.compile(r"([A-Z]+)([A-Z][a-z])")
_DIGIT = re.compile(r"([A-Za-z])(\d)")
_OTHER = re.compile(r"[^\w]+|_+")
_SENTENCE = re.compile(r"(?<=[.!?\n])\s")


def passage(name: str, server: str, description: str) -> str:
    """`github: create issue. Creates a new issue in a repository.`"""
    before = f"{spaced(server)}: " if server else ""
    return f"{before}{spaced(name)}. {first_sentence(description)}".rstrip()


@lru_cache(maxsize=8192)
def spaced(name: str) -> str:
    """A name as words: `createPullRequest` and `create_pull_request` give `create Pull Request` and so on."""
    name = name[:_LONGEST_NAME]
    parted = _DIGIT.sub(r"\1 \2", _ACRONYM.sub(r"\1 \2", _HUMP.sub(r"\1 \2", name)))
    return _OTHER.sub(" ", parted).strip()


def first_sentence(text: str) -> str:
    """Where a description says what the tool does."""
    return _SENTENCE.split(text[:_LOOKED_AT].strip() + " ", maxsplit=1)[0][:LONGEST_SENTENCE].strip()
