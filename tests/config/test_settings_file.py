"""Single settings are written by dotted names; everything else in the file stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolcrib.config.settings import Settings
from toolcrib.config.settings_file import change_settings, check_key, given_keys, known_keys, shown, value_of
from toolcrib.config.store import ConfigStore
from toolcrib.errors import ConfigError, UsageError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {}, "toolcrib": {"retrieval": {"k": 3, "mine": 1}, "own": 2}}))
    return file


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_a_setting_is_written_and_the_rest_stays(path: Path) -> None:
    change_settings(ConfigStore(path), {"retrieval.k": 8, "agent.offerAll": 0, "globalEnabled": False})

    assert read(path) == {
        "mcpServers": {},
        "toolcrib": {"retrieval": {"k": 8, "mine": 1}, "own": 2, "agent": {"offerAll": 0}},
        "globalEnabled": False,
    }
    assert ConfigStore(path).read().settings.retrieval.k == 8


def test_nothing_takes_a_setting_out(path: Path) -> None:
    change_settings(ConfigStore(path), {"retrieval.k": None})

    assert read(path)["toolcrib"]["retrieval"] == {"mine": 1}


def test_the_other_spelling_does_not_hold_beside_ours(path: Path) -> None:
    path.write_text('{"toolcrib": {"retrieval": {"always_on": ["a"]}, "max_result_bytes": 2048}}')

    change_settings(ConfigStore(path), {"retrieval.alwaysOn": ["b"], "maxResultBytes": 4096})

    assert read(path)["toolcrib"] == {"retrieval": {"alwaysOn": ["b"]}, "maxResultBytes": 4096}


@pytest.mark.parametrize(
    ("key", "value"), [("retrieval.k", 99), ("retrieval.k", "many"), ("approvals.mode", "x")]
)
def test_a_wrong_value_leaves_the_file_as_it_was(path: Path, key: str, value: object) -> None:
    before = path.read_bytes()
    with pytest.raises(ConfigError, match=key):
        change_settings(ConfigStore(path), {key: value})

    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "key", ["retrieval.kk", "retrieval", "", "retrieval.k.x", "gateway.tokenHash", "mcpServers"]
)
def test_a_name_that_is_not_known_is_refused(path: Path, key: str) -> None:
    with pytest.raises(UsageError):
        change_settings(ConfigStore(path), {key: 1})


@pytest.mark.parametrize(
    "key", ["retrieval.embedder.kind", "approvals.modes.gateway", "agent.prices.gpt.input"]
)
def test_names_may_be_deep_and_free(key: str) -> None:
    check_key(key)


def test_what_holds_and_what_the_file_says_are_told_apart(path: Path) -> None:
    settings = ConfigStore(path).read().settings

    assert value_of(settings, "retrieval.k") == 3
    assert value_of(settings, "approvals.modes.nobody") is None
    assert given_keys(read(path)) == ["retrieval.k", "retrieval.mine", "own"]
    assert {"globalEnabled", "retrieval.k", "approvals.modes.*", "profiles.*.readOnly"} <= {*known_keys()}


def test_neither_hashes_of_tokens_nor_keys_are_shown_around() -> None:
    settings = Settings.read(
        {"gateway": {"tokenHash": "abc"}, "retrieval": {"embedder": {"apiKey": "sk-123"}}}
    )

    assert "abc" not in json.dumps(shown(settings))
    assert "sk-123" not in json.dumps(shown(settings))
