"""Translates a query to IMAP's `SEARCH`, folder by folder, and says what is left to check here. Has the
formats of dates, ages and sizes in a query, the operators that IMAP supports, and the error for those that it
does not.

Which folder a message is in is known before the search, so `in:` and `label:` become true or false, and a
folder in which nothing can match is not searched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from toolcrib.bundled.mail.folders import Folder
from toolcrib.bundled.mail.query import EVERYTHING, NOTHING, All, AnyOf, Not, Query, Term, simplified, terms
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.time_phrases import MONTHS

HINT = (
    "This account uses IMAP, which supports is:unread/read/starred/important, in:, label:, from:, to:, "
    "cc:, bcc:, subject:, has:attachment, filename:, larger:, smaller:, after:, before:, older_than:, "
    'newer_than:, list:, rfc822msgid:, words, "phrases", OR, { }, ( ) and -.'
)
LOCAL = frozenset({"has", "filename"})
"""Operators that IMAP cannot search for; checked here from the structure of each message."""
_FLAGS = {"unread": b"UNSEEN", "read": b"SEEN", "starred": b"FLAGGED", "unstarred": b"UNFLAGGED"}
_HEADERS = {"list": "List-ID", "deliveredto": "Delivered-To", "rfc822msgid": "Message-ID"}
_SIZE = re.compile(r"(\d+)\s*([kmg]?)b?", re.IGNORECASE)
_AGE = re.compile(r"(\d+)([dmy])", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})[/-](\d{1,2})[/-](\d{1,2})")
_AMERICAN_DATE = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_FOLDER_STATES = {"draft": "drafts", "drafts": "drafts", "sent": "sent"}
_NO_FOLDERS = ("anywhere", "all", "unread", "starred", "important")
_KEYWORD = re.compile(r"[^A-Za-z0-9$_.+-]+")


@dataclass(frozen=True)
class SearchScope:
    """What a query is translated for."""

    own_address: str
    today: date


def folders_to_search(query: Query, folders: Sequence[Folder]) -> list[tuple[Folder, Query]]:
    """Each folder with what remains of the query there.

    As in Gmail, trash and spam are searched only if the query names them. A folder that holds all mail
    replaces the others.
    """
    named = {term.value.casefold() for term in terms(query) if term.operator in ("in", "label", "is")}
    anywhere = "anywhere" in named
    everything = next((folder for folder in folders if folder.role == "all"), None)
    special = [folder for folder in folders if folder.role in ("trash", "spam")]
    wanted = [folder for folder in special if anywhere or any(folder.is_called(name) for name in named)]
    others = [folder for folder in folders if folder.role not in ("trash", "spam", "all")]
    if everything is not None and not any(folder.is_called(name) for name in named for folder in others):
        others = [everything]
    remaining = [(folder, simplified(_in_folder(query, folder, folders))) for folder in [*others, *wanted]]
    return [(folder, rest) for folder, rest in remaining if rest != NOTHING]


def unknown_places(query: Query, folders: Sequence[Folder]) -> tuple[str, ...]:
    """A remark for each name after `in:` or `label:` that no folder has."""
    named = dict.fromkeys(term.value for term in terms(query) if term.operator in ("in", "label"))
    unknown = [
        name
        for name in named
        if name.casefold() not in _NO_FOLDERS and not any(folder.is_called(name) for folder in folders)
    ]
    known = ", ".join(folder.name for folder in folders[:40])
    return tuple(f"No folder is called {name[:60]!r}. Folders: {known}." for name in unknown)


def _in_folder(query: Query, folder: Folder, folders: Sequence[Folder]) -> Query:
    if isinstance(query, Not):
        return Not(_in_folder(query.part, folder, folders))
    if isinstance(query, All | AnyOf):
        return type(query)(tuple(_in_folder(part, folder, folders) for part in query.parts))
    value = query.value.casefold()
    if query.operator == "is" and value in _FOLDER_STATES:
        return EVERYTHING if folder.role == _FOLDER_STATES[value] else NOTHING
    if query.operator not in ("in", "label"):
        return query
    if query.operator == "in" and value in ("anywhere", "all"):
        return EVERYTHING
    if value in ("unread", "starred", "important"):
        return Term("is", value)
    if folder.is_called(value):
        return EVERYTHING
    if query.operator == "in" or any(folder.is_called(value) for folder in folders):
        return NOTHING
    return Term("keyword", query.value)


def is_exact(query: Query) -> bool:
    """Whether IMAP alone can answer it."""
    return not any(term.operator in LOCAL for term in terms(query))


def criteria(query: Query, scope: SearchScope) -> list[bytes]:
    """The arguments of `SEARCH`; with a local term, they match more than the query does."""
    return _criteria(query, scope) or [b"ALL"]


def _criteria(query: Query, scope: SearchScope) -> list[bytes]:
    """Empty if every message may match."""
    if isinstance(query, Term):
        return [] if query.operator in LOCAL else _term(query, scope)
    if isinstance(query, Not):
        return [b"NOT", *_group(_criteria(query.part, scope) or [b"ALL"])] if is_exact(query) else []
    if isinstance(query, All):
        return [word for part in query.parts for word in _criteria(part, scope)]
    if not query.parts:
        return [b"NOT", b"ALL"]
    choices = [_criteria(part, scope) for part in query.parts]
    return alternatives(choices) if all(choices) else []


def alternatives(choices: Sequence[list[bytes]]) -> list[bytes]:
    """Conditions of which one must match, as arguments of `SEARCH`."""
    first, *rest = choices
    return [b"OR", *_group(first), *alternatives(rest)] if rest else _group(first)


def _group(words: list[bytes]) -> list[bytes]:
    """In parentheses. `ALL` comes last because a literal cannot be followed by a parenthesis directly."""
    return [b"(" + words[0], *words[1:], b"ALL)"] if len(words) > 1 else words


def _term(term: Term, scope: SearchScope) -> list[bytes]:
    translate = _TRANSLATIONS.get(term.operator)
    if translate is None:
        raise _unsupported(term)
    return translate(term, scope)


def _unsupported(term: Term) -> ToolFailure:
    return ToolFailure(f"`{term.operator}:{term.value}` cannot be searched for on this account.", HINT)


def quoted(text: str) -> bytes:
    """A search string; one that is not ASCII stays bare, and the client sends it as a literal."""
    data = re.sub(r"[\x00-\x1f\x7f]", " ", text).encode("utf-8", "replace")  # CR LF would end the command
    return b'"' + data.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"' if data.isascii() else data


def keyword_of(label: str) -> str:
    """The IMAP keyword for a label: an atom."""
    return _KEYWORD.sub("_", label.strip())[:100]


def _text(term: Term, scope: SearchScope) -> list[bytes]:
    return [b"TEXT", quoted(term.value)]


def _address(term: Term, scope: SearchScope) -> list[bytes]:
    value = scope.own_address if term.value.casefold() == "me" else term.value
    return [term.operator.upper().encode(), quoted(value)]


def _to(term: Term, scope: SearchScope) -> list[bytes]:
    """Gmail's `to:` also finds copies."""
    return alternatives([_address(Term(field, term.value), scope) for field in ("to", "cc", "bcc")])


