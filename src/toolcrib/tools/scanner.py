"""Looks a definition over for the known tricks by which a tool could lead a model astray; offline, by rule.

Every text of the definition is read, not only the description. What is found is shown to the person; nothing
is refused for it, since an honest text may look suspicious.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from toolcrib.tools.steering import steering

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
            "gives orders for the use of other tools",
            r"\b(?:before|after|whenever|instead of)\b.{0,30}\b(?:us(?:e|ing)|call(?:ing)?|invok(?:e|ing))\b"
            r".{0,25}\b(?:other|another|any|every|all)\b.{0,15}\btools?\b",
        ),
        (
            "wants private files or keys read",
            r"(?:~|\$HOME|/(?:home|root|etc)/)\S{0,40}(?:\.ssh|id_rsa|id_ed25519|\.aws|\.env\b|passwd|shadow|"
            r"credentials|mcp\.json|\.gnupg)|\b(?:read|send|pass|include|attach)\b.{0,60}(?:\bid_rsa\b|\.ssh/|"
            r"\bprivate key|\bapi[ _-]?keys?\b.{0,20}\b(?:as|in|to)\b)",
        ),
        (
            "speaks as if it were the system",
            r"<\s*/?\s*(?:important|system|instructions?|secret|assistant|critical)\s*>|\[(?:system|inst)\]|"
            r"^\s*(?:system|assistant)\s*:|\byou (?:must|are required to)\b.{0,30}\b(?:always|first)\b.{0,30}"
            r"\b(?:call|use)\b",
        ),
        (
            "wants the conversation passed on",
            r"\b(?:send|forward|pass|include|attach|append|provide)\b.{0,40}\b(?:entire|full|whole|complete|previous|"
            r"conversation|chat)\b.{0,20}\b(?:conversation|history|context|messages|prompt)\b",
        ),
    )
)


def scan(
    definition: Mapping[str, Any], *, own: Collection[str] = (), others: Collection[str] = ()
) -> list[str]:
    """What was found, one sentence each, naming the part of the definition; empty when nothing was.

    `own` are the names of the tools of its server, `others` those of all other servers.
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
    """The text cut to a line, with what would not be seen written as code points."""
    cut = " ".join(text.split())[:_SHOWN]
    return "".join(
        f"\\u{{{ord(one):x}}}" if _HIDDEN.match(one) or not one.isprintable() else one for one in cut
    )


def _texts(value: Any, part: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a definition with where it stands; keys are texts too."""
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
        yield f"{part}: holds {len(hidden)} characters that nobody sees ({points})."
        text = _decoded(text)
    if _TERMINAL.search(text):
        yield f"{part}: holds control characters that a terminal would obey."
    for what, pattern in _ORDERS:
        match = pattern.search(text)
        if match:
            yield f"{part}: {what}: “{revealed(match.group())}”."
    if _ENCODED.search(text):
        yield f"{part}: holds a long encoded text that nobody can read."


def _readable(text: str) -> str:
    """The text as a model reads it."""
    return _decoded(text) if _HIDDEN.search(text) else text


def _decoded(text: str) -> str:
    """Tag characters say ASCII in a way that only a model reads; the rest of what is hidden falls away."""
    tags = "".join(chr(ord(one) - 0xE0000) for one in text if 0xE0020 <= ord(one) <= 0xE007E)
    return f"{_HIDDEN.sub('', text)}\n{tags}"


def _mixes_scripts(name: str) -> bool:
    scripts = {
        unicodedata.name(one, "?").split()[0] for one in unicodedata.normalize("NFKC", name) if one.isalpha()
    }
    return len(scripts & {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}) > 1
