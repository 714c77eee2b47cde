"""Builds the site of the documentation: docs/*.md as HTML with navigation, highlighted code and an index for
its search, into the package, unless the built site is newer than its sources.

    python scripts/build_docs.py             builds if needed
    python scripts/build_docs.py --check     exits with 0 if the site is up to date

Needs only Python with markdown-it-py and Pygments, which Toolcrib itself depends on through rich. The
navigation is the lists of docs/index.md. The site works in any folder and at any address: its links are
relative.
"""

from __future__ import annotations

import json
import posixpath
import re
import shutil
import string
import sys
from collections.abc import Iterator
from functools import cached_property
from html import escape
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

ROOT = Path(__file__).resolve().parents[1]
BESIDE = ("CONTRIBUTING.md", "CHANGELOG.md")
ASSETS = (
    "frontend/docs/docs.css",
    "frontend/docs/docs.js",
    "frontend/src/styles/tokens.css",
    "frontend/public/theme.js",
    "frontend/public/icon.svg",
)
LAYOUT = "frontend/docs/page.html"
UNSEARCHED = {"files", "changelog"}
"""Pages whose many sections would hide all others among the results."""
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_LANGUAGES = {"jsonc": "json", "sh": "bash"}


def built(root: Path = ROOT) -> Path:
    """The folder of the built site."""
    return root / "src" / "toolcrib" / "web" / "static_docs"


def is_current(root: Path = ROOT) -> bool:
    index = built(root) / "index.html"
    if not index.is_file():
        return False
    made = index.stat().st_mtime
    return all(file.stat().st_mtime <= made for file in _sources(root))


def _sources(root: Path) -> Iterator[Path]:
    yield from _pages(root)
    yield from (root / name for name in (*ASSETS, LAYOUT, "scripts/build_docs.py"))


def _pages(root: Path) -> list[Path]:
    return [*sorted((root / "docs").rglob("*.md")), *(root / name for name in BESIDE)]


def build(root: Path = ROOT) -> None:
    """Build the site beside the present one, and replace that when it is complete."""
    folder = built(root).with_name(".static-docs-new")
    shutil.rmtree(folder, ignore_errors=True)
    write(root, folder)
    shutil.rmtree(built(root), ignore_errors=True)
    folder.rename(built(root))
    # Not older than its sources, even on a file system with coarse timestamps.
    (built(root) / "index.html").touch()


def write(root: Path, folder: Path) -> None:
    """Write the site into a folder."""
    pages = {source: Page(source, root) for source in _pages(root)}
    layout = string.Template((root / LAYOUT).read_text(encoding="utf-8"))
    groups = _groups(pages[root / "docs" / "index.md"], pages)
    sections: list[list[str]] = []
    for page in pages.values():
        file = folder / page.address
        file.parent.mkdir(parents=True, exist_ok=True)
        body = page.html(pages)
        values = {"title": escape(page.title), "root": page.root, "body": body, "pages": _menu(page, groups)}
        file.write_text(layout.substitute(values), encoding="utf-8")
        sections += [] if page.name in UNSEARCHED else page.sections()
    listed = [{"title": page.title, "path": page.address} for page in pages.values()]
    for name, content in (("search.json", sections), ("pages.json", listed)):
        (folder / name).write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")))
    for asset in ASSETS:
        shutil.copyfile(root / asset, folder / Path(asset).name)