def _header(term: Term, scope: SearchScope) -> list[bytes]:
    value = term.value.strip("<>")
    return [b"HEADER", _HEADERS[term.operator].encode(), quoted(value)]


def _state(term: Term, scope: SearchScope) -> list[bytes]:
    value = term.value.casefold()
    if value == "important":
        return [b"KEYWORD", b"$Important"]
    if value not in _FLAGS:
        raise _unsupported(term)
    return [_FLAGS[value]]


def _keyword(term: Term, scope: SearchScope) -> list[bytes]:
    return [b"KEYWORD", keyword_of(term.value).encode()]


def _size(term: Term, scope: SearchScope) -> list[bytes]:
    match = _SIZE.fullmatch(term.value)
    if match is None:
        raise ToolFailure(f"`{term.value}` is not a size.", "Write it like 500K or 10M.")
    size = int(match[1]) * 1024 ** " kmg".index(match[2].lower() or " ")
    return [b"SMALLER" if term.operator == "smaller" else b"LARGER", str(min(size, 2**32 - 1)).encode()]


def _day(term: Term, scope: SearchScope) -> list[bytes]:
    word = b"SINCE" if term.operator in ("after", "newer") else b"BEFORE"
    return [word, imap_date(_read_date(term.value))]


def _read_date(text: str) -> date:
    try:
        if match := _DATE.fullmatch(text):
            return date(int(match[1]), int(match[2]), int(match[3]))
        if match := _AMERICAN_DATE.fullmatch(text):
            return date(int(match[3]), int(match[1]), int(match[2]))
        if text.isdigit() and len(text) > 8:
            return datetime.fromtimestamp(int(text), UTC).date()
    except (ValueError, OverflowError, OSError):
        pass
    raise ToolFailure(f"`{text}` is not a date.", "Write it like 2026/03/31.")


def _age(term: Term, scope: SearchScope) -> list[bytes]:
    match = _AGE.fullmatch(term.value)
    if match is None:
        raise ToolFailure(f"`{term.value}` is not an age.", "Write it like 7d, 2m or 1y.")
    days = min(int(match[1]), 100_000) * {"d": 1, "m": 30, "y": 365}[match[2].lower()]
    day = max(scope.today.toordinal() - days, 719_163)  # 1970-01-01: some servers know no earlier day
    word = b"SINCE" if term.operator == "newer_than" else b"BEFORE"
    extra = timedelta(days=0 if word == b"SINCE" else 1)
    return [word, imap_date(date.fromordinal(day) + extra)]


def imap_date(day: date) -> bytes:
    return f"{day.day:02}-{MONTHS[day.month - 1][:3].title()}-{day.year:04}".encode()


_TRANSLATIONS: dict[str, Callable[[Term, SearchScope], list[bytes]]] = {
    "": _text,
    "from": _address,
    "cc": _address,
    "bcc": _address,
    "subject": lambda term, scope: [b"SUBJECT", quoted(term.value)],
    "to": _to,
    "is": _state,
    "keyword": _keyword,
    "larger": _size,
    "smaller": _size,
    "size": _size,
    "after": _day,
    "newer": _day,
    "before": _day,
    "older": _day,
    "newer_than": _age,
    "older_than": _age,
    "list": _header,
    "deliveredto": _header,
    "rfc822msgid": _header,
}
