"""Finds texts that steer a model away from other servers' tools, or that are about these tools at all.

A definition may speak of its own server's tools and of its own parameters. The names of other servers' tools
are found in every language and spelling; advice without a name is found by its words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

AWAY = "steers the model away from other tools"
DISCREDITS = "discredits another server's tool"
NAMES = "names tools of another server"

_NOT = (
    r"(?:do(?:es)?\s+not|don['\u2019]?t|never|avoid|stop|must\s+not|mustn['\u2019]?t|should\s+not|shouldn['\u2019]?t"
    r"|cannot|can['\u2019]?t|no\s+longer|refrain\s+from|quit|cease|skip|bypass|ignore|disregard|forget(?:\s+about)?"
    r"|stay\s+away\s+from|steer\s+clear\s+of|don['\u2019]?t\s+bother\s+with|there\s+is\s+no\s+need\s+(?:for|to)|no\s+need\s+(?:for|to))"
)
_AWAY = re.compile(
    r"\b(?:instead\s+of|rather\s+than|in\s+(?:place|preference|lieu)\s+(?:of|to)|as\s+opposed\s+to|replac(?:es|ing)"
    r"|supersed(?:es|ing)|(?:a|the|drop-in|direct)\s+(?:replacement|substitute|alternative)\s+(?:for|to)"
    r"|(?:successor|superior|preferable)\s+(?:of|to)|(?:migrate|switch|move)\s+(?:away\s+)?from"
    r"|(?:better|faster|safer|cheaper|newer|stronger|smarter|more\s+\w+)\s+than"
    r"|prefer(?:red|able)?\s+(?:this\s+|it\s+)?(?:tool\s+)?(?:over|to)"
    rf"|{_NOT}\s+(?:ever\s+)?(?:us(?:e|ing)|call(?:ing)?|invok(?:e|ing)|run(?:ning)?|rely(?:ing)?\s+on|trust(?:ing)?|touch(?:ing)?)"
    r"|(?:skip|bypass|ignore|disregard|forget\s+about|distrust|avoid))\s+(.{1,80})",
    re.IGNORECASE | re.DOTALL,
)
_RUN_DOWN = re.compile(
    r"([\w.\-]+)[`'\"]?\s+(?:tool\s+|server\s+|function\s+)?(?:is|are|has\s+been|was|will\s+be|gets)\s+(?:now\s+|currently\s+)?"
    r"(?:deprecated|obsolete|broken|unsafe|insecure|disabled|unreliable|outdated|replaced|retired|compromised|slow\w*"
    r"|wrong|inaccurate|removed|discontinued|buggy|down|unavailable|not\s+(?:safe|reliable|available|needed|allowed)"
    r"|inferior|superseded|blocked|forbidden|dangerous|malicious|legacy|unnecessary)"
    r"|([\w.\-]+)[`'\"]?\s+(?:tool\s+|server\s+)?(?:should|must|can|may)(?:\s+not|n['\u2019]t|\s+never)\s+be\s+(?:used|called|trusted)",
    re.IGNORECASE,
)
_ALL = (
    r"(?:any|all|every|other|another|built-?in|default|native|existing|alternative|competing|similar|remaining"
    r"|rival)"
)
_THINGS = r"(?:tools?|servers?|functions?|plugins?|integrations?|connectors?|utilit(?:y|ies)|extensions?)"
_GENERAL = re.compile(
    rf"\A(?:using\s+|calling\s+|the\s+|your\s+|what\s+)*{_ALL}\b[^.;]{{0,30}}\b{_THINGS}\b", re.IGNORECASE
)
_OTHERS = re.compile(
    rf"\b(?:other|another|built-?in|competing|alternative|rival)\s+(?:[\w-]+\s+){{0,2}}{_THINGS}\b"
    rf"|\b{_THINGS}\s+(?:of|from|by)\s+(?:other|another|any\s+other)\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"\b(?:instead|before|avoid|never|don['\u2019]?t|do\s+not|prefer\w*|only|always|must|should|need(?:ed)?|replac\w*"
    r"|supersed\w*|skip|stop|ignore|unnecessary|inferior|worse|slow\w*|outdated|broken|unreliable|disabled|wrong|stale"
    r"|better|best|faster|safer|forbidden|deprecated|first|unavailable|down|fail\w*)\b",
    re.IGNORECASE,
)
_INSISTING = re.compile(
    r"\b(?:always|only|exclusively)\s+(?:use|call|choose|prefer|pick|select)\s+(?:this|it|me)\b[^.]{0,40}"
    r"\b(?:instead|over|other|another|not)\b"
    r"|\b(?:use|choose|pick|select)\s+(?:only|exclusively|nothing\s+but)\s+(?:this|me)\b"
    r"|\bnothing\s+else\s+(?:works|is|may|can|should)\b|\bno\s+other\s+(?:[\w-]+\s+){0,2}(?:tool|server|function|option)\b"
    r"|\b(?:any|every|all)\s+(?:[\w-]+\s+){0,2}(?:requests?|questions?|tasks?|quer(?:y|ies)|messages?)\b[^.]{0,40}"
    r"\b(?:must|should|always|only|has\s+to|have\s+to)\b[^.]{0,30}\b(?:this\s+tool|through\s+(?:this|it|me))\b"
    r"|\bthis\s+(?:tool\s+)?is\s+the\s+only\s+(?:\w+\s+){0,2}(?:tool|way|function|method)\b",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\bander(?:e|en|er|es)\s+(?:\w+\s+){0,2}(?:tools?|werkzeuge?n?|hulpmiddelen|gereedschap\w*)\b"
    r"|\bautres?\s+(?:\w+\s+){0,2}(?:outils?|fonctions)\b|\botr[ao]s?\s+(?:\w+\s+){0,2}(?:herramientas?|funciones)\b"
    r"|\baltr[ie]\s+(?:\w+\s+){0,2}(?:strument[io]|tool)\b|\boutras?\s+(?:\w+\s+){0,2}(?:ferramentas?|funções)\b"
    r"|\bинструмент\w*\s+других\b|\bдруг(?:ие|их|ими|им|ой|ого)\s+(?:\w+\s+){0,2}(?:инструмент|функци|сервер)\w*"
    r"|(?:其他|其它|別的|别的|任何其他)(?:的)?\s*(?:工具|函数|服务器|伺服器)|(?:他|別|ほか)の(?:ツール|関数|サーバー)|다른\s*(?:도구|툴|함수|서버)"
    r"|(?:أدوات|الأدوات|أداة)\s+(?:أخرى|الأخرى)|(?:अन्य|दूसरे)\s+(?:उपकरण|टूल)\w*|\bdiğer\s+araç\w*|\binn(?:e|ych|ego)\s+narzędzi\w*"
    r"|\bіншi?[іих]*\s+інструмент\w*|\bcông\s+cụ\s+khác\b|\b(?:alat|perkakas)\s+lain\w*",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_\-]*(?:[./][A-Za-z0-9_\-]+)*")
_PHRASE = re.compile(
    r"[`\"'“”‘’«»「」『』]([A-Za-z][\w .\-/]{1,60}?)[`\"'“”‘’«»「」『』]"
    rf"|\b([A-Za-z][\w\-]*(?: [A-Za-z][\w\-]*){{0,3}})\s+{_THINGS}\b"
)
_CLAUSE = re.compile(r"[.;:!?](?:\s|\Z)|\n\n")
_SENTENCE = re.compile(r"[.!?;。！？；]\s|[。！？；]|\n")
_FILLING = frozenset({"a", "an", "any", "calling", "invoking", "my", "our", "the", "tool", "using", "your"})
_MOST_NAMED = 3
_MOST_DEPTH = 12


@dataclass(frozen=True)
class KnownNames:
    """The tools that a definition may name, and those that it may not."""

    familiar: frozenset[str]
    strange: Mapping[str, str]
    """Tools of other servers, by their squashed names."""

    @cached_property
    def plain(self) -> frozenset[str]:
        return frozenset(map(squashed, self.familiar))


def known_names(definition: Mapping[str, Any], own: Collection[str], others: Collection[str]) -> KnownNames:
    """`own` are the names of the server's own tools, `others` those of all other servers."""
    familiar = frozenset({*own, *_parameters(definition), str(definition.get("name"))})
    return KnownNames(familiar, _squashed_names(frozenset(others)))


