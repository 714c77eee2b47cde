"""Scans a definition for known ways to mislead a model: hidden text, orders, steering away from other tools.

Works offline on every text of the definition. Findings are shown to the user and block nothing, since an
honest text may look suspicious. A description may name its own parameters and its server's own tools.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import Any

_AWAY = re.compile(
    r"\b(?:instead\s+of|rather\s+than|in\s+(?:place|preference)\s+(?:of|to)|replac(?:es|ing)|supersed(?:es|ing)"
    r"|prefer(?:red|able)?\s+(?:this\s+|it\s+)?(?:tool\s+)?(?:over|to)"
    r"|(?:do\s+not|don['\u2019]?t|never|avoid|stop|must\s+not|mustn['\u2019]?t|should\s+not|shouldn['\u2019]?t|no\s+longer)"
    r"\s+(?:ever\s+)?(?:us(?:e|ing)|call(?:ing)?|invok(?:e|ing)|rely(?:ing)?\s+on|trust(?:ing)?))\s+(.{1,80})",
    re.IGNORECASE | re.DOTALL,
)
_RUN_DOWN = re.compile(
    r"([\w.\-]+)[`'\"]?\s+(?:tool\s+|server\s+)?(?:is|are|has\s+been|was)\s+(?:now\s+)?"
    r"(?:deprecated|obsolete|broken|unsafe|insecure|disabled|unreliable|outdated|replaced|retired|compromised)",
    re.IGNORECASE,
)
_GENERAL = re.compile(
    r"\A(?:using\s+|calling\s+|the\s+|your\s+)*(?:any|all|every|other|another|built-?in|default|native|existing)\b"
    r"[^.;]{0,30}\b(?:tools?|servers?|functions?|plugins?)\b",
    re.IGNORECASE,
)
_INSISTING = re.compile(
    r"\b(?:always|only)\s+(?:use|call|choose|prefer)\s+(?:this|it)\b[^.]{0,40}"
    r"\b(?:instead|over|other|another|not)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z][\w\-]*(?:[./][\w\-]+)*")
_CLAUSE = re.compile(r"[.;:!?](?:\s|\Z)|\n\n")
_FILLING = frozenset({"a", "an", "calling", "invoking", "the", "tool", "using", "your"})
_MOST_NAMED = 3


def steering(
    text: str, definition: Mapping[str, Any], own: Collection[str], others: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Findings in one text, each with the words that show it.

    `own` are the names of the server's own tools, `others` those of all other servers.
    """
    familiar = {*own, *_parameters(definition), str(definition.get("name"))}
    for match in _AWAY.finditer(text):
        away_from = _CLAUSE.split(match.group(1))[0]
        if _GENERAL.match(away_from) or _strangers(away_from, familiar, others):
            yield "steers the model away from other tools", _shown(match, away_from)
    for match in _RUN_DOWN.finditer(text):
        if _plain(match.group(1)) in others and _plain(match.group(1)) not in familiar:
            yield "discredits another server's tool", match.group()
    for match in _INSISTING.finditer(text):
        yield "steers the model away from other tools", match.group()
    named = [name for name in _names(text) if name in others and name not in familiar and _is_distinct(name)]
    if named:
        yield "names tools of another server", ", ".join(dict.fromkeys(named[:_MOST_NAMED]))


def _strangers(words: str, familiar: Collection[str], others: Collection[str]) -> bool:
    """Whether the words name a tool that is not the server's own.

    An ordinary word counts only where a tool is expected: "instead of search".
    """
    names = [name for name in _names(words) if name.lower() not in _FILLING]
    first = names[0] if names else ""
    if first in others and first not in familiar:
        return True
    return any(_is_identifier(name) and name not in familiar for name in names)


def _names(text: str) -> Iterator[str]:
    return (_plain(name) for name in _NAME.findall(text))


def _plain(name: str) -> str:
    return name.strip("`'\".,-/")


def _is_identifier(name: str) -> bool:
    """Whether it is written like an identifier rather than a word."""
    return "_" in name.strip("_") or re.search(r"[a-z][A-Z]", name) is not None


def _is_distinct(name: str) -> bool:
    """Whether it is unlikely to mean anything but a tool; `search` is an ordinary word."""
    return _is_identifier(name) or "-" in name


def _parameters(schema: Any, depth: int = 0) -> Iterator[str]:
    """Names and values of parameters, anywhere in a definition."""
    if depth > 12:
        return
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            if key in ("properties", "$defs", "definitions") and isinstance(value, Mapping):
                yield from map(str, value)
            if key in ("enum", "const", "default", "required"):
                yield from map(str, value if isinstance(value, list) else [value])
            yield from _parameters(value, depth + 1)
    elif isinstance(schema, list):
        for one in schema:
            yield from _parameters(one, depth + 1)


def _shown(match: re.Match[str], until: str) -> str:
    return match.group()[: match.start(1) - match.start()] + until


