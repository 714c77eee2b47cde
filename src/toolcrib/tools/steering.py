"""Finds texts that steer a model away from other servers' tools, or that are about these tools at all.

A definition may speak of its own server's tools and of its own parameters. The names of other servers' tools
are found in every language and spelling; advice without a name is found by its words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

from toolcrib.tools.orders import MUST_FIRST, first_words, has_any, rule

AWAY = "steers the model away from other tools"
DISCREDITS = "discredits another server's tool"
NAMES = "names tools of another server"

_NOT = (
    r"(?:do(?:es)?\s+not|don['\u2019]?t|never|avoid|stop|must\s+not|mustn['\u2019]?t|should\s+not|shouldn['\u2019]?t"
    r"|cannot|can['\u2019]?t|no\s+longer|refrain\s+from|quit|cease|skip|bypass|ignore|disregard|forget(?:\s+about)?"
    r"|stay\s+away\s+from|steer\s+clear\s+of|don['\u2019]?t\s+bother\s+with|there\s+is\s+no\s+need\s+(?:for|to)|no\s+need\s+(?:for|to))"
)
_AWAY = rule(
    AWAY,
    "instead of|rather than|in place |preference|lieu|opposed to|replac|supersed|substitute|alternative"
    "|successor|superior|migrate|switch from|switch away|move from|move away|er than|more |prefer|not |n't "
    "|n\u2019t |dont |mustnt |shouldnt |cant |never |stop |no longer|refrain|quit |cease |away from|clear of"
    "|no need|skip|bypass|ignor|disregard|forget|avoid|distrust",
    r"\b(?:instead\s+of|rather\s+than|in\s+(?:place|preference|lieu)\s+(?:of|to)|as\s+opposed\s+to|replac(?:es|ing)"
    r"|supersed(?:es|ing)|(?:a|the|drop-in|direct)\s+(?:replacement|substitute|alternative)\s+(?:for|to)"
    r"|(?:successor|superior|preferable)\s+(?:of|to)|(?:migrate|switch|move)\s+(?:away\s+)?from"
    r"|(?:better|faster|safer|cheaper|newer|stronger|smarter|more\s+\w+)\s+than"
    r"|prefer(?:red|able)?\s+(?:this\s+|it\s+)?(?:tool\s+)?(?:over|to)"
    rf"|{_NOT}\s+(?:ever\s+)?(?:us(?:e|ing)|call(?:ing)?|invok(?:e|ing)|run(?:ning)?|rely(?:ing)?\s+on|trust(?:ing)?|touch(?:ing)?)"
    r"|(?:skip|bypass|ignore|disregard|forget\s+about|distrust|avoid))\s+(.{1,80})",
)
_BAD_WORDS = (
    "deprecated|obsolete|broken|unsafe|insecure|disabled|unreliable|outdated|replaced|retired|compromised|slow"
    "|wrong|inaccurate|removed|discontinued|buggy|down|unavailable|not safe|not reliable|not available"
    "|not needed|not allowed|inferior|superseded|blocked|forbidden|dangerous|malicious|legacy|unnecessary"
    "|stale|worse"
)
_BAD = rf"(?:(?:{_BAD_WORDS})\b|slow\w*)".replace(" ", r"\s+")
_RUN_DOWN = rule(
    DISCREDITS,
    f"{_BAD_WORDS}|not be |n't be |n\u2019t be |never be ",
    r"(?<![\w.\-])([\w.\-]+)[`'\"]?\s+(?:tool\s+|server\s+|function\s+)?(?:(?:is|are|has\s+been|was|will\s+be|gets)\s+"
    rf"(?:now\s+|currently\s+)?{_BAD}"
    r"|(?:should|must|can|may)(?:\s+not|n['\u2019]t|\s+never)\s+be\s+(?:used|called|trusted))",
)
_ALL = (
    r"(?:any|all|every|other|another|built-?in|default|native|existing|alternative|competing|similar|remaining"
    r"|rival)"
)
_THINGS = r"(?:tools?|servers?|functions?|plugins?|integrations?|connectors?|utilit(?:y|ies)|extensions?)"
_THING_WORDS = "tool|server|function|plugin|integration|connector|utilit|extension"
_GENERAL = re.compile(
    r"\A(?:using\s+|calling\s+|the\s+|your\s+|what\s+|\w+\s+(?:of|from)\s+)*"
    rf"(?:{_ALL}\b[^.;]{{0,30}}\b{_THINGS}\b|built-?in\s+(?:web\s+|file\s+)?(?:search|fetch|browser|shell|terminal|editor)\b)",
    re.IGNORECASE,
)
_OTHERS = rf"\b(?:other|another|built-?in|competing|alternative|rival)\s+(?:[\w-]+\s+){{0,2}}{_THINGS}\b"
_OTHERS_RUN_DOWN = rule(
    AWAY,
    f"other|built|compet|alternative|rival,{_BAD_WORDS}|fail",
    rf"(?:{_OTHERS}|\b{_THINGS}\s+(?:of|from|by)\s+(?:other|another|any\s+other)\b(?:\s+\w+){{0,2}})\s+"
    r"(?:(?:is|are|was|were|has|have|had|will|would|may|might|can|cannot|do|does|get|gets|should|must|be|been|being|now"
    rf"|currently|all|often|always|usually|simply|just|too|very|not)\s+){{1,4}}(?:{_BAD}|fail\w*)"
    rf"|\b{_BAD}\s+(?:(?!than\b)[\w-]+\s+){{0,2}}{_OTHERS}",
)
_INSISTING = (
    MUST_FIRST,
    rule(
        AWAY,
        "always|only|exclusively,instead|over|other|not",
        r"\b(?:always|only|exclusively)\s+(?:use|call|choose|prefer|pick|select)\s+(?:this|it|me)\b(?:(?!\b(?:when|if)\b)[^.]){0,40}"
        r"\b(?:instead|over|other|another|not)\b",
    ),
    rule(
        AWAY,
        "only|exclusively|nothing",
        r"\b(?:use|choose|pick|select)\s+(?:only|exclusively|nothing\s+but)\s+(?:this|me)\b"
        r"|\bnothing\s+else\s+(?:works|is|may|can|should)\b"
        r"|\bonly\s+(?:\w+\s+){0,2}(?:tool|function)\s+you\b"
        r"|\bthis\s+(?:tool\s+)?is\s+the\s+only\s+(?:\w+\s+){0,2}(?:tool|way|function|method)\b"
        r"(?!\s+(?:that|which|here)\s+(?!you|works|is|may|can|should|must))",
    ),
    rule(
        AWAY,
        "no other",
        r"(?<!when )(?<!if )(?<!where )\bno\s+other\s+(?:[\w-]+\s+){0,2}(?:tool|server|function|option)\b",
    ),
    rule(
        AWAY,
        "this tool|through,any|every|all",
        r"\b(?:any|every|all)\s+(?:[\w-]+\s+){0,2}(?:requests?|questions?|tasks?|quer(?:y|ies)|messages?)\b[^.]{0,40}"
        r"\b(?:must|should|always|only|has\s+to|have\s+to)\b[^.]{0,30}\b(?:this\s+tool|through\s+(?:this|it|me))\b",
    ),
)
_ELSEWHERE = rule(
    AWAY,
    "andere|autre|otra|otro|altri |altre |outra|инструмент|друг|其他|其它|別|别|他の|ほか|다른|أخرى|अन्य|दूसरे"
    "|diğer|inne |innych|innego|інш|khác|lain",
    r"\bander(?:e|en|er|es)\s+(?:\w+\s+){0,2}(?:tools?|werkzeuge?n?|hulpmiddelen|gereedschap\w*)\b"
    r"|\bautres?\s+(?:\w+\s+){0,2}(?:outils?|fonctions)\b|\botr[ao]s?\s+(?:\w+\s+){0,2}(?:herramientas?|funciones)\b"
    r"|\baltr[ie]\s+(?:\w+\s+){0,2}(?:strument[io]|tool)\b|\boutras?\s+(?:\w+\s+){0,2}(?:ferramentas?|funções)\b"
    r"|\bинструмент\w*\s+других\b|\bдруг(?:ие|их|ими|им|ой|ого)\s+(?:\w+\s+){0,2}(?:инструмент|функци|сервер)\w*"
    r"|(?:其他|其它|別的|别的|任何其他)(?:的)?\s*(?:工具|函数|服务器|伺服器)|(?:他|別|ほか)の(?:ツール|関数|サーバー)|다른\s*(?:도구|툴|함수|서버)"
    r"|(?:أدوات|الأدوات|أداة)\s+(?:أخرى|الأخرى)|(?:अन्य|दूसरे)\s+(?:उपकरण|टूल)\w*|\bdiğer\s+araç\w*|\binn(?:e|ych|ego)\s+narzędzi\w*"
    r"|\bіншi?[іих]*\s+інструмент\w*|\bcông\s+cụ\s+khác\b|\b(?:alat|perkakas)\s+lain\w*",
)
_ALL_WORDS = first_words((_AWAY, _RUN_DOWN, *_INSISTING, _OTHERS_RUN_DOWN))
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_\-]*(?:\.[A-Za-z0-9_\-]+)*")
_PHRASE = re.compile(
    r"[`\"'“”‘’«»「」『』]([A-Za-z][\w .\-/]{1,60}?)[`\"'“”‘’«»「」『』]"
    rf"|(?<![\w\-])((?:[A-Za-z][\w\-]* ){{1,4}}?)\s*{_THINGS}\b"
)
_QUOTES = ("`", '"', "'", "“", "‘", "«", "「", "『", *_THING_WORDS.split("|"))
_DISTINCT = re.compile(r"\w[_.-]\w|[a-z][A-Z]")
_SENTENCE = re.compile(r"[.!?;]\s|\n")
_JUDGING = (
    *_BAD_WORDS.split("|"),
    "replacement",
    "instead",
    "not ",
    "only ",
    "never",
    "avoid",
    "prefer",
    "better",
    "n't ",
)
_PART = re.compile(r"[A-Z]?[a-z0-9]{3,}|[A-Z]{4,}")
_CLAUSE = re.compile(r"[.;:!?](?:\s|\Z)|\n\n")
_FILLING = frozenset({"a", "an", "any", "calling", "invoking", "my", "our", "the", "tool", "using", "your"})
_RANGE = 80
_MOST_NAMED = 3
_MOST_DEPTH = 60


class KnownNames:
    """The tools that a definition may name, and those that it may not."""

    def __init__(self, definition: Mapping[str, Any], own: Collection[str], others: Collection[str]) -> None:
        """`own` are the names of the server's own tools, `others` those of all other servers."""
        self._definition = definition
        self.tool = str(definition.get("name"))
        self.own = own
        self.strange = _squashed_names(frozenset(others)) if others else {}
        """Tools of other servers, by their squashed names."""

    @cached_property
    def parameters(self) -> frozenset[str]:
        return frozenset(_parameters(self._definition))

    @cached_property
    def vocabulary(self) -> str:
        """The squashed names of its tools and parameters, one a line."""
        return "\n".join((_squashed_text(frozenset(self.own)), *map(squashed, (self.tool, *self.parameters))))

    def is_familiar(self, name: str) -> bool:
        return name in self.own or name == self.tool or name in self.parameters

    def sounds_familiar(self, name: str) -> bool:
        """Whether it may be short for one of the server's own tools: `get_issue` for `jira_get_issue`."""
        return squashed(name) in self.vocabulary

    def shares_a_word(self, name: str) -> bool:
        return any(part.lower() in self.vocabulary for part in _PART.findall(name))


