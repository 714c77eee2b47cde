"""Accounts are stored without their secrets, and found by service and name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from toolcrib.accounts import Account, AccountStore
from toolcrib.accounts import store as account_store
from toolcrib.config.paths import Paths, find_paths
from toolcrib.config.secrets import SecretLocation, SecretStore
from toolcrib.errors import ConfigError, MissingSecret, NotFound, UsageError

DEADLINE = 10.0


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AccountStore:
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    return AccountStore.of_home(tmp_path)


WORK = Account(name="work", provider="imap", user="a@example.org", settings={"host": "h", "port": 993})


def test_an_account_is_found_again_by_another_store(store: AccountStore, tmp_path: Path) -> None:
    store.add(WORK, "hunter2")

    assert AccountStore.of_home(tmp_path).all() == (WORK,)
    assert AccountStore.of_home(tmp_path).secret(WORK) == "hunter2"


def test_the_file_is_private_and_holds_no_secret(store: AccountStore, tmp_path: Path) -> None:
    store.add(WORK, "hunter2")

    file = find_paths(tmp_path).accounts_file
    assert "hunter2" not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    assert json.loads(file.read_text())["accounts"]["work"]["user"] == "a@example.org"


def test_a_used_name_is_refused_unless_replaced(store: AccountStore) -> None:
    store.add(WORK, "one")

    with pytest.raises(UsageError, match="already an account"):
        store.add(WORK, "two")
    store.add(WORK, "two", replace=True)

    assert store.secret(WORK) == "two"


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "x" * 41, "ä"])
def test_an_odd_name_is_refused(store: AccountStore, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name"):
        store.add(Account(name=name, provider="imap"), "secret")


def test_a_removed_account_leaves_no_secret(store: AccountStore) -> None:
    store.add(WORK, "hunter2")
    store.remove("work")

    assert store.all() == ()
    with pytest.raises(MissingSecret):
        store.secret(WORK)
    with pytest.raises(NotFound, match="no account called 'work'"):
        store.get("work")


def test_a_damaged_file_is_not_overwritten(store: AccountStore, tmp_path: Path) -> None:
    file = find_paths(tmp_path).accounts_file
    file.write_text('{"version": 1, "accounts": {"x": 3}}')

    with pytest.raises(ConfigError, match="damaged"):
        store.add(WORK, "secret")
    assert file.read_text().endswith("3}}")


def test_an_account_never_gets_the_secret_of_another_that_is_added_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is stopped between its secret and its entry, while the other is added as a whole."""
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    secrets = SlowSecrets(find_paths(tmp_path))
    slow, quick = AccountStore(find_paths(tmp_path), secrets), AccountStore.of_home(tmp_path)
    other = replace(WORK, user="b@example.org")
    waits, lock = Event(), account_store.exclusive

    @contextmanager
    def noted(file: Path) -> Iterator[None]:
        if secrets.stored.is_set():
            waits.set()
        with lock(file):
            yield

    monkeypatch.setattr(account_store, "exclusive", noted)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(slow.add, WORK, "of a", replace=True)
        assert secrets.stored.wait(DEADLINE)
        second = threads.submit(quick.add, other, "of b", replace=True)
        assert waits.wait(DEADLINE)
        secrets.go_on.set()
        first.result(DEADLINE)
        second.result(DEADLINE)

    account = quick.get("work")
    assert (account.user, quick.secret(account)) == ("b@example.org", "of b")


def test_a_late_change_of_a_secret_does_not_reach_a_removed_or_replaced_account(store: AccountStore) -> None:
    store.add(WORK, "one")
    other = replace(WORK, user="b@example.org")
    store.add(other, "two", replace=True)
    with pytest.raises(NotFound, match="replaced"):
        store.set_secret(WORK, "late")
    assert store.secret(other) == "two"

    store.remove("work")
    with pytest.raises(NotFound, match="removed"):
        store.set_secret(other, "late")
    with pytest.raises(MissingSecret):
        store.secret(other)


def test_a_setting_that_is_not_a_number_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match="port of the account work is not a number"):
        replace(WORK, settings={"port": "x"}).number("port")


class SlowSecrets(SecretStore):
    """Stops after it has stored a secret."""

    def __init__(self, paths: Paths) -> None:
        super().__init__(paths)
        self.stored, self.go_on = Event(), Event()

    def set(self, name: str, value: str) -> SecretLocation:
        place = super().set(name, value)
        self.stored.set()
        assert self.go_on.wait(DEADLINE)
        return place
