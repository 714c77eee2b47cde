"""How much of what was expected is in an extracted text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields

from benchmarks.pages.page import SavedPage

_LINK = re.compile(r"\]\([^()\s]*(?:\([^()]*\)[^()]*)*\)|\]\[\d+\]")
_NO_WORD = re.compile(r"[\W_]+")
_FENCED = re.compile(r"^([ >]*)(`{3,}|~{3,})[^\n`]*\n(.*?)^[ >]*\2", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^[ >]*(?:#{1,6} +(.*)|(.+)\n[=-]{3,}$)", re.MULTILINE)
_ROW = re.compile(r"^[ >]*\|.*\|", re.MULTILINE)


@dataclass
class Score:
    """Counts; each pair is what was found, and what was expected."""

    headings: list[int] = field(default_factory=lambda: [0, 0])
    cells: list[int] = field(default_factory=lambda: [0, 0])
    code: list[int] = field(default_factory=lambda: [0, 0])
    prose: list[int] = field(default_factory=lambda: [0, 0])
    boilerplate: list[int] = field(default_factory=lambda: [0, 0])
    hidden: list[int] = field(default_factory=lambda: [0, 0])

    def add(self, other: Score) -> None:
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(other, each.name)
            setattr(self, each.name, [mine[0] + theirs[0], mine[1] + theirs[1]])


def score(page: SavedPage, text: str) -> Score:
    """Headings count as headings, cells in tables, code in fences; the rest anywhere."""
    plain = _LINK.sub("]", text)
    everything = squeezed(plain)
    headings = [squeezed("".join(found)) for found in _HEADING.findall(plain)]
    rows = squeezed("\n".join(_ROW.findall(plain)))
    fenced = [squeezed(found[2]) for found in _FENCED.findall(text)]
    return Score(
        headings=_count(page.headings, lambda wanted: any(wanted in heading for heading in headings)),
        cells=_count(page.cells, lambda wanted: wanted in rows),
        code=_count(page.code, lambda wanted: any(wanted in block for block in fenced)),
        prose=_count(page.prose, lambda wanted: wanted in everything),
        boilerplate=_count(page.boilerplate, lambda wanted: wanted in everything),
        hidden=_count(page.hidden, lambda wanted: wanted in everything),
    )


def squeezed(text: str) -> str:
    """Only letters and digits, in lower case."""
    return _NO_WORD.sub("", text).lower()


def _count(wanted: list[str], is_there: object) -> list[int]:
    texts = [text for text in map(squeezed, wanted) if text]
    return [sum(map(is_there, texts)), len(texts)]  # type: ignore[call-overload]