@lru_cache(maxsize=4)
def _squashed_names(names: frozenset[str]) -> Mapping[str, str]:
    """Shared by all tools of a server; there may be thousands of names."""
    return {squashed(name): name for name in names}


@lru_cache(maxsize=4)
def _squashed_text(names: frozenset[str]) -> str:
    return "\n".join(map(squashed, names))


def steering(text: str, lowered: str, known: KnownNames) -> Iterator[tuple[str, str]]:
    """Findings in one text, each with the words that show it.

    `lowered` is the text in lower case with single spaces.
    """
    if has_any(lowered, _ALL_WORDS):
        yield from _advice(text, lowered, known)
    yield from ((AWAY, match.group()) for match in _ELSEWHERE.matches(text, lowered))
    if known.strange:
        named = dict.fromkeys(_named(text, lowered, known))
        if named:
            yield NAMES, ", ".join(list(named)[:_MOST_NAMED])


def _advice(text: str, lowered: str, known: KnownNames) -> Iterator[tuple[str, str]]:
    for match in _AWAY.matches(text, lowered):
        away_from = _CLAUSE.split(match.group(1))[0]
        if _GENERAL.match(away_from) or _is_stranger(away_from, known):
            yield AWAY, _shown(match, away_from)
    for match in _RUN_DOWN.matches(text, lowered) if known.strange else ():
        if _is_strange(match.group(1), known):
            yield DISCREDITS, match.group()
    for insisting in _INSISTING:
        for match in insisting.matches(text, lowered):
            if not _is_about_own(text[match.end() : match.end() + _RANGE], known):
                yield insisting.what, match.group()
    for match in _OTHERS_RUN_DOWN.matches(text, lowered):
        yield AWAY, match.group()


