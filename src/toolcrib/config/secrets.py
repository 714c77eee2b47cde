"""Stores secrets by name: in the system's keyring, or in a private file if there is none. Has the rule for
names, and the errors for secrets that are missing or cannot be read.

The file also lists the names in the keyring, since keyrings cannot be listed. No secret is ever part of a
message, a representation or a log.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from toolcrib.config.keychain import PATIENCE as KEYRING_PATIENCE
from toolcrib.config.keychain import Keychain, KeychainUnavailable
from toolcrib.config.paths import Paths, make_private
from toolcrib.config.safe_files import exclusive, write_atomic
from toolcrib.errors import ConfigError, MissingSecret, NotFound, UsageError

SecretLocation = Literal["keyring", "file"]

KEYRING_VARIABLE = "TOOLCRIB_KEYRING"
"""Set to `off`, it keeps all secrets in the file."""
VERSION = 1
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


@dataclass
class _Content:
    """The file: the secrets it holds, and the names of those that the keyring holds."""

    secrets: dict[str, str] = field(default_factory=dict, repr=False)
    keyring: list[str] = field(default_factory=list)

    def forget(self, name: str) -> None:
        self.secrets.pop(name, None)
        self.keyring = [other for other in self.keyring if other != name]


class SecretStore:
    """Secrets by name. A call may wait for the user to unlock the keyring: in an event loop, use a thread."""

    def __init__(
        self, paths: Paths, environ: Mapping[str, str] = os.environ, patience: float = KEYRING_PATIENCE
    ) -> None:
        self._file = paths.secrets_file
        self._home = paths.home
        self._environ = environ
        self._keychain = Keychain(patience)
        self.on_value: Callable[[Iterable[str]], object] = lambda values: None
        """Called with every value that is read or stored, so that it can be masked."""

    def get(self, name: str) -> str | None:
        """The secret, or None when none is stored; raises `MissingSecret` when the keyring withholds it."""
        content = self._read()
        if name not in content.keyring:
            self.on_value(content.secrets.values())
            return content.secrets.get(name)
        try:
            value = self._keychain.get(self._account(name)) if self._keyring_wanted else None
        except KeychainUnavailable:
            value = None
        if value is not None:
            self.on_value([value])
            return value
        raise MissingSecret(
            f"The secret {name} is in the system keyring, which did not return it.",
            hint=f"Unlock the keyring, or store it again with: toolcrib secret set {name}",
        )

    def set(self, name: str, value: str) -> SecretLocation:
        """Store a secret, replacing an earlier one; returns where it is stored."""
        _check(name, value)
        self.on_value([value])
        place = self._to_keyring(name, value)

        def change(content: _Content) -> None:
            content.forget(name)
            if place == "keyring":
                content.keyring.append(name)
            else:
                content.secrets[name] = value

        self._change(change)
        return place

    def delete(self, name: str) -> None:
        """Forget a secret; raises `NotFound`."""
        content = self._read()
        if name not in (*content.keyring, *content.secrets):
            close = difflib.get_close_matches(name, self.names(), n=1)
            raise NotFound(
                f"No secret is called {name!r}.",
                hint=f"Did you mean {close[0]!r}?" if close else "List them with: toolcrib secret",
            )
        if name in content.keyring:
            self._from_keyring(name)
        self._change(lambda content: content.forget(name))

    def names(self) -> tuple[str, ...]:
        """The names of all secrets, sorted."""
        content = self._read()
        return tuple(sorted({*content.keyring, *content.secrets}))

    def tell(self) -> None:
        """Call `on_value` with the values in the file, and not with those in the keyring, which may ask."""
        self.on_value(self._read().secrets.values())

    def place(self, name: str) -> SecretLocation | None:
        """Where a secret is stored; None if there is no such secret."""
        content = self._read()
        if name in content.keyring:
            return "keyring"
        return "file" if name in content.secrets else None

    def next_place(self) -> SecretLocation:
        """Where a new secret would be stored, as far as can be told without storing one."""
        return "keyring" if self._keyring_wanted and self._keychain.is_usable() else "file"

    def with_added(self, values: Mapping[str, str]) -> bytes:
        """The content of the file with more secrets in it, for a restore that replaces it later."""
        content = self._read()
        for name, value in values.items():
            _check(name, value)
            content.forget(name)
            content.secrets[name] = value
        return _render(content)

    @property
    def _keyring_wanted(self) -> bool:
        return self._environ.get(KEYRING_VARIABLE, "").strip().lower() not in ("off", "0", "false", "no")

    def _account(self, name: str) -> str:
        """Secrets of a home that the user chose are separate from those of the default one."""
        if self._home is None:
            return name
        return f"{name}@{hashlib.sha256(os.fsencode(self._home)).hexdigest()[:12]}"

    def _to_keyring(self, name: str, value: str) -> SecretLocation:
        if not self._keyring_wanted:
            return "file"
        try:
            self._keychain.set(self._account(name), value)
        except KeychainUnavailable:
            return "file"
        return "keyring"

    def _from_keyring(self, name: str) -> None:
        try:
            if self._keyring_wanted:
                self._keychain.delete(self._account(name))
                return
        except KeychainUnavailable:
            pass
        raise ConfigError(
            f"The secret {name} is in the system keyring, which cannot be reached.",
            hint=f"Unlock the keyring and try again; unset {KEYRING_VARIABLE} if it is set.",
        )

    def _change(self, change: Callable[[_Content], None]) -> None:
        make_private(self._file.parent)
        with exclusive(self._file):
            content = self._read()
            change(content)
            try:
                write_atomic(self._file, _render(content))
            except OSError as error:
                raise ConfigError(
                    f"{self._file} cannot be written: {error.strerror}.",
                    hint="The secrets stored before are unchanged. Free some disk space and try again.",
                ) from error

    def _read(self) -> _Content:
        try:
            text = self._file.read_bytes()
        except FileNotFoundError:
            return _Content()
        except OSError as error:
            raise ConfigError(f"{self._file} cannot be read: {error.strerror}.") from error
        _tighten(self._file)
        return _parse(self._file, text)


def _render(content: _Content) -> bytes:
    document = {"version": VERSION, "secrets": content.secrets, "keyring": sorted(content.keyring)}
    return json.dumps(document, indent=2, sort_keys=True).encode()


def _check(name: str, value: str) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name[:100]!r} cannot be the name of a secret.",
            hint="Use up to 100 letters, digits, dots, dashes and underscores.",
        )
    if not value or "\0" in value or _unencodable(value):
        raise UsageError(f"The value for {name} is empty or not text.", hint="Give text without null bytes.")


def _unencodable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return True
    return False


def _parse(file: Path, text: bytes) -> _Content:
    """Errors hold no text of the file: it is all secrets."""
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    found = data if isinstance(data, dict) else {}
    secrets, keyring = found.get("secrets"), found.get("keyring")
    if found.get("version") != VERSION or not isinstance(secrets, dict) or not isinstance(keyring, list):
        if isinstance(version := found.get("version"), int) and version > VERSION:
            raise ConfigError(f"{file} was written by a newer version.", hint="Update Toolcrib.")
        raise ConfigError(
            f"{file} is damaged.",
            hint="Put back a copy of it, or restore a backup with: toolcrib restore FILE",
        )
    return _Content(secrets=secrets, keyring=keyring)


def _tighten(file: Path) -> None:
    """Take the file from other users' eyes, should it have been copied with wider permissions."""
    if file.stat().st_mode & 0o077:
        file.chmod(0o600)