MAX_TEXT = 200_000
_SHOWN = 80
_HIDDEN = re.compile(
    "[\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_VISIBLE = "[^\x00-\x7f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
_ORDINARY = re.compile(
    f"(?<={_VISIBLE})[\u200c\u200d\ufe0f](?={_VISIBLE})"  # joins emoji, and letters of many scripts
    "|(?<=[\u0590-\u08ff])[\u200e\u200f]|[\u200e\u200f](?=[\u0590-\u08ff])"
    "|(?<=\U0001f3f4)[\U000e0061-\U000e007a]{2,6}\U000e007f"  # flags of regions
)
_TERMINAL = re.compile(r"[\x1b\x9b\x00-\x08\x0e-\x1f]")
_ENCODED = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{120,}={0,2}(?![A-Za-z0-9+/=])")
_ORDERS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (what, re.compile(pattern, re.IGNORECASE | re.DOTALL))
    for what, pattern in (
        (
            "tells the model to disregard other instructions",
            r"\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:previous|prior|above|earlier|other|system|all)\b"
            r".{0,20}\b(?:instruction|prompt|rule|message|polic)",
        ),
        (
            "asks for something to be kept from the user",
            r"\b(?:do not|don't|never|without)\b.{0,20}\b(?:tell|inform|mention|notify|reveal|show|alert|ask)"
            r"(?:ing)?\b.{0,40}\b(?:user|human|person|anyone)\b",
        ),
        (
            "tells the model when to use other tools",
            r"\b(?:before|after|whenever|instead of)\b.{0,30}\b(?:us(?:e|ing)|call(?:ing)?|invok(?:e|ing))\b"
            r".{0,25}\b(?:other|another|any|every|all)\b.{0,15}\btools?\b",
        ),
        (
            "asks for private files or keys",
            r"(?:~|\$HOME|/(?:home|root|etc)/)\S{0,40}(?:\.ssh|id_rsa|id_ed25519|\.aws|\.env\b|passwd|shadow|"
            r"credentials|mcp\.json|\.gnupg)|\b(?:read|send|pass|include|attach)\b.{0,60}(?:\bid_rsa\b|\.ssh/|"
            r"\bprivate key|\bapi[ _-]?keys?\b.{0,20}\b(?:as|in|to)\b)",
        ),
        (
            "imitates a system message",
            r"<\s*/?\s*(?:important|system|instructions?|secret|assistant|critical)\s*>|\[(?:system|inst)\]|"
            r"^\s*(?:system|assistant)\s*:|\byou (?:must|are required to)\b.{0,30}\b(?:always|first)\b.{0,30}"
            r"\b(?:call|use)\b",
        ),
        (
            "asks for the conversation",
            r"\b(?:send|forward|pass|include|attach|append|provide)\b.{0,40}\b(?:entire|full|whole|complete|previous|"
            r"conversation|chat)\b.{0,20}\b(?:conversation|history|context|messages|prompt)\b",
        ),
    )
)


def scan(
    definition: Mapping[str, Any], *, own: Collection[str] = (), others: Collection[str] = ()
) -> list[str]:
    """Findings, one sentence each, naming the part of the definition.

    `own` are the names of its server's tools, `others` those of all other servers.
    """
    findings: dict[str, None] = {}
    for part, text in _texts(definition):
        findings.update(dict.fromkeys(_findings(part, text[:MAX_TEXT])))
        if part == "name":
            continue
        for what, words in steering(_readable(text[:MAX_TEXT]), definition, own, others):
            findings[f"{part}: {what}: “{revealed(words)}”."] = None
    name = definition.get("name")
    if isinstance(name, str) and _mixes_scripts(name):
        findings[f"name: {revealed(name)} mixes letters of different scripts that look alike."] = None
    return list(findings)


def revealed(text: str) -> str:
    """The text as one short line, with invisible characters as code points."""
    cut = " ".join(text.split())[:_SHOWN]
    return "".join(
        f"\\u{{{ord(one):x}}}" if _HIDDEN.match(one) or not one.isprintable() else one for one in cut
    )


def _texts(value: Any, part: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a definition with its path; suspicious keys are texts too."""
    if isinstance(value, str):
        yield part or "definition", value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            where = f"{part}.{key}" if part else str(key)
            if _HIDDEN.search(str(key)) or len(str(key)) > _SHOWN:
                yield f"a key of {part or 'the definition'}", str(key)
            yield from _texts(inner, where[:120])
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner, part)


def _findings(part: str, text: str) -> Iterator[str]:
    hidden = _HIDDEN.findall(_ORDINARY.sub("", text))
    if hidden:
        points = ", ".join(dict.fromkeys(f"U+{ord(one):04X}" for one in hidden[:5]))
        yield f"{part}: contains {len(hidden)} invisible characters ({points})."
        text = _decoded(text)
    if _TERMINAL.search(text):
        yield f"{part}: contains terminal control characters."
    for what, pattern in _ORDERS:
        match = pattern.search(text)
        if match:
            yield f"{part}: {what}: “{revealed(match.group())}”."
    if _ENCODED.search(text):
        yield f"{part}: contains a long encoded text."


def _readable(text: str) -> str:
    return _decoded(text) if _HIDDEN.search(text) else text


def _decoded(text: str) -> str:
    """Tag characters, which only a model reads, as ASCII; other hidden characters are removed."""
    tags = "".join(chr(ord(one) - 0xE0000) for one in text if 0xE0020 <= ord(one) <= 0xE007E)
    return f"{_HIDDEN.sub('', text)}\n{tags}"


def _mixes_scripts(name: str) -> bool:
    scripts = {
        unicodedata.name(one, "?").split()[0] for one in unicodedata.normalize("NFKC", name) if one.isalpha()
    }
    return len(scripts & {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}) > 1
