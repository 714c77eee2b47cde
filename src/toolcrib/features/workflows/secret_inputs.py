"""Secret inputs of a run: encrypted in its document, and replaced by marks in everything else that is stored;
how they are shown, and the shortest text that is replaced.

Marks are put back when a worker reads what it stored. They have tokens that only the key gives, so text from
outside can never become a secret. Who has the database but not the key learns the names of the inputs only.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from toolcrib.errors import ConfigError
from toolcrib.schema.workflows import Workflow

SHORTEST = 4
"""Shorter texts are replaced only where they are the whole value: they occur everywhere."""
HIDDEN = "•••"
_MARK = re.compile(r"⟦secret ([^\s⟧]+) ([0-9a-f]{16})(=?)⟧")
_NONCE = 12


@dataclass(frozen=True)
class RunKey:
    """The key of the secret inputs, as the host stores it; both functions may wait for a keyring."""

    find: Callable[[], bytes | None]
    create: Callable[[], bytes]


def _no_key() -> bytes:
    raise ConfigError("This engine has no key for secret inputs.")


NO_KEY = RunKey(find=lambda: None, create=_no_key)


class LostSecrets(ConfigError):
    """The secret inputs of a run cannot be decrypted here."""

    def __init__(self, run: str) -> None:
        super().__init__(
            f"The secret inputs of {run} cannot be read on this host.",
            hint="Start it again. Its key was replaced, or is only on the host that started it.",
        )


class SecretInputs:
    """The secret values of one run, with the names of their inputs.

    Without a key nothing is hidden: a run has no secrets, or an earlier version stored them as they were.
    """

    def __init__(self, values: Mapping[str, Any] | None = None, run: str = "", key: bytes = b"") -> None:
        self.values = dict(values or {})
        self._run = run
        self._key = key
        self._marks = _derived(key, b"marks")
        self._known = {self._token(name, "whole"): value for name, value in self.values.items()}
        self._texts: dict[str, str] = {}
        self._numbers: dict[int | float, str] = {}
        for name, number, leaf in _leaves(self.values):
            self._add(name, number, leaf)
        longest = sorted((text for text in self._texts if len(text) >= SHORTEST), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest))) if longest else None

    def _add(self, name: str, number: int, leaf: str | float) -> None:
        if not isinstance(leaf, str):
            token = self._token(name, f"{number}")
            self._known[token] = leaf
            self._numbers.setdefault(leaf, f"⟦secret {name} {token}=⟧")
        for form, text in enumerate(_forms(str(leaf))):
            token = self._token(name, f"{number}.{form}")
            self._known[token] = text
            self._texts.setdefault(text, f"⟦secret {name} {token}⟧")

    def texts(self) -> list[str]:
        """The secret values as texts, also the parts of lists and objects."""
        return list(self._texts)

    def hide(self, value: Any) -> Any:
        """The value with marks instead of secrets, to be stored."""
        return self._hidden(value) if self._key else value

    def reveal(self, value: Any) -> Any:
        """What was hidden."""
        return _replaced(value, self._revealed) if self._key else value

    def shown(self, value: Any, form: Callable[[str], str] = lambda name: HIDDEN) -> Any:
        """The value for users; `form` makes the text to show from the name of an input."""
        return without_marks(self._hidden(value) if self.values else value, form)

    def whole(self, name: str) -> str:
        """The mark for the value of an input, whatever its type."""
        return f"⟦secret {name} {self._token(name, 'whole')}=⟧"

    def sealed(self) -> str:
        """The values, encrypted for this run."""
        nonce = os.urandom(_NONCE)
        text = json.dumps(self.values, ensure_ascii=False).encode()
        return base64.b64encode(nonce + _cipher(self._key).encrypt(nonce, text, self._run.encode())).decode()

    def used_in(self, value: Any) -> dict[str, Any]:
        """Those of the values that occur in another value."""
        found = set(_MARK.findall(json.dumps(self._hidden(value), ensure_ascii=False, default=str)))
        names = {name for name, _, _ in found}
        return {name: secret for name, secret in self.values.items() if name in names}

    def _hidden(self, value: Any) -> Any:
        return _replaced(value, self._marked)

    def _marked(self, value: Any) -> Any:
        if not isinstance(value, str):
            return self._numbers.get(value, value) if type(value) in (int, float) else value
        if value in self._texts:
            return self._texts[value]
        return self._pattern.sub(lambda found: self._texts[found[0]], value) if self._pattern else value

    def _revealed(self, value: Any) -> Any:
        if not isinstance(value, str) or "⟦" not in value:
            return value
        whole = _MARK.fullmatch(value)
        if whole and whole[3] and whole[2] in self._known:
            return self._known[whole[2]]
        return _MARK.sub(lambda found: str(self._known.get(found[2], found[0])), value)

    def _token(self, name: str, part: str) -> str:
        said = f"{self._run}\0{name}\0{part}".encode()
        return hmac.new(self._marks, said, hashlib.sha256).hexdigest()[:16]


async def seal(
    workflow: Workflow, inputs: Mapping[str, Any], run: str, key: RunKey, others: SecretInputs, used: Any
) -> SecretInputs:
    """The secrets of a new run: its own, and those of another run (`others`) in its inputs or in `used`."""
    own = {
        name: inputs[name]
        for name, parameter in workflow.inputs.items()
        if parameter.secret and inputs.get(name)
    }
    passed = others.used_in([{key: value for key, value in inputs.items() if key not in own}, used])
    values = {**{f"^{name.lstrip('^')}": value for name, value in passed.items()}, **own}
    if not values:
        return NOTHING
    return SecretInputs(values, run, await asyncio.to_thread(key.create))


async def unseal(document: Mapping[str, Any], run: str, key: RunKey) -> SecretInputs:
    """The secrets of a stored run; raises `LostSecrets`."""
    if not (text := document.get("sealed")):
        return NOTHING
    from cryptography.exceptions import InvalidTag

    known = await asyncio.to_thread(key.find)
    if not known:
        raise LostSecrets(run)
    try:
        data = base64.b64decode(text)
        plain = _cipher(known).decrypt(data[:_NONCE], data[_NONCE:], run.encode())
    except (InvalidTag, ValueError):
        raise LostSecrets(run) from None
    return SecretInputs(json.loads(plain), run, known)


def without_marks(value: Any, form: Callable[[str], str] = lambda name: HIDDEN) -> Any:
    """The value with every mark replaced, for users."""

    def replaced(part: Any) -> Any:
        if not isinstance(part, str) or "⟦" not in part:
            return part
        return _MARK.sub(lambda found: form(found[1].lstrip("^")), part)

    return _replaced(value, replaced)


def _replaced(value: Any, replace: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping):
        return {replace(key): _replaced(entry, replace) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_replaced(entry, replace) for entry in value]
    return replace(value)


def _leaves(values: Mapping[str, Any]) -> Iterator[tuple[str, int, Any]]:
    """The texts and numbers in each value, numbered."""
    for name, value in values.items():
        yield from ((name, number, leaf) for number, leaf in enumerate(_plain(value)))


def _plain(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for entry in value.values():
            yield from _plain(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _plain(entry)
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
        yield value


def _forms(text: str) -> list[str]:
    """A text as it is, and as it is written inside JSON, URLs and headers."""
    forms = [text, json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1], quote(text, safe="")]
    if len(text) >= SHORTEST:
        forms.append(base64.b64encode(text.encode("utf-8", "surrogatepass")).decode().rstrip("="))
    return list(dict.fromkeys(forms))


def _cipher(key: bytes) -> Any:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(_derived(key, b"values"))


def _derived(key: bytes, purpose: bytes) -> bytes:
    return hmac.new(key, b"toolcrib secret inputs: " + purpose, hashlib.sha256).digest()


NOTHING = SecretInputs()
