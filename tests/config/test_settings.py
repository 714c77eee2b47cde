from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from toolcrib.config.document import parse_document
from toolcrib.config.settings import Settings, read_settings
from toolcrib.errors import ConfigError


def test_an_empty_file_gives_the_defaults() -> None:
    settings = read_settings(parse_document("{}"))

    assert settings == Settings()
    assert settings.global_enabled
    assert (settings.tool_prefix, settings.audit_days, settings.call_wait) == ("", 90, 5.0)
    assert settings.start_concurrency >= 1


def test_settings_are_camel_case_in_the_file() -> None:
    settings = read_settings(
        parse_document(
            '{"globalEnabled": false, "toolcrib": {"toolPrefix": "mcp__", "auditDays": 7, "callWait": 1,'
            ' "livenessInterval": 2.5, "startConcurrency": 3, "maxResultBytes": 2048, "later": {}}}'
        )
    )

    assert settings == Settings(
        global_enabled=False,
        tool_prefix="mcp__",
        audit_days=7,
        call_wait=1.0,
        liveness_interval=2.5,
        start_concurrency=3,
        max_result_bytes=2048,
    )


@pytest.mark.parametrize(
    ("text", "says", "line"),
    [
        ('{"toolcrib": {\n"auditDays": "ten"}}', "toolcrib.auditDays", 2),
        ('{"toolcrib": {\n"startConcurrency": 0}}', "toolcrib.startConcurrency", 2),
        ('{"toolcrib": {\n"toolPrefix": "x__"}}', "toolcrib.toolPrefix", 2),
        ('{\n"globalEnabled": "no"}', "globalEnabled", 2),
        ('{\n"toolcrib": 5}', "toolcrib must be an object", 2),
    ],
)
def test_a_wrong_setting_is_named_with_its_line(text: str, says: str, line: int) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        read_settings(parse_document(text))
    assert caught.value.line == line


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().audit_days = 1  # type: ignore[misc]


def test_profiles_search_and_gateway_have_settings_of_their_own() -> None:
    settings = read_settings(
        parse_document(
            '{"toolcrib": {"retrieval": {"k": 3, "alwaysOn": ["a__*"]}, "gateway": {"maxSessions": 2},'
            ' "profiles": {"p": {"readOnly": true, "alwaysOn": [], "tokenHash": "sha256:aa:bb"}}}}'
        )
    )

    profile = settings.profiles["p"]
    assert (settings.retrieval.k, settings.retrieval.always_on, settings.gateway.max_sessions) == (
        3,
        ("a__*",),
        2,
    )
    assert (profile.read_only, profile.k, profile.always_on, profile.token_hash) == (
        True,
        None,
        (),
        "sha256:aa:bb",
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '{"toolcrib": {"profiles": {\n"p": {"token": "s3cret"}}}}',
            "toolcrib.profiles.p must not contain a token",
        ),
        ('{"toolcrib": {\n"gateway": {"token": "s3cret"}}}', "toolcrib profiles token"),
        ('{"toolcrib": {"gateway": {\n"maxSessions": 0}}}', "toolcrib.gateway.maxSessions"),
        ('{"toolcrib": {"profiles": {"p": {\n"readOnly": "yes"}}}}', "toolcrib.profiles.p.readOnly"),
    ],
)
def test_what_is_wrong_inside_a_part_is_named_with_its_line(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        read_settings(parse_document(text))
    assert caught.value.line == 2
    assert "s3cret" not in str(caught.value)
