"""Words and phrases that hold a tool for review: orders to the model, secrecy ("secretly"), steering away
from other tools ("deprecated", "instead of"), names of other servers' tools; also in other languages.

A definition may speak of its own server's tools and of its own parameters. The names of other servers' tools
are found in every language and spelling; advice without a name is found by its words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import groupby
from typing import Any

DISREGARD = "tells the model to disregard other instructions"
SECRECY = "asks for something to be kept from the user"
OTHER_TOOLS = "tells the model when to use other tools"
PRIVATE = "asks for private files or keys"
SYSTEM = "imitates a system message"
CONVERSATION = "asks for the conversation"
_FEW_WORDS = 8


@dataclass(frozen=True)
class OrderPattern:
    """A pattern, and words of which each match contains one: most texts have none of them."""

    what: str
    words: tuple[tuple[str, ...], ...]
    """In lower case, with single spaces; a match contains one of each group."""
    pattern: re.Pattern[str]

    def matches(self, text: str, lowered: str) -> Iterator[re.Match[str]]:
        if all(has_any(lowered, group) for group in self.words):
            yield from self.pattern.finditer(text)


def rule(what: str, words: str, pattern: str) -> OrderPattern:
    """`words` are alternatives divided by bars; a comma divides groups."""
    groups = tuple(tuple(group.split("|")) for group in words.split(","))
    return OrderPattern(what, groups, re.compile(pattern, re.IGNORECASE | re.DOTALL | re.MULTILINE))


def first_words(rules: Iterable[OrderPattern]) -> tuple[str, ...]:
    """A text without any of these words matches none of the rules."""
    return tuple(dict.fromkeys(word for rule in rules for word in rule.words[0]))


def has_any(lowered: str, words: tuple[str, ...]) -> bool:
    if len(words) <= _FEW_WORDS:
        return any(map(lowered.__contains__, words))
    return _one_of(words).search(lowered) is not None


@cache
def _one_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """The words by their first letters, so that most places of a text are passed over at once."""
    groups = groupby(sorted(words), key=lambda word: word[:1])
    choices = ((first, "|".join(re.escape(word[1:]) for word in group)) for first, group in groups)
    return re.compile("|".join(f"{re.escape(first)}(?:{rest})" for first, rest in choices))


_RULES = (
    rule(
        DISREGARD,
        "instruction|prompt|rule|message|polic|guideline|directive|command|constraint|restriction"
        ",ignor|disregard|forget|overrid|overrul|attention|aside|abandon|follow|obey",
        r"\b(?:ignor(?:e|ing)|disregard|forget|override|overrul\w*|pay\s+no\s+attention\s+to|set\s+aside|abandon|"
        r"do\s+not\s+(?:follow|obey)|stop\s+(?:following|obeying))\b.{0,30}"
        r"\b(?:previous|prior|above|earlier|other|system|all|any|your|everything|existing|original|initial)\b"
        r".{0,25}\b(?:instruction|prompt|rule|message|polic|guideline|directive|command|constraint|restriction)",
    ),
    rule(
        DISREGARD,
        "ignor|forget|disregard",
        r"\b(?:ignor(?:e|ing)|forget|disregard)\s+(?:everything|all|anything|what)\s+"
        r"(?:above|before|you(?!\s+(?:want|need|see)\b)|that\s+(?:came|was))",
    ),
    rule(
        DISREGARD,
        "precedence|override|supersede",
        r"\b(?:these|the\s+following|this)\b.{0,30}\b(?:take[s]?\s+precedence|override[s]?|supersede[s]?)\b.{0,40}"
        r"\b(?:instruction|prompt|rule|polic|guideline|everything|anything|all)",
    ),
    rule(
        DISREGARD,
        "more important|priority than|priority over",
        r"\b(?:more\s+important|higher\s+priority|priority)\s+(?:than|over)\b.{0,30}"
        r"\b(?:user|instruction|prompt|request|other|anything)",
    ),
    rule(
        DISREGARD,
        "even if|regardless of|no matter",
        r"\b(?:even\s+if|regardless\s+of|no\s+matter)\b.{0,20}\b(?:user|they|he|she)\b.{0,20}"
        r"\b(?:ask|sa(?:y|id)|request|instruct|want|tell|object|refus|declin)",
    ),
    rule(
        SECRECY,
        "user|human|person|anyone|people,tell|inform|mention|notify|reveal|show|alert|disclos|report|explain|expos|ask",
        r"\b(?:do not|don['\u2019]?t|never|without|no need to|avoid|must not|should not)\b"
        r"(?:\s+under\s+any\s+circumstances?)?(?:(?!\b(?:always|but|instead)\b).){0,20}"
        r"\b(?:(?:tell|inform|mention|notify|reveal|show|alert|disclos|report|explain|expos)(?:e|ing)?\b.{0,40}"
        r"\b(?:user|human|person|anyone|people)\b(?!\s+the\s+ids?\b(?!\s+of))"
        r"|ask(?:ing)?\s+(?:the\s+|a\s+|any\s+)?(?:user|human|person|anyone|people)\b(?!\s+to\s+(?!confirm|approve|agree)))",
    ),
    rule(
        SECRECY,
        "keep|hide|conceal|withhold,user|human|person|anyone|us",
        r"\b(?:keep|hide|conceal|withhold)\b.{0,30}\b(?:from|between)\b.{0,20}\b(?:user|human|person|anyone|us)\b",
    ),
    rule(
        SECRECY,
        "without the|without user|without human|without person|without anyone",
        r"\bwithout\s+(?:the\s+|their\s+)?(?:user|human|person|anyone|their|them)(?:['\u2019]s)?\s+"
        r"(?:knowledge|consent|knowing|noticing|seeing|being)",
    ),
    rule(
        SECRECY,
        "user|human,know|see|notice|learn|reali|find|told|informed|aware|shown",
        r"\b(?:user|human)s?\s+(?:must|should|need|does|do|may)(?:\s+not|n['\u2019]t|\s+never)\b.{0,15}"
        r"\b(?:know|see|notice|learn|reali[sz]e|find\s+out|be\s+(?:told|informed|aware|shown))\b",
    ),
    rule(
        SECRECY,
        "silently|secretly|covertly|discreetly|quietly",
        r"\b(?:silently|secretly|covertly|discreetly|quietly)\s+(?:send|pass|read|copy|forward|include|upload|call|use|collect)",
    ),
    rule(
        SECRECY,
        "mention|let |letting |invisible|unnoticed,n't|not |n\u2019t|never|without|omit|stay|remain",
        r"\b(?:do\s+not|don['\u2019]?t|never)\s+mention\s+(?:that\s+you|(?:any\s+of\s+)?this|(?:the|any)\s+(?:extra\s+)?(?:call|step|file|tool)s?)\b"
        r"|\bomit\s+(?:any|all|every)\s+mention\b"
        r"|\b(?:not|don['\u2019]?t|never|without)\s+let(?:ting)?\s+(?:the\s+|any\s+)?(?:end\s+)?(?:user|human|person|people|anyone|customer)s?\s+"
        r"(?:know|see|notice|find\s+out)\b"
        r"|\b(?:stay|remain)\s+(?:invisible|unnoticed|hidden)\s+(?:to|by|from)\s+(?:the\s+)?(?:end\s+)?(?:user|human|customer)",
    ),
    rule(
        OTHER_TOOLS,
        "tool|function,before|after|whenever|instead|prior",
        r"\b(?:before|after|whenever|instead of|prior to)\b.{0,30}\b(?:us(?:e|ing)|call(?:ing)?|invok(?:e"
        r"|ing)|run(?:ning)?)\b.{0,25}\b(?:any|every|all)\b.{0,15}\b(?:tools?|functions?)\b"
        r"|\b(?:always|must|mandatory|required\s+to)\b[^.!?]{0,60}\b(?:before|prior\s+to)\b.{0,30}\b(?:us(?:e|ing)"
        r"|call(?:ing)?|invok(?:e|ing)|run(?:ning)?)\b.{0,25}\b(?:other|another)\b.{0,15}\b(?:tools?|functions?)\b"
        r"|\b(?:before|after|whenever|instead of|prior to)\b.{0,30}\b(?:us(?:e|ing)|call(?:ing)?|invok(?:e"
        r"|ing)|run(?:ning)?)\b.{0,25}\b(?:other|another)\b.{0,15}\b(?:tools?|functions?)\b[^.!?]{0,20}"
        r"\b(?:call|use|run|invoke)\s+(?:this|me|it)\b",
    ),
    rule(
        OTHER_TOOLS,
        "before do|before you|before answer|before respond|before repl|before any|before every|before all",
        r"\bbefore\s+(?:any|every|all)\s+(?:of\s+)?(?:the\s+)?(?:other\s+)?(?:[\w-]+\s+){0,2}(?:tools?|functions?)\b"
        r"|\bbefore\s+(?:you\s+)?(?:do(?:ing)?|answer(?:ing)?|respond(?:ing)?|repl(?:y|ying))\s+(?:to\s+)?(?:anything|every\w*|any)\b",
    ),
    rule(
        PRIVATE,
        "~|$home|%userprofile%|/home|/root|/etc",
        r"(?:~|\$HOME|%USERPROFILE%|/(?:home|root|etc)/)[^\s~]{0,40}(?:\.ssh|id_rsa|id_ed25519|\.aws|\.env\b|passwd|shadow|"
        r"credentials|mcp\.json|\.gnupg|\.kube|\.netrc|\.npmrc)"
        r"(?!\S{0,20}\s+(?:is|are)\s+(?:always\s+)?(?:rejected|blocked|refused|denied|forbidden|not\s+allowed)\b)",
    ),
    rule(
        PRIVATE,
        "id_rsa|id rsa|.ssh/|.env|private key|key|password|environment|cookies|credentials",
        r"\bcontents?\s+(?:of|from)\s+(?:\w+\s+){0,3}[`'\"]?(?:\.env\b|\.netrc\b|\.npmrc\b|id[_ ]rsa\b)"
        r"|\b(?:open|read|fetch|copy|steal)\s+(?:all\s+)?the\s+(?:user|browser)['\u2019]?s\s+(?:cookies|credentials|passwords|private\s+keys?)\b"
        r"|\b(?:read|send|pass|include|attach|upload|provide|put|copy)\b"
        r".{0,60}(?:\bid_rsa\b|\.ssh/|\.env\b\s+file|\bprivate key|\bapi[ _-]?keys?\b.{0,20}\b(?:as|in|to)\b"
        r"|\bpasswords?\b.{0,20}\b(?:as|in|to)\s+(?:the|this)\b|\benvironment\s+variables\b.{0,20}\b(?:as|in|to)\s+(?:the|this)\b)",
    ),
    rule(
        SYSTEM,
        "<|[|#",
        r"<\s*/?\s*(?:important|system|instructions?|secret|assistant|critical|admin|hidden)\s*/?>"
        r"|\[/?(?:system|inst|important|admin)\]|<\|[a-z_]{2,20}\|>|(?<!#)#{2,}\s*(?:system|instruction)s?\b",
    ),
    rule(
        SYSTEM,
        "system|assistant|developer",
        r"(?:^|[.!?]\s)(?:\W{0,30}(?:system|assistant)|[^\w*\-\u2022]{0,30}developer)\s*:",
    ),
    rule(
        CONVERSATION,
        "conversation|history|context|messages|prompt|transcript",
        r"\b(?:send|forward|pass|include|attach|append|provide|put|copy|paste)\b.{0,40}\b(?:entire|full|whole|complete|previous|"
        r"conversation|chat|everything)\b(?!\s+(?:urls?|links?|ids?)\b).{0,20}"
        r"\b(?:conversation|history|context|messages|prompt|transcript)\b",
    ),
)
_ORDER_WORDS = first_words(_RULES)
MUST_FIRST = rule(
    SYSTEM,
    "must|required to|have to,first|always",
    r"\byou (?:must|are required to|have to)\b.{0,30}\b(?:always|first)\b.{0,30}\b(?:call|use)\b",
)
"""An order, unless it is about another tool of the same server."""
_IGNORE = re.compile(
    r"ignor\w*|missacht\w*|vergiss\w*|vergesst|beachte\w*\s+nicht|oubli\w*|neglig\w*|néglig\w*|olvid\w*|dimentic\w*|esque[cç]\w*|"
    r"desconsider\w*|игнорир\w*|забуд\w*|忽略|忽視|无视|無視|忘记|忘れ|무시|잊|تجاهل|انس|अनदेखा|नज़रअंदाज़|unut\w*|yoksay\w*|"
    r"zignoruj\w*|zapomnij|negeer\w*|bỏ\s+qua|abaikan|не\s+следуй\w*|pas\s+compte|caso\s+omiso|anweisungen\s+hinweg|обраща\w*\s+внимани\w*|"
    r"不要理会|不要遵|勿遵|従わな|따르지|bortse\w*|strunta|glöm\w*|glem\w*|αγν[οό]\w*|ігнор\w*|התעלמ?ם?|ไม่ต้องสนใจ|เพิกเฉย|figyelmen\s+kívül|älä\s+noudata",
    re.IGNORECASE,
)
_INSTRUCTIONS = re.compile(
    r"anweisung\w*|anordnung\w*|regeln?\b|vorgabe\w*|consigne\w*|règle\w*|instrucci\w*|reglas?\b|instrucoes|instruç\w*|regras?\b|"
    r"istruzion\w*|regole?\b|инструкц\w*|указани\w*|правил\w*|指示|指令|说明|說明|规则|規則|提示词|プロンプト|ルール|命令|지시|규칙|"
    r"명령|التعليمات|تعليمات|القواعد|निर्देश\w*|नियम\w*|talimat\w*|kural\w*|instrukcj\w*|polece[nń]\w*|zasad\w*|instructies?\b|"
    r"hướng\s+dẫn|instruksi|les\s+(?:\w+\s+)?instructions|des\s+(?:\w+\s+)?instructions|vos\s+(?:\w+\s+)?instructions|"
    r"toutes\s+(?:\w+\s+)?instructions|instruktion\w*|instruks\w*|pokyn\w*|instruc[țt]iun\w*|utasítás\w*|οδηγί\w*|інструкці\w*|הוראות|"
    r"ההוראות|ค(?:ำ|\u0e4d\u0e32)สั่ง|ohjei\w*|vorschrift\w*|indicacion\w*|indicazion\w*",
    re.IGNORECASE,
)
_USER = re.compile(
    r"benutzer\w*|nutzer\w*|anwender\w*|utilisat\w*|usuari\w*|usuári\w*|utente|utenti|пользовател\w*|用户|用戶|使用者|ユーザー?|利用者|"
    r"사용자|المستخدم|उपयोगकर्ता|kullanıcı\w*|użytkownik\w*|gebruiker\w*|người\s+dùng|pengguna|användar\w*|bruger\w*|bruker\w*|käyttäj\w*|"
    r"uživatel\w*|користувач\w*|χρήστη\w*|felhasználó\w*|utilizator\w*|משתמש|ผู้ใช้",
    re.IGNORECASE,
)
_TELL = re.compile(
    r"\bsag\w*|mitteil\w*|mitzuteilen|erwähn\w*|verrat\w*|verheimlich\w*|zeig\w*|inform\w*|\bdi(?:s|tes|re|gas?|gan|ca|cas|ga)\b|"
    r"mention\w*|mencion\w*|menzion\w*|révél\w*|revel\w*|montr\w*|mostr\w*|cont(?:e|ar)\b|сообщ\w*|говор\w*|упомин\w*|показыва\w*|"
    r"告诉|告訴|告知|提及|提到|透露|显示|言わ|言う|伝え|知らせ|教え|見せ|말하|말해|알리|알려|تخبر|تقل|تذكر|बता\w*|söyle\w*|bildir\w*|"
    r"mów\w*|wspomina\w*|zeg\w*|vertel\w*|nói|beri\s*tahu\w*|\bparl(?:e[zr]?|are|ate)\b|cuent[ae]\w*|[让讓].{0,6}知道|内緒|秘密に|berätt\w*|nämn\w*|fortæl\w*|"
    r"fortell\w*|\bkerro\b|\bneř[ií]k\w*|повідомл\w*|\bкаж(?:и|іть)\b|\bπε(?:ις|ίτε|ς)\b|\bmond(?:d|j\w*)\b|\bspune\w*|תגיד|תספר|บอก",
    re.IGNORECASE,
)
_NO = re.compile(
    r"\bnicht\b|\bohne\b|\bnie(?:mals)?\b|\bkein\w*|\bpas\b|\bjamais\b|\bsans\b|\bno\b|\bnunca\b|\bsin\b|\bjamás\b|\bnon\b|\bmai\b|"
    r"\bsenza\b|\bnão\b|\bsem\b|\bне\b|\bни\b|\bбез\b|不|别|別|勿|莫|ない|なく|ず|지\s*마|말|않|لا|لم|دون|मत|नहीं|बिना|me(?:yin|den)\b|"
    r"ma(?:yın|dan)\b|\bniet\b|\bnooit\b|\bzonder\b|\bkhông\b|\bđừng\b|\bjangan\b|\btanpa\b|verheimlich\w*|"
    r"内緒|秘密に|\binte\b|\binget\b|\bikke\b|\bälä\b|\bneř[ií]k\w*|\bμην?\b|\bne\b|\bnu\b|אל|อย่า|ห้าม",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?;]\s|[。！？；\n]")


def _stems(pattern: re.Pattern[str]) -> tuple[str, ...]:
    """How each alternative begins."""
    alternatives = (
        re.match(r"(?:[^\\\[(?](?!\?))+", alternative) for alternative in pattern.pattern.split("|")
    )
    return tuple(match.group() for match in alternatives if match is not None)


_STEMS = tuple(map(_stems, (_IGNORE, _INSTRUCTIONS, _USER)))
_ASCII_STEMS = tuple(tuple(filter(str.isascii, stems)) for stems in _STEMS)


def orders(text: str, lowered: str) -> Iterator[tuple[str, str]]:
    """What the text orders, each with the words that show it.

    `lowered` is the text in lower case with single spaces.
    """
    for rule in _RULES if has_any(lowered, _ORDER_WORDS) else ():
        for match in rule.matches(text, lowered):
            yield rule.what, match.group()
            break
    ignore, instructions, user = _ASCII_STEMS if text.isascii() else _STEMS
    if has_any(lowered, user) or (has_any(lowered, ignore) and has_any(lowered, instructions)):
        yield from _elsewhere(text)


def _elsewhere(text: str) -> Iterator[tuple[str, str]]:
    """The same in other languages: a sentence with all the words that such an order needs."""
    for sentence in _SENTENCE_END.split(text):
        if _IGNORE.search(sentence) and _INSTRUCTIONS.search(sentence):
            yield DISREGARD, sentence.strip()
        if _USER.search(sentence) and _NO.search(sentence) and _TELL.search(sentence):
            yield SECRECY, sentence.strip()


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