class Page:
    """One page of the site, parsed."""

    def __init__(self, source: Path, root: Path) -> None:
        self.source = source
        inside = source.is_relative_to(root / "docs")
        self.name = (
            source.relative_to(root / "docs").with_suffix("").as_posix() if inside else source.stem.lower()
        )
        self.address = f"{self.name}.html"
        self.root = "../" * self.name.count("/")

    @cached_property
    def tokens(self) -> list[Token]:
        tokens = _MARKDOWN.parse(_COMMENT.sub("", self.source.read_text(encoding="utf-8")))
        used: dict[str, int] = {}
        for heading, content in _headings(tokens):
            slug = re.sub(r"[^\w\- ]", "", _plain(content).lower()).replace(" ", "-")
            used[slug] = used.get(slug, -1) + 1
            heading.attrSet("id", f"{slug}-{used[slug]}" if used[slug] else slug)
        return tokens

    @cached_property
    def title(self) -> str:
        return next((_plain(content) for _, content in _headings(self.tokens)), self.name)

    def html(self, pages: dict[Path, Page]) -> str:
        """The body, with links to other pages as the site has them."""
        for token in self.tokens:
            inside = token.children or []
            for opening, link in enumerate(inside):
                if link.type == "link_open" and not self._follow(link, pages):
                    closing = next(
                        at for at in range(opening, len(inside)) if inside[at].type == "link_close"
                    )
                    inside[opening] = inside[closing] = Token("html_inline", "", 0)
        body = str(_MARKDOWN.renderer.render(self.tokens, _MARKDOWN.options, {}))
        return body.replace("<th></th>", "<td></td>")  # an empty heading says nothing to a screen reader

    def _follow(self, link: Token, pages: dict[Path, Page]) -> bool:
        """Point the link at the site's page; false if it leads to a file that the site does not have."""
        target, mark, anchor = str(link.attrGet("href")).partition("#")
        if not target or ":" in target:
            return True
        page = pages.get((self.source.parent / target).resolve())
        if page is None:
            return False
        link.attrSet("href", self.way_to(page.address) + mark + anchor)
        return True

    def way_to(self, address: str) -> str:
        return posixpath.relpath(address, posixpath.dirname(self.address) or ".")

    def sections(self) -> list[list[str]]:
        """What the search looks through: title, heading, address and text of each section."""
        found: list[list[str]] = []
        for at, token in enumerate(self.tokens):
            if token.type == "heading_open":
                anchor = f"#{token.attrGet('id')}" if found else ""
                heading = _plain(self.tokens[at + 1]) if found else ""
                found.append([self.title, heading, self.address + anchor, ""])
            elif found and token.type in ("inline", "fence") and self.tokens[at - 1].type != "heading_open":
                found[-1][3] += (_plain(token) if token.children else token.content) + " "
        return [[title, heading, address, " ".join(text.split())] for title, heading, address, text in found]


class Group(NamedTuple):
    """A section of the navigation: a heading of the index and the pages that its lists name."""

    title: str
    pages: list[tuple[Page, str]]


def _groups(index: Page, pages: dict[Path, Page]) -> list[Group]:
    groups: list[Group] = []
    for at, token in enumerate(index.tokens):
        if token.type == "heading_open" and token.tag == "h2":
            groups.append(Group(_plain(index.tokens[at + 1]), []))
        elif groups and token.type == "inline" and token.level > 1:
            groups[-1].pages.extend(_linked(index, token, pages))
    return groups


def _linked(index: Page, line: Token, pages: dict[Path, Page]) -> Iterator[tuple[Page, str]]:
    inside = line.children or []
    for at, token in enumerate(inside):
        if token.type == "link_open":
            target = str(token.attrGet("href")).partition("#")[0]
            page = pages.get((index.source.parent / target).resolve())
            if page is not None and not page.root:
                yield page, inside[at + 1].content


def _menu(here: Page, groups: list[Group]) -> str:
    """The navigation, as HTML: every page, and the sections of this one."""
    lines = []
    for group in groups:
        lines.append(f"<h2>{escape(group.title)}</h2>\n<ul>")
        for page, label in group.pages:
            current = ' aria-current="page"' if page is here else ""
            link = f'<a href="{here.way_to(page.address)}"{current}>{escape(label)}</a>'
            lines.append(f"<li>{link}{_contents(page) if page is here else ''}</li>")
        lines.append("</ul>")
    return "\n".join(lines)


def _contents(page: Page) -> str:
    """The main sections of a page, as a list in HTML; nothing for a page without sections."""
    lines = [
        f'<li><a href="#{heading.attrGet("id")}">{escape(_plain(content))}</a></li>'
        for heading, content in _headings(page.tokens)
        if heading.tag == "h2"
    ]
    return f"<ul>{''.join(lines)}</ul>" if lines else ""


def _headings(tokens: list[Token]) -> Iterator[tuple[Token, Token]]:
    return ((token, tokens[at + 1]) for at, token in enumerate(tokens) if token.type == "heading_open")


def _plain(inline: Token) -> str:
    return "".join(" " if part.type == "softbreak" else part.content for part in inline.children or [])


def _code(code: str, language: str, _: str) -> str:
    try:
        lexer = get_lexer_by_name(_LANGUAGES.get(language, language) or "text")
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    inner = highlight(code, lexer, HtmlFormatter(nowrap=True))
    # Reached by Tab, so that the keyboard can scroll it.
    return f'<pre class="code" tabindex="0" data-language="{escape(language)}"><code>{inner}</code></pre>\n'


_MARKDOWN = MarkdownIt("commonmark", {"html": True, "highlight": _code}).enable("table")
_MARKDOWN.add_render_rule("table_open", lambda *_: '<div class="table" tabindex="0"><table>\n')
_MARKDOWN.add_render_rule("table_close", lambda *_: "</table></div>\n")


def main() -> int:
    if "--check" in sys.argv[1:]:
        return 0 if is_current() else 1
    if not is_current():
        print("Building the documentation.", file=sys.stderr)
        build()
    return 0


if __name__ == "__main__":
    sys.exit(main())
