"""Stores accounts in a private file, and their secrets in the secret store: rule for names, and errors for
unknown or damaged accounts.

The file is read on each use, so that an account added by another process works at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self, TypeVar

from toolcrib.accounts.account import Account, read_account
from toolcrib.config.paths import Paths, find_paths, make_private
from toolcrib.config.safe_files import exclusive, write_atomic
from toolcrib.config.secrets import SecretLocation, SecretStore
from toolcrib.errors import ConfigError, MissingSecret, NotFound, UsageError
from toolcrib.suggestions import did_you_mean

VERSION = 1
T = TypeVar("T")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")


class AccountStore:
    """Accounts by name. Calls may wait for the disk and the keyring: in an event loop, use a thread."""

    def __init__(self, paths: Paths, secrets: SecretStore | None = None) -> None:
        self.file = paths.accounts_file
        self._secrets = secrets or SecretStore(paths)

    @classmethod
    def of_home(cls, home: Path | None = None) -> Self:
        """The accounts of this home, else of `TOOLCRIB_HOME`, else of the user."""
        return cls(find_paths(home))

    def all(self) -> tuple[Account, ...]:
        """Every account, sorted by name."""
        return tuple(sorted(self._read().values(), key=lambda account: account.name))

    def get(self, name: str) -> Account:
        """The account; raises `NotFound`."""
        accounts = self._read()
        if name in accounts:
            return accounts[name]
        hint = did_you_mean(name, accounts) if accounts else "Add one with: toolcrib account add"
        raise NotFound(f"There is no account called {name!r}.", hint=hint)

    def check_name(self, name: str, *, replace: bool = False) -> None:
        """Raise `UsageError` for a name that a new account cannot have."""
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name[:60]!r} cannot be the name of an account.",
                hint="Use up to 40 letters, digits, dots, dashes and underscores.",
            )
        if not replace:
            _check_unused(name, self._read())

    def add(self, account: Account, secret: str, *, replace: bool = False) -> SecretLocation:
        """Store an account and its secret; returns where the secret is stored."""
        self.check_name(account.name, replace=replace)

        def change(accounts: dict[str, Account]) -> SecretLocation:
            if not replace:
                _check_unused(account.name, accounts)
            accounts[account.name] = account
            return self._secrets.set(_secret_name(account), secret)

        return self._change(change)

    def remove(self, name: str) -> Account:
        """Forget an account and its secret; raises `NotFound`."""
        account = self.get(name)

        def change(accounts: dict[str, Account]) -> Account:
            if self._secrets.place(_secret_name(account)) is not None:
                self._secrets.delete(_secret_name(account))
            return accounts.pop(name, account)

        return self._change(change)

    def has_secret(self, account: Account) -> bool:
        """Whether its secret is stored; does not open the keyring."""
        return self._secrets.place(_secret_name(account)) is not None

    def secret(self, account: Account) -> str:
        """Its password, token or stored sign-in; raises `MissingSecret`."""
        value = self._secrets.get(_secret_name(account))
        if value is None:
            raise MissingSecret(
                f"The secret of the account {account.name} is not stored.",
                hint=f"Add it again: toolcrib account add {account.provider} {account.name} --replace",
            )
        return value

    def set_secret(self, account: Account, value: str) -> SecretLocation:
        """Replace the secret of a stored account; raises `NotFound` if it was removed or replaced by now."""
        with exclusive(self.file):
            if self._read().get(account.name) != account:
                raise NotFound(
                    f"The account {account.name} was removed or replaced in the meantime.", hint="Try again."
                )
            return self._secrets.set(_secret_name(account), value)

    def _change(self, change: Callable[[dict[str, Account]], T]) -> T:
        """Change the file and the secrets as one, so that no account gets the secret of another."""
        make_private(self.file.parent)
        with exclusive(self.file):
            accounts = self._read()
            result = change(accounts)
            stored = {name: account.as_json() for name, account in sorted(accounts.items())}
            document = {"version": VERSION, "accounts": stored}
            try:
                write_atomic(self.file, json.dumps(document, indent=2, ensure_ascii=False).encode())
            except OSError as error:
                raise ConfigError(
                    f"{self.file} cannot be written: {error.strerror}.", hint="Free some disk space."
                ) from error
            return result

    def _read(self) -> dict[str, Account]:
        try:
            data = json.loads(self.file.read_bytes())
            if data["version"] > VERSION:
                raise ConfigError(f"{self.file} was written by a newer version.", hint="Update Toolcrib.")
            return {name: read_account(name, raw) for name, raw in data["accounts"].items()}
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise ConfigError(f"{self.file} cannot be read: {error.strerror}.") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigError(
                f"{self.file} is damaged.",
                hint="Put back a copy of it, or restore a backup with: toolcrib restore FILE",
            ) from error


def _check_unused(name: str, accounts: Mapping[str, Account]) -> None:
    if name in accounts:
        raise UsageError(
            f"There is already an account called {name!r}.",
            hint="Choose another name, or replace it with --replace.",
        )


def _secret_name(account: Account) -> str:
    return f"account.{account.name}"