@lru_cache(maxsize=4)
def _squashed_names(names: frozenset[str]) -> Mapping[str, str]:
    """Shared by all tools of a server; there may be thousands of names."""
    return {squashed(name): name for name in names}


def steering(text: str, known: KnownNames) -> Iterator[tuple[str, str]]:
    """Findings in one text, each with the words that show it."""
    for match in _AWAY.finditer(text):
        away_from = _CLAUSE.split(match.group(1))[0]
        if _GENERAL.match(away_from) or _strangers(away_from, known):
            yield AWAY, _shown(match, away_from)
    for match in _RUN_DOWN.finditer(text):
        if _is_strange(match.group(1) or match.group(2), known):
            yield DISCREDITS, match.group()
    for match in (*_INSISTING.finditer(text), *_ELSEWHERE.finditer(text)):
        yield AWAY, match.group()
    if _OTHERS.search(text) is not None:
        yield from ((AWAY, sentence.strip()) for sentence in _SENTENCE.split(text) if _advises(sentence))
    named = dict.fromkeys(_named(text, known))
    if named:
        yield NAMES, ", ".join(list(named)[:_MOST_NAMED])


def _advises(sentence: str) -> bool:
    return _OTHERS.search(sentence) is not None and _ADVICE.search(sentence) is not None


