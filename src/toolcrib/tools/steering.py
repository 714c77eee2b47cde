"""Finds descriptions that steer a model away from the tools of other servers, or name those tools.

A server's own tools and a tool's own parameters may be named: "use list_directory instead" is good advice
where both belong to one server.
"""

from __future__ import annotations

import re
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
    """What is wrong with a text of the definition, and the words that show it.

    `own` are the names of the server's own tools, `others` those of all other servers.
    """
    familiar = {*own, *_parameters(definition), str(definition.get("name"))}
    for match in _AWAY.finditer(text):
        away_from = _CLAUSE.split(match.group(1))[0]
        if _GENERAL.match(away_from) or _strangers(away_from, familiar, others):
            yield "steers the model away from other tools", _shown(match, away_from)
    for match in _RUN_DOWN.finditer(text):
        if _plain(match.group(1)) in others and _plain(match.group(1)) not in familiar:
            yield "speaks ill of another server's tool", match.group()
    for match in _INSISTING.finditer(text):
        yield "steers the model away from other tools", match.group()
    named = [name for name in _names(text) if name in others and name not in familiar and _is_distinct(name)]
    if named:
        yield "names tools of another server", ", ".join(dict.fromkeys(named[:_MOST_NAMED]))


def _strangers(words: str, familiar: Collection[str], others: Collection[str]) -> bool:
    """Whether the words name something that is a tool, and none of the server's own.

    A name that is a word like any other counts only where a tool must stand: "instead of search".
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
    """Written as programs write names, and not as people write words."""
    return "_" in name.strip("_") or re.search(r"[a-z][A-Z]", name) is not None


def _is_distinct(name: str) -> bool:
    """A name that nobody uses for anything else; `search` is a word like any other."""
    return _is_identifier(name) or "-" in name


def _parameters(schema: Any, depth: int = 0) -> Iterator[str]:
    """The names of parameters and their values, wherever they stand in a definition."""
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
