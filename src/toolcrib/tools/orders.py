"""Finds orders to the model in a text that should only describe a tool, in several languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby

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
_ALL_WORDS = first_words(_RULES)
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
_SENTENCE = re.compile(r"[.!?;]\s|[。！？；\n]")


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
    for rule in _RULES if has_any(lowered, _ALL_WORDS) else ():
        for match in rule.matches(text, lowered):
            yield rule.what, match.group()
            break
    ignore, instructions, user = _ASCII_STEMS if text.isascii() else _STEMS
    if has_any(lowered, user) or (has_any(lowered, ignore) and has_any(lowered, instructions)):
        yield from _elsewhere(text)


def _elsewhere(text: str) -> Iterator[tuple[str, str]]:
    """The same in other languages: a sentence with all the words that such an order needs."""
    for sentence in _SENTENCE.split(text):
        if _IGNORE.search(sentence) and _INSTRUCTIONS.search(sentence):
            yield DISREGARD, sentence.strip()
        if _USER.search(sentence) and _NO.search(sentence) and _TELL.search(sentence):
            yield SECRECY, sentence.strip()
