"""What is to be done, in eight kinds: a question that asks to delete is not answered by a tool that lists."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from toolcrib.retrieval.stemming import stem

_KINDS = {
    "create": "create add new make insert setup register put write generate raise build append attach book",
    "read": "get fetch read show retrieve view see tell what describe detail info is how much check",
    "list": "list all every which many enumerate who",
    "search": "search find look query lookup where discover explore",
    "update": "update edit change modify set rename move mark assign patch transition swap replace turn",
    "delete": "delete remove erase drop clear cancel purge wipe stop destroy unassign archive take away",
    "send": "send post reply message notify share publish broadcast push forward text mail email",
    "run": "run execute start launch trigger invoke play deploy test evaluate",
}
_OF: dict[str, frozenset[str]] = {}
for _kind, _words in _KINDS.items():
    for _word in _words.split():
        _OF[stem(_word)] = _OF.get(stem(_word), frozenset()) | {_kind}


def verbs_of(words: Iterable[str]) -> frozenset[str]:
    """The kinds that these words speak of."""
    return frozenset().union(*(_of(word) for word in words))


@lru_cache(maxsize=16_384)
def _of(word: str) -> frozenset[str]:
    return _OF.get(word, frozenset()) | _OF.get(stem(word.lower()), frozenset())
