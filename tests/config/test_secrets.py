from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator

import keyring
import keyring.backends.fail
import keyring.backends.null
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError

from toolcrib.config.paths import Paths, find_paths
from toolcrib.config.secrets import SecretStore
from toolcrib.errors import ConfigError, MissingSecret, NotFound, UsageError

OFF = {"TOOLCRIB_KEYRING": "off"}


class MemoryKeyring(KeyringBackend):
    """A keyring that works."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if (service, username) not in self.kept:
            raise PasswordDeleteError("not there")
        del self.kept[service, username]


class LockedKeyring(MemoryKeyring):
    """A keyring that nobody unlocks; its errors quote what they were given."""

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked(username)

    def set_password(self, service: str, username: str, password: str) -> None:
        raise RuntimeError(f"could not store {password}")


class HangingKeyring(MemoryKeyring):
    """A keyring that waits for a desktop that is not there."""

    def __init__(self) -> None:
        super().__init__()
        self.released = threading.Event()
        self.asked = 0

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        self.released.wait()
        return None

    def set_password(self, service: str, username: str, password: str) -> None:
        self.get_password(service, username)


@pytest.fixture
def in_file(paths: Paths) -> SecretStore:
    return SecretStore(paths, OFF)


@pytest.fixture
def working(restored_keyring: None) -> MemoryKeyring:
    backend = MemoryKeyring()
    keyring.set_keyring(backend)
    return backend


@pytest.fixture
def hanging(restored_keyring: None) -> Iterator[HangingKeyring]:
    backend = HangingKeyring()
    keyring.set_keyring(backend)
    yield backend
    backend.released.set()


def test_a_secret_comes_back_by_its_name(in_file: SecretStore) -> None:
    assert in_file.set("KEY", "s3cr3t") == "file"
    in_file.set("B", "ü\n\t\"'")
    in_file.set("KEY", "newer")

    assert in_file.get("KEY") == "newer"
    assert in_file.get("B") == "ü\n\t\"'"
    assert in_file.get("NOPE") is None
    assert in_file.names() == ("B", "KEY")
    assert in_file.place("KEY") == "file"
    assert in_file.place("NOPE") is None


def test_a_deleted_secret_is_gone(in_file: SecretStore) -> None:
    in_file.set("KEY", "s3cr3t")
    in_file.delete("KEY")

    assert in_file.get("KEY") is None
    with pytest.raises(NotFound):
        in_file.delete("KEY")


def test_deleting_what_is_not_there_guesses_what_was_meant(in_file: SecretStore) -> None:
    in_file.set("GITHUB_TOKEN", "x")

    with pytest.raises(NotFound) as caught:
        in_file.delete("GITHUB_TOKN")
    assert caught.value.hint == "Did you mean 'GITHUB_TOKEN'?"


def test_the_file_is_for_this_user_alone_on_a_permissive_umask(in_file: SecretStore, paths: Paths) -> None:
    before = os.umask(0)
    try:
        in_file.set("KEY", "s3cr3t")
    finally:
        os.umask(before)

    for _ in range(2):
        assert stat.S_IMODE(paths.secrets_file.stat().st_mode) == 0o600
        paths.secrets_file.chmod(0o644)
        in_file.names()


@pytest.mark.parametrize("name", ["", "a b", "../x", "a:b", "${x}", "x" * 101, "-x"])
def test_a_name_that_could_not_be_referred_to_is_refused(in_file: SecretStore, name: str) -> None:
    with pytest.raises(UsageError):
        in_file.set(name, "s3cr3t")


@pytest.mark.parametrize("value", ["", "s3cr3t\0", "s3cr3t\udc80"])
def test_a_value_that_no_server_could_get_is_refused_unseen(in_file: SecretStore, value: str) -> None:
    with pytest.raises(UsageError) as caught:
        in_file.set("KEY", value)
    assert "s3cr3t" not in str(caught.value) + repr(caught.value)
    assert in_file.names() == ()


def test_nothing_shows_a_secret(in_file: SecretStore) -> None:
    in_file.set("KEY", "s3cr3t")
    in_file.get("KEY")

    assert "s3cr3t" not in repr(in_file) + repr(vars(in_file))


@pytest.mark.parametrize("text", ["{'s3cr3t'", '{"version": 2, "secrets": {"A": "s3cr3t"}}', '"s3cr3t"'])
def test_a_damaged_file_is_neither_shown_nor_overwritten(
    in_file: SecretStore, paths: Paths, text: str
) -> None:
    in_file.set("KEY", "x")
    paths.secrets_file.write_text(text)

    for act in (lambda: in_file.get("KEY"), lambda: in_file.set("KEY", "y"), in_file.names):
        with pytest.raises(ConfigError) as caught:
            act()
        assert "s3cr3t" not in str(caught.value)
    assert paths.secrets_file.read_text() == text


def test_a_keyring_keeps_secrets_and_the_file_only_their_names(paths: Paths, working: MemoryKeyring) -> None:
    store = SecretStore(paths, {})

    assert store.set("KEY", "s3cr3t") == "keyring"

    assert [service for service, _ in working.kept] == ["toolcrib"]
    assert "s3cr3t" not in paths.secrets_file.read_text()
    assert store.names() == ("KEY",)
    assert store.place("KEY") == "keyring"
    assert store.get("KEY") == "s3cr3t"
    store.delete("KEY")
    assert working.kept == {}
    assert store.names() == ()


def test_two_homes_do_not_share_a_keyrings_secrets(paths: Paths, working: MemoryKeyring) -> None:
    one = SecretStore(paths, {})
    assert paths.home is not None
    other = SecretStore(find_paths(paths.home / "other"), {})
    one.set("KEY", "first")
    other.set("KEY", "second")

    other.delete("KEY")

    assert one.get("KEY") == "first"


def test_a_secret_moves_from_the_file_to_a_keyring_that_has_come(
    paths: Paths, working: MemoryKeyring
) -> None:
    SecretStore(paths, OFF).set("KEY", "s3cr3t")

    SecretStore(paths, {}).set("KEY", "s3cr3t")

    assert json.loads(paths.secrets_file.read_text())["secrets"] == {}


@pytest.mark.parametrize(
    "backend", [LockedKeyring, keyring.backends.fail.Keyring, keyring.backends.null.Keyring]
)
def test_where_no_keyring_works_the_file_does(
    paths: Paths,
    restored_keyring: None,
    backend: type[KeyringBackend],
    caplog: pytest.LogCaptureFixture,
) -> None:
    keyring.set_keyring(backend())
    store = SecretStore(paths, {})

    with caplog.at_level("DEBUG"):
        assert store.set("KEY", "s3cr3t") == "file"

    assert store.get("KEY") == "s3cr3t"
    assert "s3cr3t" not in caplog.text


def test_a_keyring_that_hangs_is_asked_once_and_then_left_alone(
    paths: Paths, hanging: HangingKeyring
) -> None:
    store = SecretStore(paths, {}, patience=0.1)

    for name in ("A", "B", "C"):
        assert store.set(name, "s3cr3t") == "file"

    assert hanging.asked == 1
    assert store.get("A") == "s3cr3t"


def test_a_keyring_that_was_lost_is_named_as_the_reason(paths: Paths, working: MemoryKeyring) -> None:
    SecretStore(paths, {}).set("KEY", "s3cr3t")
    keyring.set_keyring(LockedKeyring())
    store = SecretStore(paths, {})

    with pytest.raises(MissingSecret, match="keyring") as caught:
        store.get("KEY")
    assert "toolcrib secret set KEY" in caught.value.hint
    with pytest.raises(ConfigError, match="keyring"):
        store.delete("KEY")
    with pytest.raises(MissingSecret):
        SecretStore(paths, OFF).get("KEY")
    assert store.names() == ("KEY",)


def test_an_unknown_secret_does_not_touch_the_keyring(paths: Paths, hanging: HangingKeyring) -> None:
    assert SecretStore(paths, {}).get("NOPE") is None
    assert hanging.asked == 0


HANG_AND_LEAVE = """
import sys, threading, keyring
from pathlib import Path
from keyring.backend import KeyringBackend
from toolcrib.config.paths import find_paths
from toolcrib.config.secrets import SecretStore

