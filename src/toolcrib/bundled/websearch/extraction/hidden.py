"""Removes from a page what its readers do not see: the usual place for instructions aimed at models. Has the
tags, styles, sizes and colors (such as white text) that count as hidden.

Covers attributes, inline styles and simple rules of style sheets inside the page. External style sheets are
not loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolcrib.bundled.websearch.extraction.document import listed

NEVER_SHOWN = listed(
    "script style template noscript noframes iframe frame object embed applet svg canvas audio "
    "video head title meta link base datalist param source track map area"
)
_ROOTS = frozenset(("html", "body", "main"))

_LENGTH = r"(?:px|pt|em|rem|ex|ch|vw|vh|%)?"
_HIDING = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|content-visibility:hidden"
    rf"|(?:^|;)font:[a-z]*(?:0|1(?=px|pt)){_LENGTH}/"
    rf"|font-size:(?:0*\.\d+|0+(?:\.0+)?|1(?=px|pt)){_LENGTH}(?![\d.a-z])"
    r"|(?:^|;)(?:left|right|top|bottom|text-indent|margin-left|margin-top|inset):-\d{3,}(?:px|pt|em|rem|ex|ch|vw|vh)"
    r"|(?:^|;)(?:left|right|top|bottom|text-indent):(?:-\d{4,}%|-[5-9]\d(?:em|rem)|calc\(-\d{4,}px\))"
    r"|(?:^|;)(?:left|right):(?:[5-9]\d{3}|\d{5,})px"
    r"|translate(?:x|y|3d)?\((?:[^)]*,)?-\d{3,}(?:px|em|rem|vw|vh)|scale(?:x|y|3d)?\((?:0|0*\.0\d*)\)"
    r"|clip:rect\((?:0(?:px)?|1px)[ ,]|clip-path:(?:inset\((?:50|100)%|circle\(0|polygon\(00)"
    rf"|(?:^|;)(?:max-)?(?:height|width):[01]?(?:\.\d+)?{_LENGTH}(?![\d.a-z])[^}}]*overflow:(?:hidden|clip)"
    rf"|overflow:(?:hidden|clip)[^}}]*;(?:max-)?(?:height|width):[01]?(?:\.\d+)?{_LENGTH}(?![\d.a-z])"
)
_TRANSPARENT = re.compile(r"(?:^|;)(?:opacity:(?:0+(?![\d.])|0*\.0(?!\d*[.%]))|filter:opacity\(0)")
_COLOUR = re.compile(r"(?:^|;)(?:-webkit-text-fill-)?color:([^;!]+)")
_BACKGROUND = re.compile(r"(?:^|;)background(?:-color|-image)?:([^;!]+)")
_WHITE = listed(
    "white snow #fff #ffff #ffffff #ffffffff #fefefe rgb(255,255,255) rgb(255255255) "
    "rgba(255,255,255,1) rgb(100%,100%,100%) hsl(0,0%,100%)"
)
_CLEAR = re.compile(r"transparent|rgba\([^)]*,0?\.?0*\)|#[0-9a-f]{3}0|#[0-9a-f]{6}00")
_CSS_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_RULE = re.compile(r"(?<![^{};])([^{};]++)\{([^{}]*)\}")
_CSS_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.IGNORECASE | re.DOTALL)
_CSS_STRING = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
_SHOWN_BLOCK = re.compile(
    r"@(?:media\s*(?:only\s+)?(?:all|screen)\s*|layer\b[^{};]*|supports\b(?!\s*not\b)[^{};]*)\{",
    re.IGNORECASE,
)
_SIMPLE = re.compile(r"(?:[a-zA-Z][\w-]*)?(?:[.#][\w-]+)?")
_MAX_STYLES = 300_000


def strip_hidden(tree: Any) -> None:
    """Remove every element that is not shown, with all that is inside it; text after it stays."""
    rules = frozenset(_hiding_rules(tree))
    for element in list(tree.iter()):
        if not isinstance(element.tag, str):
            remove(element)
        elif element.tag in NEVER_SHOWN:
            if element.getparent() is not None:
                remove(element)
        elif (element.attrib or element.tag == "dialog" or element.tag in rules) and _is_hidden(
            element, rules
        ):
            remove(element)


def remove(element: Any) -> None:
    """Take an element out of its tree; the text that follows it stays."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        previous = element.getprevious()
        if previous is None:
            parent.text = (parent.text or "") + element.tail
        else:
            previous.tail = (previous.tail or "") + element.tail
    parent.remove(element)


