"""Web pages: the article, the full page, or its raw text. Decides where title, author and date come from,
when a page needs scripts, and the notes about what is missing."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from toolcrib.bundled.websearch.extraction.boilerplate import prune
from toolcrib.bundled.websearch.extraction.content import Content, find_container, find_content
from toolcrib.bundled.websearch.extraction.decoding import decode
from toolcrib.bundled.websearch.extraction.document import (
    Extract,
    Unreadable,
    WebDocument,
    one_line,
    web_address,
)
from toolcrib.bundled.websearch.extraction.hidden import strip_hidden
from toolcrib.bundled.websearch.extraction.rendering import flatten_code, render, tidy

MEDIA_TYPES = ("text/html", "application/xhtml+xml")
_LITTLE_TEXT = 200
_LONGEST_TITLE = 1000
_SCRIPT_ROOTS = re.compile(
    r"^(?:root|app|__next|__nuxt|main-app|react-root|ember\d*|svelte|application|mount)$", re.I
)
_TITLES = ("og:title", "twitter:title")
_AUTHORS = ("author", "article:author", "dc.creator")
_DATES = ("article:published_time", "date", "dc.date", "og:published_time", "datepublished", "pubdate")


def read(document: WebDocument) -> Extract:
    """Extract the page in the mode that was asked for."""
    tree, problem = parse(decode(document.content, document.charset))
    extract = _metadata(tree)
    extract.note = problem
    has_scripts, scripted = next(tree.iter("script"), None) is not None, _runs_scripts(tree)
    document = replace(document, url=_address_of_links(tree, document.url))
    strip_hidden(tree)
    if document.mode == "raw":
        extract.text = _raw_text(tree)
    else:
        flatten_code(tree)
        content = find_content(tree, document.url) if document.mode == "article" else find_container(tree)
        extract.text, extract.links = _rendered(tree, content, document)
    if problem and not extract.text:
        raise Unreadable(problem)
    extract.needs_browser = len(extract.text) < (_LITTLE_TEXT if scripted else 1) and has_scripts
    return extract


def parse(text: str) -> tuple[Any, str]:
    """The tree of a page, and what the parser left out of it; raises `Unreadable` if it has no tree."""
    from lxml.etree import ParserError, XMLSyntaxError
    from lxml.html import HTMLParser, document_fromstring

    if not text.strip():
        raise Unreadable("The page is empty.")
    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False)
    try:
        tree = document_fromstring(text.replace("\x00", "").encode("utf-8", "replace"), parser)
    except (ParserError, XMLSyntaxError):
        raise Unreadable("The page has no content.") from None
    return tree, _left_out(parser.error_log)


def _left_out(errors: Any) -> str:
    """The parser stops at elements nested too deeply, and at texts of more than 10 MB."""
    said = " ".join(error.message for error in errors if error.level_name == "FATAL").lower()
    if "depth" in said:
        return "The page is nested too deeply; what follows that point is missing."
    if "huge" in said:
        return "The page has a text that is too long; it is missing."
    return ""


def _address_of_links(tree: Any, url: str) -> str:
    """What the page's links are relative to: the first `<base>` with an address, else its own address."""
    given = next((base.get("href") for base in tree.iter("base") if base.get("href")), "")
    return (web_address(url, given) if given else "") or url


def _rendered(tree: Any, content: Content, document: WebDocument) -> tuple[str, Any]:
    title = _title_block(tree, content)
    if title is not None:
        # Titles are often beside the text, in a block of their own.
        around = content.root.makeelement("div")
        content.root.addprevious(around)
        around.extend((title, content.root))
        content = replace(content, root=around)
    prune(content)
    return render(content.root, document.url, images=document.mode == "full")


def _title_block(tree: Any, content: Content) -> Any:
    """The element with the page's only first heading, if it is outside of what was chosen as content."""
    found = list(tree.iter("h1"))
    if len(found) != 1 or content.root in (found[0], *found[0].iterancestors()):
        return None
    around = set(content.root.iterancestors())
    if found[0] in around or _is_site_name(found[0]):
        return None
    block = found[0]
    while block.getparent() not in around:
        block = block.getparent()
    measure = content.measures[block]
    small = measure.text < _LONGEST_TITLE and measure.linked < measure.text * 0.3 and block.tag != "header"
    return block if small else found[0]


def _is_site_name(heading: Any) -> bool:
    """True for a heading that is only a link to the start of the site."""
    links = list(heading.iter("a"))
    text = "".join("".join(link.itertext()) for link in links).split()
    return bool(links) and text == "".join(heading.itertext()).split()


def _raw_text(tree: Any) -> str:
    from toolcrib.bundled.websearch.extraction.content import INLINE

    for element in tree.iter():
        if element.tag not in INLINE:
            element.tail = f"\n{element.tail or ''}"
            element.text = f"\n{element.text or ''}" if element.tag != "pre" else element.text
        elif element.tag == "br":
            element.tail = f"\n{element.tail or ''}"
    lines = (" ".join(line.split()) for line in "".join(tree.itertext()).split("\n"))
    return tidy(re.sub(r"\n{2,}", "\n", "\n".join(lines)))


def _metadata(tree: Any) -> Extract:
    named = {
        (meta.get("property") or meta.get("name") or meta.get("itemprop") or "").lower(): meta.get(
            "content", ""
        )
        for meta in tree.iter("meta")
    }
    title = _first(named, _TITLES) or "".join(tree.findtext(".//title") or "")
    return Extract(
        kind="page",
        text="",
        title=one_line(title, 300),
        author=one_line(_first(named, _AUTHORS), 120),
        published=one_line(_first(named, _DATES), 40),
        language=one_line(tree.get("lang", ""), 20),
    )


def _first(named: dict[str, str], keys: tuple[str, ...]) -> str:
    return next((named[key] for key in keys if named.get(key)), "")


def _runs_scripts(tree: Any) -> bool:
    """True if scripts build the page: an empty element that they fill, or a text that asks to enable them."""
    if next(tree.iter("script"), None) is None:
        return False
    for element in tree.iter("div", "main", "section", "article", "body"):
        name, empty = element.get("id", ""), not len(element) and not (element.text or "").strip()
        if _SCRIPT_ROOTS.match(name) or (name and empty):
            return True
    asked = " ".join("".join(element.itertext()).lower() for element in tree.iter("noscript"))
    return "javascript" in asked or len(list(tree.iter("script"))) > 2