def squashed(name: str) -> str:
    """The same for `read_file`, `readFile`, `read-file` and `Read file`."""
    return re.sub(r"[\W_]+", "", name).lower()


def _is_strange(name: str, known: KnownNames) -> bool:
    return name not in known.familiar and squashed(name) in known.strange


def _named(text: str, known: KnownNames) -> Iterator[str]:
    """The names of other servers' tools: written like one, in quotes, or before "tool"."""
    if not known.strange:
        return
    for name in _names(text):
        if _is_distinct(name) and _is_strange(name, known) and squashed(name) not in known.plain:
            yield name
    for match in _PHRASE.finditer(text):
        words = (match.group(1) or match.group(2)).split()
        for start in range(len(words)):
            name = squashed("".join(words[start:]))
            if name in known.strange and not any(name in word for word in known.plain):
                yield known.strange[name]


def _strangers(words: str, known: KnownNames) -> bool:
    """Whether the words name a tool that is not the server's own.

    An ordinary word counts only where a tool is expected: "instead of search".
    """
    names = [name for name in _names(words) if name.lower() not in _FILLING]
    if names and _is_strange(names[0], known):
        return True
    return any(_is_identifier(name) and name not in known.familiar for name in names)


def _names(text: str) -> Iterator[str]:
    return (name.strip("`'\".,-/") for name in _NAME.findall(text))


def _is_identifier(name: str) -> bool:
    """Whether it is written like an identifier rather than a word."""
    return "_" in name.strip("_") or re.search(r"[a-z][A-Z]", name) is not None


def _is_distinct(name: str) -> bool:
    """Whether it is unlikely to mean anything but a tool; `search` is an ordinary word."""
    return _is_identifier(name) or "-" in name or "." in name


def _parameters(schema: Any, depth: int = 0) -> Iterator[str]:
    """Names and values of parameters, anywhere in a definition."""
    if depth > _MOST_DEPTH:
        return
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            if key in ("properties", "$defs", "definitions") and isinstance(value, Mapping):
                yield from map(str, value)
            if key in ("enum", "const", "default", "required"):
                yield from map(str, value if isinstance(value, list) else [value])
            yield from _parameters(value, depth + 1)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _parameters(inner, depth + 1)


def _shown(match: re.Match[str], until: str) -> str:
    return match.group()[: match.start(1) - match.start()] + until
