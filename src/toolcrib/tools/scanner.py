"""Scans a definition for known ways to mislead a model: hidden text, orders, steering away from other tools.

Works offline on every text of the definition. A tool with findings is held until the user has reviewed it: an
honest text may look suspicious. A description may name its own parameters and its server's own tools.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from toolcrib.tools.orders import orders
from toolcrib.tools.plain_text import HIDDEN, ORDINARY, encoded_sentence, plain_text
from toolcrib.tools.steering import known_names, steering

MAX_TEXT = 200_000
_SHOWN = 80
_TERMINAL = re.compile(r"[\x1b\x9b\x00-\x08\x0e-\x1f]")
_ENCODED = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{120,}={0,2}(?![A-Za-z0-9+/=])")
_WORD = re.compile(r"[A-Za-z0-9_$]{1,20}", re.ASCII)
"""Too short to say anything; most texts of a schema are such words."""
_COMMENT = re.compile(r"<!--.{0,400}", re.DOTALL)
_BLANK = re.compile(r"(?:[ \t\u00a0\u3000]{200,}|(?:[^\S\n]*\n){40,})\S")


def scan(
    definition: Mapping[str, Any], *, own: Collection[str] = (), others: Collection[str] = ()
) -> list[str]:
    """Findings, one sentence each, naming the part of the definition.

    `own` are the names of its server's tools, `others` those of all other servers.
    """
    findings: dict[str, None] = {}
    known = known_names(definition, own, others)
    for part, text in _texts(definition):
        if _WORD.fullmatch(text):
            continue
        cut = text[:MAX_TEXT]
        findings.update(dict.fromkeys(f"{part}: {found}" for found in _findings(cut)))
        if part == "name":
            continue
        for what, words in steering(plain_text(cut), known):
            findings[f"{part}: {what}: “{revealed(words)}”."] = None
    name = definition.get("name")
    if isinstance(name, str) and _mixes_scripts(name):
        findings[f"name: {revealed(name)} mixes letters of different scripts that look alike."] = None
    return list(findings)


def revealed(text: str) -> str:
    """The text as one short line, with invisible characters as code points."""
    cut = " ".join(text.split())[:_SHOWN]
    return "".join(
        f"\\u{{{ord(sign):x}}}" if HIDDEN.match(sign) or not sign.isprintable() else sign for sign in cut
    )


def _texts(value: Any, part: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a definition with its path; suspicious keys are texts too."""
    if isinstance(value, str):
        yield part or "definition", value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            where = f"{part}.{key}" if part else str(key)
            if " " in str(key) or HIDDEN.search(str(key)) or len(str(key)) > _SHOWN:
                yield f"a key of {part or 'the definition'}", str(key)
            yield from _texts(inner, where[:120])
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner, part)


def _findings(text: str) -> Iterator[str]:
    hidden = [] if text.isascii() else HIDDEN.findall(ORDINARY.sub("", text))
    if hidden:
        points = ", ".join(dict.fromkeys(f"U+{ord(sign):04X}" for sign in hidden[:5]))
        yield f"contains {len(hidden)} invisible characters ({points})."
    if _TERMINAL.search(text):
        yield "contains terminal control characters."
    for what, words in orders(plain_text(text)):
        yield f"{what}: “{revealed(words)}”."
    comment = _COMMENT.search(text)
    if comment is not None:
        yield f"contains a comment that a page would not show: “{revealed(comment.group())}”."
    if _BLANK.search(text):
        yield "continues after a long blank space."
    if _ENCODED.search(text):
        yield "contains a long encoded text."
    elif sentence := encoded_sentence(text):
        yield f"contains an encoded text: “{revealed(sentence)}”."


def _mixes_scripts(name: str) -> bool:
    scripts = {
        unicodedata.name(letter, "?").split()[0]
        for letter in unicodedata.normalize("NFKC", name)
        if letter.isalpha()
    }
    return len(scripts & {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}) > 1
