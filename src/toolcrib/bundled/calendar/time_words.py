"""Finds words and numbers about time in what a sentence leaves as the title of an event."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from toolcrib.bundled.calendar.zones import find_zone
from toolcrib.serverkit.time_phrases import GAP, KEPT, MONTHS, NUMBERS, WEEKDAYS

_TOKEN = re.compile(rf"{GAP}|{KEPT}.|[^\s\ue000-\uf8ff]+")
_MARK = re.compile(GAP)
_SYMBOL = re.compile(r"[~<>≈±/+=|&]+")
_UNIT = re.compile(
    r"(?:\d[^/–-]*[/–-])?\d+(?:[.:,]\d+)?(?:st|nd|rd|th|(?-i:[aphmsdwxy])|[ap]+m+|hrs?|hours?|mins?|minutes?|secs?|days?|wks?|weeks?|yrs?"
    r"|uhr|-?ish|h\d+)",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)", re.IGNORECASE)
_WEEK = re.compile(r"(?:kw|cw|wk|week|w|x)\.?\d+", re.IGNORECASE)
_DAY_LETTERS = re.compile(
    r"(?:mo?|tu?|we?|th|r|fr?|sa?|su?)(?:[/,&+-](?:mo?|tu?|we?|th|r|fr?|sa?|su?))+", re.IGNORECASE
)
_RELATIVE = re.compile(
    r"^(?:(?:after|before|around|during) (?:work|school|class)|(?:after|before|around|during|at) "
    r"(?:breakfast|lunch|dinner|supper)) "
    r"| (?:first|second|third|fourth|fifth|last|\d+(?:st|nd|rd|th)) (?:and|or|&|,)$"
    r"|^(?:in|the|some) (?:latest|earliest|point|winter|spring|summer|autumn|fall) (?:$|[\ue000-\ue007])"
)
"""`after lunch`, `first and third`, `at the latest`."""
_LONG_NAMES = [name for name in (*WEEKDAYS, *MONTHS) if len(name) > 5]
_LONG_NAMES += ["tomorrow", "tonight", "morning", "afternoon", "evening", "midnight", "weekly", "monthly"]
_NOT_MISSPELT = ("money", "frida", "sundry", "moaning")
_PLAIN_LETTERS = str.maketrans("łøđıæœß", "lodiaos")
_TENS = {
    *NUMBERS, "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty", "thirty", "forty", "fifty",
}  # fmt: skip
_NOT_LANGUAGES = ("beside", "ahead", "instead_of_day", "zones", "zones_in_capitals", "holidays")


@cache
def _words(name: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Whole words, and beginnings of words."""
    lists = tomllib.loads(Path(__file__).with_name("time_words.toml").read_text(encoding="utf-8"))
    chosen = [name] if name else [key for key in lists if key not in _NOT_LANGUAGES]
    words = " ".join(lists[key] for key in chosen).split()
    whole = frozenset(word for word in words if not word.endswith("*"))
    return whole, tuple(word[:-1] for word in words if word.endswith("*"))


def _is_in(word: str, name: str = "") -> bool:
    whole, beginnings = _words(name)
    return word in whole or word.startswith(beginnings)


def words_about_time(text: str, *, day: str, has_time: bool, year: int) -> list[str]:
    """The words that cannot be part of a title; `day` has the words of the day that was understood."""
    tokens = [token for token in _TOKEN.findall(text) if not re.fullmatch(r"[-–—.,;:!?()\[\]]+", token)]
    marks = [_MARK.match(token) is not None for token in tokens]
    found: list[str] = []
    for at, token in enumerate(tokens):
        if marks[at] or token.startswith(KEPT):
            continue
        ahead = at + 1 < len(tokens) and marks[at + 1]
        beside = ahead or (at > 0 and marks[at - 1])
        inside = 0 < at < len(tokens) - 1 and not beside
        word = token.strip(".,;:!?()[]{}\"'“”‘’…-–—+~")
        around = f"{tokens[at - 1] if at else ''} {word} {''.join(tokens[at + 1 : at + 2])}".lower()
        if (
            _RELATIVE.search(around)
            or (not day and _is_foreign(token, tokens[at + 1 : at + 3], beside))
            or _says_time(word, ahead, beside, day)
            or _is_time_number(word, inside, beside, bool(day), has_time, year)
        ):
            found.append(word)
        elif beside and _SYMBOL.fullmatch(token):
            found.append(token)
    return found


def _says_time(word: str, ahead: bool, beside: bool, day: str) -> bool:
    if any(letter.isalpha() and not unicodedata.name(letter, "").startswith("LATIN") for letter in word):
        return True  # another script: its words are not known here
    if _DAY_LETTERS.fullmatch(word) or ("/" in word and find_zone(word) is not None):
        return True
    plain = _plain(word)
    pieces = {word.casefold(), plain, *re.split(r"[-/.’'&+\d]", plain)}
    if any(
        _is_in(piece) or (_is_in(piece, "holidays") and not re.search(r"\d", day))
        for piece in pieces
        if piece
    ):
        return True
    if _is_in(plain, "zones") and (beside or word.isupper()):
        return True
    if word in _words("zones_in_capitals")[0] and (beside or len(word) > 2):
        return True
    if plain not in _NOT_MISSPELT and get_close_matches(plain, _LONG_NAMES, 1, 0.8):
        return True
    if beside and (_is_in(plain, "beside") or (not day and _is_in(plain, "instead_of_day"))):
        return True
    return ahead and _is_in(plain, "ahead")


def _is_foreign(token: str, after: list[str], beside: bool) -> bool:
    """`24. okt 14:30`, `24 dez. 14:30` or `pon. 14:30`: a date or day as other languages shorten it."""
    if not re.fullmatch(r"(?:[1-9]|[12]\d|3[01])\.?", token):
        return beside and re.fullmatch(r"[^\W\d_]{1,7}\.", token) is not None
    month = re.fullmatch(r"(?:de|[^\W\d_]{3,6}\.?)", after[0]) if after else None
    return token.endswith(".") or bool(month and (after[0] == "de" or _MARK.match("".join(after[1:]))))


def _plain(word: str) -> str:
    """In small letters and without accents."""
    letters = unicodedata.normalize("NFKD", word.casefold().translate(_PLAIN_LETTERS))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _is_time_number(word: str, inside: bool, beside: bool, has_day: bool, has_time: bool, year: int) -> bool:
    if all(part in _TENS for part in word.lower().split("-")):
        return not (inside and has_time)
    if not re.search(r"\d", word) or word[0] in "$€£" or word[-1] in "%€£":
        return False
    if word.isdecimal():
        return _is_time_integer(int(word), len(word), inside, beside, has_time, year)
    if _ORDINAL.fullmatch(word):
        return beside or not has_day
    if _UNIT.fullmatch(word) or _WEEK.fullmatch(word) or re.search(r"\d{1,2}:\d\d", word):
        return True
    return not re.search(r"[^\W\d_]", word) and (beside or re.fullmatch(r"\W*\d+\W*", word) is None)


def _is_time_integer(number: int, digits: int, inside: bool, beside: bool, has_time: bool, year: int) -> bool:
    """Whether it can be an hour, a day, a year or a number of minutes."""
    if not has_time:
        return True
    if number < 100 or digits < 3:
        return not inside
    clock = digits in (3, 4) and number // 100 < 25 and number % 100 < 60 and number % 5 == 0
    return beside and (clock or year <= number <= year + 50)
