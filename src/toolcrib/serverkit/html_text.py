"""Turns HTML that others wrote into plain text, without what a browser would not show: which elements are
skipped or break lines, and which styles and colors hide text."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

from toolcrib.serverkit.visible_text import visible

_SKIPPED = frozenset({"script", "style", "head", "title", "template", "noscript", "object", "svg", "iframe"})
_VOID = frozenset(
    {"br", "img", "hr", "meta", "link", "input", "area", "base", "col", "embed", "source", "wbr"}
)
_PARAGRAPHS = frozenset({"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table", "blockquote", "pre"})
_LINES = frozenset(
    {"div", "tr", "li", "section", "article", "header", "footer", "dt", "dd", "center", "address"}
)
_CLOSES = {"li": ("li",), "tr": ("tr",), "td": ("td", "th"), "th": ("td", "th"), "p": ("p",)}
"""Tags that end an open one of these, although its end tag is missing."""
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(hidden|collapse)|mso-hide\s*:\s*all|opacity\s*:\s*0*(\.0+)?\s*(;|!|$)|"
    r"font-size\s*:\s*0*(\.0+)?(px|pt|em|rem|%)?\s*(;|!|$)|max-height\s*:\s*0(px)?\s*(;|!|$)|"
    r"(?<![\w-])(left|top|text-indent)\s*:\s*-\d{3,}|clip\s*:\s*rect\(\s*0|transform\s*:\s*scale\(\s*0\s*\)",
    re.IGNORECASE,
)
_COLOR = re.compile(r"(?<![\w-])color\s*:\s*([^;!]+)", re.IGNORECASE)
_BACKGROUND = re.compile(r"background(?:-color)?\s*:\s*([^;!]+)", re.IGNORECASE)
_COLORS = {"white": "#ffffff", "#fff": "#ffffff", "black": "#000000", "#000": "#000000", "transparent": ""}
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_TAIL = 64
"""Characters at the end of a piece that decide about line breaks; a piece can have millions."""


def html_to_text(html: str) -> str:
    """Paragraphs, lists, tables row by row, and links with their address."""
    reader = _Reader()
    try:
        reader.feed(_without_open_end(html))
        reader.close()
    except (AssertionError, ValueError):  # declarations that the parser does not understand
        pass
    text = visible("".join(reader.pieces)).replace("\xa0", " ")
    lines = [re.sub(r"[ \t]+", " ", line).strip() for line in text.split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _without_open_end(html: str) -> str:
    """The same with no tag begun after the last `>`: the parser would read to the end for each of them."""
    end = html.rfind(">") + 1
    return html[:end] + html[end:].replace("<", "&lt;")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._open: list[tuple[str, bool, str]] = []
        """Tag, whether its text is hidden, and the background behind it."""
        self._count: Counter[str] = Counter()
        """How many of each tag are open, so that deep nesting costs no search."""
        self._links: list[tuple[str, int]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._open and self._open[-1][0] in _CLOSES.get(tag, ()):
            self.handle_endtag(self._open[-1][0])
        given = {name: value or "" for name, value in attrs}
        if tag not in _VOID:
            self._open.append((tag, self._hidden or self._hides(tag, given), self._behind(given)))
            self._count[tag] += 1
        if self._hidden:
            return
        self._break_before(tag)
        if tag == "a":
            self._links = [(given.get("href", ""), len(self.pieces))]  # a link ends where the next begins
        elif tag == "img" and given.get("alt", "").strip() and not self._hides(tag, given):
            self.pieces.append(f"[{given['alt'].strip()}]")

    def handle_endtag(self, tag: str) -> None:
        if not self._count[tag]:
            return
        if not self._hidden:
            self._end(tag)
        closed = ""
        while closed != tag:
            closed, _, _ = self._open.pop()
            self._count[closed] -= 1

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        self.pieces.append(data if self._count["pre"] else re.sub(r"\s+", " ", data))

    @property
    def _hidden(self) -> bool:
        return bool(self._open) and self._open[-1][1]

    def _hides(self, tag: str, given: dict[str, str]) -> bool:
        style = _COMMENT.sub("", given.get("style", ""))
        if tag in _SKIPPED or "hidden" in given or _HIDING.search(style):
            return True
        color = _COLOR.search(style)
        shade = _shade(color[1] if color else given.get("color", ""))
        return bool(shade) and shade == (self._behind(given) or "#ffffff")

    def _behind(self, given: dict[str, str]) -> str:
        match = _BACKGROUND.search(given.get("style", ""))
        found = _shade(match[1] if match else given.get("bgcolor", ""))
        return found or (self._open[-1][2] if self._open else "")

    def _break_before(self, tag: str) -> None:
        if tag == "br":
            self.pieces.append("\n")
        else:
            self._start_line(tag)
        if tag == "li":
            self.pieces.append("- ")
        elif tag in ("td", "th") and self._tail and not self._tail.endswith("\n"):
            self.pieces.append(" | ")

    def _end(self, tag: str) -> None:
        if tag == "a" and self._links:
            href, start = self._links.pop()
            shown = "".join(self.pieces[start:]).strip()
            if href.startswith(("http://", "https://", "mailto:")) and href.removeprefix("mailto:") != shown:
                self.pieces.append(f" ({href[:500]})")
        else:
            self._start_line(tag)

    def _start_line(self, tag: str) -> None:
        """Once, however many elements begin or end here."""
        wanted = 2 if tag in _PARAGRAPHS else 1 if tag in _LINES or tag == "hr" else 0
        missing = wanted - (len(self._tail) - len(self._tail.rstrip("\n")))
        if missing > 0:
            self.pieces.append("\n" * missing)

    @property
    def _tail(self) -> str:
        return "".join(piece[-_TAIL:] for piece in self.pieces[-4:]).replace(" ", "")


def _shade(text: str) -> str:
    """A colour in one form; empty if unknown."""
    name = re.sub(r"\s+", "", text.strip().lower())
    if match := re.fullmatch(r"rgba?\((\d+),(\d+),(\d+)(?:,[\d.]+)?\)", name):
        return "#" + "".join(f"{min(int(number), 255):02x}" for number in match.groups())
    name = _COLORS.get(name, name)
    if re.fullmatch(r"#[0-9a-f]{3}", name):
        return "#" + "".join(digit * 2 for digit in name[1:])
    return name if re.fullmatch(r"#[0-9a-f]{6}", name) else ""