def _is_hidden(element: Any, rules: frozenset[str]) -> bool:
    given = element.attrib
    if element.tag in _ROOTS:
        return False  # hidden until scripts have run
    if "hidden" in given or "popover" in given or given.get("aria-hidden", "").strip().lower() == "true":
        return True
    if element.tag == "dialog" and "open" not in given:
        return True
    if given.get("type", "").lower() == "hidden":
        return True
    style = given.get("style")
    if style and _hides(element, _compact(style)):
        return True
    if "color" in given and _is_unseen_colour(element, given["color"].strip().lower(), ""):
        return True
    return bool(rules) and not rules.isdisjoint(_selectors(element))


def _hides(element: Any, style: str) -> bool:
    if _HIDING.search(style) or _TRANSPARENT.search(style):
        return True
    colour = _COLOUR.search(style)
    return colour is not None and _is_unseen_colour(element, colour.group(1), style)


def _is_unseen_colour(element: Any, colour: str, style: str) -> bool:
    """Text in the colour of what is behind it; a page without a named background is white."""
    if _CLEAR.fullmatch(colour):
        return "background-clip:text" not in style
    behind = _background(element)
    if behind is None:
        return colour in _WHITE
    return colour == behind or (colour in _WHITE and behind in _WHITE)


def _background(element: Any) -> str | None:
    while element is not None:
        found = _BACKGROUND.search(_compact(element.get("style", "")))
        if found and not _CLEAR.fullmatch(found.group(1)) and found.group(1) not in ("none", "inherit"):
            return found.group(1)
        if element.get("bgcolor"):
            return str(element.get("bgcolor")).strip().lower()
        element = element.getparent()
    return None


def _compact(style: str) -> str:
    style = style[:4000]
    if "/*" in style:
        style = _CSS_COMMENT.sub("", style)
    if "\\" in style:
        style = _CSS_ESCAPE.sub(_unescaped, style)
    return "".join(style.lower().split())


def _unescaped(escape: re.Match[str]) -> str:
    number, character = escape.groups()
    if number is None:
        return str(character)
    return chr(int(number, 16)) if int(number, 16) < 0x110000 else ""


def _selectors(element: Any) -> Iterator[str]:
    yield element.tag
    name = element.get("id")
    for selector in [f"#{name}"] if name else []:
        yield from (selector, f"{element.tag}{selector}")
    for css_class in element.get("class", "").split():
        yield from (f".{css_class}", f"{element.tag}.{css_class}")


def _hiding_rules(tree: Any) -> Iterator[str]:
    """Simple selectors (`p`, `.x`, `#x`, `p.x`) that a style sheet in the page hides on every screen.

    Opacity is left out here: style sheets use it for text that fades in.
    """
    styles = _CSS_COMMENT.sub("", "\n".join(element.text or "" for element in tree.iter("style")))
    # Comments of HTML are allowed around a style sheet, and strings may contain any bracket.
    plain = _CSS_STRING.sub("", styles[:_MAX_STYLES].replace("<!--", "").replace("-->", ""))
    for selectors, declarations in _RULE.findall(_without_at_rules(plain)):
        if _HIDING.search(_compact(declarations)):
            for selector in selectors.split(","):
                if selector.strip() and _SIMPLE.fullmatch(selector.strip()):
                    tag, mark, name = re.split(r"([.#]|$)", selector.strip(), maxsplit=1)
                    yield f"{tag.lower()}{mark}{name}"


def _without_at_rules(styles: str) -> str:
    """Style sheets without `@media {…}` blocks: what is hidden on paper or on a phone is still shown."""
    kept: list[str] = []
    position = 0
    while (start := styles.find("@", position)) >= 0:
        kept.append(styles[position:start])
        shown = _SHOWN_BLOCK.match(styles, start)
        position = shown.end() if shown else _end_of_at_rule(styles, start)
    return "".join([*kept, styles[position:]])


def _end_of_at_rule(styles: str, start: int) -> int:
    depth = 0
    for match in re.compile(r"[;{}]").finditer(styles, start):
        if match.group() == ";" and depth == 0:
            return match.end()
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if match.group() == "}" and depth <= 0:
            return match.end()
    return len(styles)