class Hanging(KeyringBackend):
    priority = 1
    def get_password(self, service, username): threading.Event().wait()
    def set_password(self, service, username, password): threading.Event().wait()
    def delete_password(self, service, username): threading.Event().wait()

keyring.set_keyring(Hanging())
print(SecretStore(find_paths(Path(sys.argv[1])), {}, patience=0.1).set("KEY", "s3cr3t"))
"""


def test_a_keyring_that_hangs_does_not_keep_the_process_from_ending(paths: Paths) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", HANG_AND_LEAVE, str(paths.home)], capture_output=True, text=True, timeout=60
    )

    assert (ended.stdout.strip(), ended.returncode) == ("file", 0)


WRITE_MANY = """
import sys
from pathlib import Path
from toolcrib.config.paths import find_paths
from toolcrib.config.secrets import SecretStore

store = SecretStore(find_paths(Path(sys.argv[1])))
for number in range(20):
    store.set(f"{sys.argv[2]}_{number}", "s3cr3t")
"""


def test_two_processes_lose_no_secret(paths: Paths, in_file: SecretStore) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", WRITE_MANY, str(paths.home), who], env={**os.environ, **OFF})
        for who in ("A", "B")
    ]

    assert [process.wait(60) for process in running] == [0, 0]
    assert len(in_file.names()) == 40
