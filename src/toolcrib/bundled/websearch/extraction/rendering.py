"""Renders a part of a page as Markdown: code in fences with its language, tables, definition lists, and links
by number (with the most links of a page)."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from toolcrib.bundled.websearch.extraction.document import (
    PageLink,
    listed,
    one_line,
    web_address,
    without_fragment,
)
from toolcrib.bundled.websearch.extraction.hidden import remove
from toolcrib.serverkit.visible_text import visible

MAX_LINKS = 2000
_REFERENCE = re.compile(r"\]\(<?toolcrib-link:(\d+)>?\)")
_BLANK_LINES = re.compile(r"\n{3,}")
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:lang(?:uage)?-|highlight-(?:source-|text-)?|brush:\s*|sourceCode\s+)([\w+#.-]{1,20})"
)
_BARE_LANGUAGES = listed(
    "python py pycon js javascript ts typescript json bash sh shell console sql c cpp java go "
    "rust ruby php html css xml yaml toml ini kotlin swift diff powershell r perl lua haskell "
    "scala cjs mjs"
)
_NO_LANGUAGE = frozenset(("default", "none", "text", "plain", "plaintext", "notranslate", "highlight"))
_CELL_BLOCKS = frozenset(("pre", "table", "h1", "h2", "h3", "h4", "h5", "h6"))
_LINE_NUMBERS = re.compile(r"\b(?:linenos?|lineno\w*|line-?numbers?|gutter|blob-num|rouge-gutter)\b", re.I)


def render(root: Any, url: str, *, images: bool = False) -> tuple[str, list[PageLink]]:
    """The Markdown of an element and all that is inside it, and the links that it refers to."""
    from html_to_markdown import convert
    from lxml.html import tostring

    _prepare_tables(root)
    _prepare_terms(root)
    links = _number_links(root, url)
    _clean_attributes(root)
    source = tostring(root, encoding="unicode", with_tail=False)
    markdown = str(convert(source, _options(images)).content)
    return tidy(_REFERENCE.sub(r"][\1]", markdown)), links


def tidy(text: str) -> str:
    """Visible characters, no runs of blank lines, no spaces at the ends of lines."""
    lines = "\n".join(line.rstrip() for line in visible(text).split("\n"))
    return _BLANK_LINES.sub("\n\n", lines).strip("\n")


@cache
def _options(images: bool) -> Any:
    from html_to_markdown import ConversionOptions

    return ConversionOptions(
        heading_style="atx",
        bullets="-",
        code_block_style="backticks",
        extract_metadata=False,
        autolinks=False,
        compact_tables=True,
        skip_images=not images,
    )


def flatten_code(root: Any) -> None:
    """Make code blocks plain text with their language: markup inside them is only colour.

    Done before everything else, because coloured code is most of the elements of a technical page.
    """
    for pre in list(root.iter("pre")):
        for inner in list(pre.iter("button", "a", "span")):
            if _LINE_NUMBERS.search(inner.get("class", "")):
                remove(inner)
        for line in pre.iter("br"):
            line.text = "\n"
        language = _language(pre)
        text = "".join(pre.itertext()).strip("\n")
        tail = pre.tail
        for child in list(pre):
            pre.remove(child)
        pre.attrib.clear()
        pre.text, pre.tail = None, tail
        code = pre.makeelement("code", {"class": f"language-{language}"} if language else {})
        code.text = f"{text}\n"
        pre.append(code)


def _language(pre: Any) -> str:
    around = [pre.getparent(), pre.getparent().getparent()] if pre.getparent() is not None else []
    for element in (*pre.iter("code"), pre, *(element for element in around if element is not None)):
        names = element.get("class", "")
        found = _LANGUAGE.search(names)
        name = element.get("data-lang") or element.get("data-language") or (found.group(1) if found else "")
        name = name or next(
            (language for language in names.split() if language.lower() in _BARE_LANGUAGES), ""
        )
        if name and name.lower() not in _NO_LANGUAGE:
            return re.sub(r"[^\w+#.-]", "", name)[:20].lower()
    return ""


def _prepare_tables(root: Any) -> None:
    """Tables that only lay out a page, and those around code blocks, become plain blocks."""
    for table in list(root.iter("table")):
        cells = [cell for cell in table.iter("td", "th") if _table_of(cell) is table]
        if _is_layout(table, cells):
            _unwrap_table(table, cells)


def _is_layout(table: Any, cells: list[Any]) -> bool:
    if table.get("role") in ("presentation", "none") or len(cells) < 2:
        return True
    return any(element.tag in _CELL_BLOCKS for cell in cells for element in cell.iterdescendants())


def _table_of(cell: Any) -> Any:
    return next(cell.iterancestors("table"), None)


def _unwrap_table(table: Any, cells: list[Any]) -> None:
    for cell in cells:
        if _LINE_NUMBERS.search(cell.get("class", "")):
            remove(cell)
        cell.tag = "div"
    for part in list(table.iter("tr", "tbody", "thead", "tfoot", "caption", "colgroup")):
        if _table_of(part) is table or part.tag == "caption":
            part.tag = "div"
    table.tag = "div"


def _prepare_terms(root: Any) -> None:
    """Definition lists have no Markdown: terms in bold, definitions as paragraphs."""
    for term in list(root.iter("dt")):
        if (
            "".join(term.itertext()).strip()
            and next(term.iter("h1", "h2", "h3", "h4", "h5", "h6"), None) is None
        ):
            _wrap_inside(term, "strong")
        term.tag = "p"
    for element in list(root.iter("summary")):
        if next(element.iter("h1", "h2", "h3", "h4", "h5", "h6"), None) is None:
            _wrap_inside(element, "strong")
    for element in list(root.iter("dd", "dl", "details", "summary")):
        element.tag = "div"
    for formula in list(root.iter("math")):
        text = formula.get("alttext") or "".join(formula.itertext())
        formula.clear(keep_tail=True)
        formula.tag, formula.text = "span", " ".join(text.split())


def _wrap_inside(element: Any, tag: str) -> None:
    if any(
        child.tag in ("p", "div", "pre", "ul", "ol", "strong", "b") for child in element.iterdescendants()
    ):
        return
    wrapper = element.makeelement(tag)
    wrapper.text, element.text = element.text, None
    for child in list(element):
        wrapper.append(child)
    element.append(wrapper)


def _number_links(root: Any, url: str) -> list[PageLink]:
    """Give every link of the web its number; other links keep only their text."""
    numbers: dict[str, int] = {}
    links: list[PageLink] = []
    for element in list(root.iter("a")):
        text = one_line(" ".join(element.itertext()), 80)
        target = web_address(url, element.get("href", ""))
        if not target or not text or _is_same_page(target, url) or len(links) >= MAX_LINKS:
            element.drop_tag()
            continue
        if target not in numbers:
            numbers[target] = len(links) + 1
            links.append(PageLink(number=numbers[target], text=text, url=target))
        element.attrib.clear()
        element.set("href", f"toolcrib-link:{numbers[target]}")
    return links


def _is_same_page(target: str, page: str) -> bool:
    return "#" in target and without_fragment(target) == without_fragment(page)


def _clean_attributes(root: Any) -> None:
    """Only what rendering needs: a title or an id would end up in the text."""
    for element in root.iter():
        if not element.attrib or element.tag in ("a", "code"):
            continue
        kept = {
            name: element.get(name)
            for name in ("colspan", "rowspan", "start", "alt", "src")
            if element.get(name)
        }
        element.attrib.clear()
        for name, value in kept.items():
            element.set(name, value)
