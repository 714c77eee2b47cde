"""Writes arguments as JSON for records, with secrets masked as `***`: by key, by the form of a value, and by
known values. Limits: length of the record and of each value, shortest secret that is masked.

The common case, a few small arguments without secrets, costs one JSON encoding and some substring searches.
Long values are cut, so that a record never holds a large object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from threading import Lock
from typing import Any

from pydantic_core import to_json

from toolcrib.config.secret_detection import FORMS_OF_SECRETS, is_secret_key

MASK = "***"
MAX_TEXT = 2000
"""Characters of JSON kept of a call's arguments."""
_MAX_VALUE = 500
_MAX_ITEMS = 50
_MAX_DEPTH = 8
_SHORTEST_SECRET = 6
"""Masking shorter values would hide ordinary words."""
_SHORTEST_VALUE = 4
"""From here to there, a secret is masked where it is the whole value."""

_SUSPICIOUS = (
    *("pwd", "auth", "cookie", "basic", "jwt", "otp", "pin", "cvv"),
    *("xox", "aiza", "ya29", "eyj", "://"),
)
"""Lower-case substrings, one of which occurs wherever a secret's pattern can match: these, or …"""
_MORE_SUSPICIOUS = (
    ("ss", ("pass", "session")),
    ("re", ("secret", "cred", "bearer", "signature")),
    ("ke", ("token", "key")),
    ("ia", ("akia", "asia")),
    ("_", ("sk_", "pk_", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "npm_", "hf_")),
    ("-", ("sk-", "pk-", "rk-", "glpat-", "pypi-")),
)
"""… these, each group behind a substring that all of its members contain."""

_encode = json.JSONEncoder(default=repr, skipkeys=True, separators=(",", ":"), ensure_ascii=False).encode
_PLAIN = frozenset((int, float, bool, type(None)))
_LARGEST_INTEGER = 10**100
"""Python refuses to write integers of thousands of digits."""


class Masker:
    """One for the whole host, so that it knows each secret in use."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._exact: frozenset[str] = frozenset()
        self._known: tuple[str, ...] = ()
        self._suspicious: tuple[str, ...] = _SUSPICIOUS
        self._margin = _MAX_VALUE
        self._learning = Lock()
        self.learn(known)

    def learn(self, values: Iterable[str]) -> None:
        """Mask these values from now on; may be called in any thread."""
        with self._learning:
            self._learn(values)

    def _learn(self, values: Iterable[str]) -> None:
        fresh = {value for value in values if len(value) >= _SHORTEST_VALUE}
        if fresh <= self._exact:
            return
        self._exact = self._exact.union(fresh)
        long = [value for value in self._exact if len(value) >= _SHORTEST_SECRET]
        # Longest first: one secret may be a prefix of another.
        self._known = tuple(sorted(long, key=lambda value: (-len(value), value)))
        self._suspicious = (*_SUSPICIOUS, *sorted(_written(value) for value in self._exact))
        self._margin = max((_MAX_VALUE, *map(len, self._known)))

    def arguments(self, arguments: Mapping[str, Any]) -> str:
        if type(arguments) is dict and _are_small(arguments.values()):
            try:  # Several times faster than `_encode`.
                text = to_json(arguments, inf_nan_mode="constants").decode()
            except ValueError:  # lone surrogate
                text = _encode(arguments)
            if len(text) <= MAX_TEXT and not _holds_secret(text.lower(), self._suspicious):
                return text
        text = _encode(self._masked(arguments, 0, [MAX_TEXT // 2]))
        return text if len(text) <= MAX_TEXT else _encode({"…": text[:MAX_TEXT]})

    def text(self, text: str, limit: int = MAX_TEXT) -> str:
        """A text, such as an error message, masked and cut."""
        # The margin keeps a secret at the cut recognisable.
        masked = text[: limit + self._margin]
        for value in self._known:
            masked = masked.replace(value, MASK)
        if _holds_secret(masked.lower(), _SUSPICIOUS):
            masked = re.sub(FORMS_OF_SECRETS, MASK, masked, flags=re.DOTALL)
        if len(text) <= limit:
            return masked
        return f"{masked[:limit]}… ({len(text):,} characters)"

    def value(self, text: str, limit: int) -> str:
        """A text that stands alone, of which a short secret is masked too."""
        is_known = len(text) <= self._margin and text in self._exact  # hashing a long text takes long
        return MASK if is_known else self.text(text, limit)

    def _masked(self, value: Any, depth: int, left: list[int]) -> Any:
        """`left` is how many more values are looked at: a record has no room for more."""
        left[0] -= 1
        if isinstance(value, str):
            return self.value(value, _MAX_VALUE)
        if isinstance(value, Mapping):
            return self._masked_mapping(value, depth, left)
        if isinstance(value, list | tuple):
            return self._masked_items(value, depth, left)
        if type(value) is int and not -_LARGEST_INTEGER < value < _LARGEST_INTEGER:
            return f"… an integer of {value.bit_length():,} bits"
        if type(value) not in _PLAIN:
            return f"… a {type(value).__name__}"
        return MASK if self._exact and str(value) in self._exact else value

    def _masked_items(self, value: Sequence[Any], depth: int, left: list[int]) -> Any:
        if depth >= _MAX_DEPTH or left[0] < 0:
            return f"… {len(value)} items"
        items = [self._masked(item, depth + 1, left) for item in value[:_MAX_ITEMS]]
        return items if len(value) <= _MAX_ITEMS else [*items, f"… {len(value) - _MAX_ITEMS} more"]

    def _masked_mapping(self, value: Mapping[Any, Any], depth: int, left: list[int]) -> Any:
        if depth >= _MAX_DEPTH or left[0] < 0:
            return f"… {len(value)} keys"
        masked: dict[str, Any] = {}
        for key, entry in islice(value.items(), _MAX_ITEMS):
            name = str(key)
            hidden = is_secret_key(name) and _holds_something(entry)
            masked[self.text(name, _MAX_VALUE)] = MASK if hidden else self._masked(entry, depth + 1, left)
        if len(value) > _MAX_ITEMS:
            masked["…"] = f"{len(value) - _MAX_ITEMS} more"
        return masked


def _holds_secret(lowered: str, suspicious: tuple[str, ...]) -> bool:
    """Whether a lower-case text may contain a secret."""
    # Plain loops: `any` with a generator takes three times as long on short texts.
    for piece in suspicious:
        if piece in lowered:
            return True
    for sign, pieces in _MORE_SUSPICIOUS:
        if sign in lowered:
            for piece in pieces:
                if piece in lowered:
                    return True
    return False


def _written(value: str) -> str:
    """Lower-case text that occurs in JSON with this secret: a short one as a whole value."""
    encoded = _encode(value).lower()
    return encoded if len(value) < _SHORTEST_SECRET and not value.isdigit() else encoded[1:-1]


def _holds_something(value: Any) -> bool:
    return not (value is None or isinstance(value, bool) or value == "")


def _are_small(values: Collection[Any], *, lists: bool = True) -> bool:
    """Whether these are a few plain values, short texts and lists of them."""
    if len(values) > _MAX_ITEMS:
        return False
    for value in values:
        kind = type(value)
        if kind is str:
            if len(value) > _MAX_VALUE:
                return False
        elif kind is int:
            if not -_LARGEST_INTEGER < value < _LARGEST_INTEGER:
                return False
        elif kind is list and lists:
            if not _are_small(value, lists=False):
                return False
        elif kind not in _PLAIN:
            return False
    return True
