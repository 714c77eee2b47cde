"""A home of its own for each test, with the system keyring left alone unless a test brings one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import keyring
import keyring.core
import pytest

from toolcrib.config.paths import Paths, find_paths
from toolcrib.config.store import ConfigStore


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return find_paths(tmp_path / "home")


@pytest.fixture
def store(paths: Paths) -> ConfigStore:
    return ConfigStore(paths.config_file, paths.files)


@pytest.fixture
def restored_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    yield
    keyring.set_keyring(before)
