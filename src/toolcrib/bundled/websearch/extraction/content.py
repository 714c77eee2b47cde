"""Finds the main content of a page: trafilatura says which blocks of text are content, the tree stays whole.
Decides how much around it is included, such as the title, a lead or the other posts of a thread.

Trafilatura's own output loses headings, code blocks and tables of many pages. So each block of text gets a
short mark, trafilatura runs on the marked tree, and the marks in what it returns say which blocks it chose.
The blocks themselves are then rendered from the original tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from toolcrib.bundled.websearch.extraction.document import listed

INLINE = listed(
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark nobr "
    "output q rp rt ruby s samp small span strike strong sub sup time tt u var wbr"
)
_CONTAINERS = frozenset(("article", "main"))
# Braille patterns: printable, never part of a word, and next to never on a page.
_MARK = re.compile("\u28ff([\u2800-\u28fe])([\u2800-\u28fe])")
_BASE = 255
_MOST_OF = 0.9
_MOST_AROUND = 0.5
_ENOUGH = 150
_MANY = 2
_TWIN = 80


@dataclass(slots=True)
class Measure:
    """How much text an element has, with all that is inside it."""

    text: int = 0
    linked: int = 0
    """How much of it is the text of links."""
    chosen: int = 0
    """How much of it trafilatura chose."""


@dataclass
class Content:
    """Where the content of a page is."""

    root: Any
    measures: dict[Any, Measure]
    chosen: bool
    """True if trafilatura found content; else only the structure of the page is known."""


@dataclass
class Blocks:
    """All text of a page, by the block element that it belongs to."""

    order: list[Any] = field(default_factory=list)
    owners: list[Any] = field(default_factory=list)
    own: dict[Any, Measure] = field(default_factory=dict)

    @classmethod
    def of(cls, tree: Any) -> Blocks:
        """Read a tree in one pass."""
        blocks = cls()
        owner_of: dict[Any, tuple[Any, bool]] = {None: (None, False)}
        for element in tree.iter():
            parent = element.getparent()
            owner, linked = owner_of.get(parent, (None, False))
            outside = owner, linked
            if element.tag not in INLINE:
                owner = element
            linked = linked or element.tag == "a"
            owner_of[element] = owner, linked
            blocks.order.append(element)
            blocks._count(owner, element.text, linked)
            blocks._count(outside[0], element.tail, outside[1])
        return blocks

    def _count(self, owner: Any, text: str | None, linked: bool) -> None:
        length = len(text.strip()) if text else 0
        if not length or owner is None:
            return
        measure = self.own.get(owner)
        if measure is None:
            measure = self.own[owner] = Measure()
            self.owners.append(owner)
        measure.text += length
        if linked:
            measure.linked += length

    def totals(self) -> dict[Any, Measure]:
        """The measures of every element, with those of everything inside it."""
        totals: dict[Any, Measure] = {element: Measure() for element in self.order}
        for element in reversed(self.order):
            total, own = totals[element], self.own.get(element)
            if own is not None:
                total.text += own.text
                total.linked += own.linked
                total.chosen += own.chosen
            above = totals.get(element.getparent())
            if above is not None:
                above.text += total.text
                above.linked += total.linked
                above.chosen += total.chosen
        return totals


def find_content(tree: Any, url: str) -> Content:
    """Locate the content; the tree is the same afterwards."""
    blocks = Blocks.of(tree)
    for number in _chosen_numbers(tree, url, blocks):
        own = blocks.own[blocks.owners[number]]
        own.chosen = own.text
    totals = blocks.totals()
    body = _body(tree)
    if totals[body].chosen < _ENOUGH:
        return Content(_named_container(body) or body, totals, chosen=False)
    return Content(_widened(_deepest(body, totals), totals), totals, chosen=True)


def find_container(tree: Any) -> Content:
    """Locate the content by the page's own structure alone."""
    body = _body(tree)
    return Content(_named_container(body) or body, Blocks.of(tree).totals(), chosen=False)


def _chosen_numbers(tree: Any, url: str, blocks: Blocks) -> set[int]:
    from trafilatura import bare_extraction

    texts = [owner.text for owner in blocks.owners[: _BASE * _BASE]]
    for number, (owner, text) in enumerate(zip(blocks.owners, texts, strict=False)):
        owner.text = f"{_mark(number)}{text or ''}"
    try:
        found: Any = bare_extraction(tree, url=url, fast=True, favor_recall=True, output_format="xml")
    finally:
        for owner, text in zip(blocks.owners, texts, strict=False):
            owner.text = text
    if found is None:
        return set()
    parts = [part for part in (found.body, found.commentsbody) if part is not None]
    marks = _MARK.findall("".join(text for part in parts for text in part.itertext()))
    numbers = {(ord(high) - 0x2800) * _BASE + ord(low) - 0x2800 for high, low in marks}
    return {number for number in numbers if number < len(texts)}


def _mark(number: int) -> str:
    high, low = divmod(number, _BASE)
    return f"\u28ff{chr(0x2800 + high)}{chr(0x2800 + low)}"


def _body(tree: Any) -> Any:
    found = tree.find("body") if tree.tag == "html" else None
    return tree if found is None else found


def _deepest(body: Any, totals: dict[Any, Measure]) -> Any:
    """The smallest element that has nearly everything that was chosen."""
    wanted = totals[body].chosen * _MOST_OF
    root = body
    while (inner := next((child for child in root if totals[child].chosen >= wanted), None)) is not None:
        if inner.tag in ("p", "table", "ul", "ol", "dl", "pre") or inner.tag in INLINE:
            break
        root = inner
    return root


def _widened(root: Any, totals: dict[Any, Measure]) -> Any:
    """The article around it: titles and leads are often siblings of the text."""
    for element in (root, *root.iterancestors()):
        if _is_container(element):
            return element
    root = _with_twins(root, totals)
    while (outer := root.getparent()) is not None and _adds_content(root, outer, totals):
        root = outer
    return root


def _with_twins(root: Any, totals: dict[Any, Measure]) -> Any:
    """The thread around a post: an element with several of the same kind beside it is one of many."""
    widest = root
    for element in (root, *root.iterancestors()):
        outer = element.getparent()
        if outer is None or outer.tag == "html":
            break
        twins = [other for other in outer if other is not element and _is_twin(other, element, totals)]
        if len(twins) >= _MANY:
            widest = outer
    return widest


def _is_twin(other: Any, element: Any, totals: dict[Any, Measure]) -> bool:
    if other.tag != element.tag or other.get("class") != element.get("class"):
        return False
    measure = totals[other]
    return measure.text > _TWIN and measure.linked < measure.text * 0.3


def _adds_content(inner: Any, outer: Any, totals: dict[Any, Measure]) -> bool:
    """True if what is around the inner element was mostly chosen too."""
    text = totals[outer].text - totals[inner].text
    chosen = totals[outer].chosen - totals[inner].chosen
    return outer.tag != "html" and chosen >= text * _MOST_AROUND


def _is_container(element: Any) -> bool:
    return element.tag in _CONTAINERS or element.get("role") in ("main", "article")


def _named_container(body: Any) -> Any:
    """The page's `main`, or its only `article`."""
    mains = [element for element in body.iter() if element.tag == "main" or element.get("role") == "main"]
    if mains:
        return mains[0]
    articles = list(body.iter("article"))
    return articles[0] if len(articles) == 1 else None