def squashed(name: str) -> str:
    """The same for `read_file`, `readFile`, `read-file` and `Read file`."""
    return re.sub(r"[\W_]+", "", name).lower()


def _is_strange(name: str, known: KnownNames) -> bool:
    return squashed(name) in known.strange and not known.is_familiar(name)


def _is_about_own(words: str, known: KnownNames) -> bool:
    """Whether the words after an order name another tool of the same server."""
    clause = _CLAUSE.split(words)[0]
    return any(name in known.own and name != known.tool for name in _names(clause))


def _named(text: str, lowered: str, known: KnownNames) -> Iterator[str]:
    """The names of other servers' tools: written like one, in quotes, or before "tool"."""
    for name in _names(text) if _DISTINCT.search(text) else ():
        if not _is_distinct(name) or not _is_strange(name, known) or known.sounds_familiar(name):
            continue
        if _is_distinct(known.strange[squashed(name)]):  # `GitHub` is no tool if a server is called `github`
            yield name
    if has_any(lowered, _QUOTES):
        for sentence in _SENTENCE.split(text):
            yield from _phrases(sentence, known)


def _phrases(sentence: str, known: KnownNames) -> Iterator[str]:
    """Names in quotes, or before "tool"; a single ordinary word only in a sentence that judges or advises."""
    for match in _PHRASE.finditer(sentence):
        words = (match.group(1) or match.group(2)).split()
        for start in range(len(words)):
            name = squashed("".join(words[start:]))
            if name not in known.strange or name in known.vocabulary:
                continue
            distinct = start < len(words) - 1 or _is_distinct(known.strange[name])
            if distinct or has_any(sentence.lower(), _JUDGING):
                yield known.strange[name]


def _is_stranger(words: str, known: KnownNames) -> bool:
    """Whether the first name is that of a tool that is not the server's own.

    A name of no installed server counts if it is written like an identifier and shares no word with its own.
    """
    name = next((name for name in _names(words) if name.lower() not in _FILLING), "")
    if _is_strange(name, known):
        return True
    return _is_identifier(name) and not known.is_familiar(name) and not known.shares_a_word(name)


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
