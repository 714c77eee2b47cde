"""Finds the JSON object in a model's answer: text around it and small mistakes in it are accepted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolcrib.llm.json_values import decode

LONGEST = 1_000_000
"""Characters of an answer that are read."""
_MOST_TRIES = 5
_MOST_COMMENTS = 200
_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_STRING = r'"(?:\\.|[^"\\])*"'
_NOT_JSON = re.compile(
    rf"(?P<string>{_STRING})|(?P<dropped>//[^\n]*|/\*.*?\*/|,(?=\s*[}}\]]))|(?P<word>\b(?:True|False|None)\b)",
    re.DOTALL,
)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_TOKEN = re.compile(rf'{_STRING}|[{{}}]|"', re.DOTALL)


class NoJson(ValueError):
    """The text has no JSON object; its message says what is wrong, for the model."""


def read_object(text: str, *, cut: bool = False) -> dict[str, Any]:
    """The largest JSON object of a text; `cut` if the model reached its output limit."""
    if cut:
        raise NoJson(
            "The answer was cut off by the output limit. Answer again, shorter, with the whole object."
        )
    text = _THINKING.sub("", text[:LONGEST]).strip()
    if not text:
        raise NoJson("The answer was empty.")
    reasons: list[str] = []
    found = [value for part in _objects(text) if (value := _parse(part, reasons)) is not None]
    if found:
        return max(found, key=lambda value: len(str(value)))
    if reasons:
        raise NoJson(f"The JSON is not valid: {reasons[0]}.")
    raise NoJson("The JSON object has no end." if "{" in text else "The answer has no JSON object.")


def _objects(text: str) -> Iterator[str]:
    """Every outermost part between matching braces, in one pass over the text."""
    start = text.find("{")
    for _ in range(_MOST_TRIES):
        if start < 0:
            return
        spans, stopped = _spans(text, start)
        yield from (text[first:last] for first, last in spans)
        start = -1 if stopped is None else text.find("{", stopped)


def _spans(text: str, start: int) -> tuple[list[tuple[int, int]], int | None]:
    """Where complete objects begin and end, and where a string without an end stopped the search.

    Braces in strings do not count.
    """
    opened: list[int] = []
    spans: list[tuple[int, int]] = []
    for token in _TOKEN.finditer(text, start):
        if token[0] == '"':
            return spans, token.end()
        if token[0] == "{":
            opened.append(token.start())
        elif token[0] == "}" and opened:
            first = opened.pop()
            while spans and spans[-1][0] > first:
                spans.pop()  # It is inside of this one.
            spans.append((first, token.end()))
    return spans, None


def _parse(text: str, reasons: list[str]) -> dict[str, Any] | None:
    try:
        found = decode(text)
    except ValueError:
        try:
            found = decode(_relaxed(text))
        except ValueError as error:
            reasons.append(str(error))
            return None
    return found if isinstance(found, dict) else None


def _relaxed(text: str) -> str:
    """The text without comments and trailing commas, and with the constants of JSON."""
    if text.count("/*") > _MOST_COMMENTS:  # Each one without an end is searched for to the end of the text.
        return text
    without_comments = _NOT_JSON.sub(_strict, text)
    return _NOT_JSON.sub(_strict, without_comments)  # A comma may have been followed by a comment.


def _strict(found: re.Match[str]) -> str:
    if found["string"] is not None:
        return found["string"]
    return _WORDS[found["word"]] if found["word"] else ""
