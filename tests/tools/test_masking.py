from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.config.secret_detection import is_secret_key
from toolcrib.tools.masker import MAX_TEXT, Masker

SECRETS = [
    "Bearer abcdefghijklmnop",
    "sk-proj-abcdefghijklmnopqrstuvwxyz",
    "sk_live_abcdefghijklmnopqrstuv",
    "ghp_" + "a" * 36,
    "github_pat_" + "a" * 40,
    "glpat-" + "a" * 20,
    "xoxb-1234567890-abcdef",
    "npm_" + "a" * 36,
    "hf_" + "a" * 30,
    "AKIAIOSFODNN7EXAMPLE",
    "AIza" + "a" * 35,
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcdefghijk",
    "eyJ" + "a" * 3000 + ".b.c",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n" + "A" * 5000,
]


def masked(arguments: dict[str, Any], *known: str) -> Any:
    return json.loads(Masker(known).arguments(arguments))


@pytest.mark.parametrize(
    "key",
    [
        *("password", "Password", "user_password", "passwd", "passphrase", "pwd", "secret", "client_secret"),
        *(
            "token",
            "access_token",
            "accessToken",
            "apiKey",
            "api_key",
            "api-key",
            "X-API-Key",
            "authorization",
        ),
        *(
            "Authorization",
            "auth",
            "credentials",
            "cookie",
            "Set-Cookie",
            "private_key",
            "sessionId",
            "pin",
            "otp",
        ),
    ],
)
def test_values_under_telling_keys_are_masked(key: str) -> None:
    assert is_secret_key(key)
    assert masked({"plain": "seen", "deep": [{key: "hidden"}]}) == {"plain": "seen", "deep": [{key: "***"}]}
    assert masked({key: 12345}) == {key: "***"}


@pytest.mark.parametrize(
    "key",
    ["max_tokens", "tokens", "author", "keyboard", "keyword", "passenger", "compass_x", "path", "spin_up"],
)
def test_ordinary_keys_are_left_alone(key: str) -> None:
    assert masked({key: "seen"}) == {key: "seen"}


@pytest.mark.parametrize("value", [None, True, False, ""])
def test_nothing_to_hide_is_shown(value: Any) -> None:
    assert masked({"password": value}) == {"password": value}


@pytest.mark.parametrize("secret", SECRETS)
def test_values_that_look_like_secrets_are_masked_wherever_they_stand(secret: str) -> None:
    for arguments in (
        {"text": f"use {secret} now"},
        {"list": ["a", secret]},
        {"a": {"b": secret}},
        {secret: 1},
    ):
        text = Masker().arguments(arguments)

        assert secret[:30] not in text
        assert secret[10:40] not in text
        assert "***" in text


def test_credentials_in_an_address_are_masked() -> None:
    assert masked({"url": "postgres://me:hunter2@db/x"}) == {"url": "postgres://***@db/x"}


@pytest.mark.parametrize("secret", ["correct horse", 'quo"ted\\secret', "gehéimnis", "line\nbreak-secret"])
def test_known_values_are_masked_whatever_they_look_like(secret: str) -> None:
    masker = Masker()
    masker.learn([secret])

    for arguments in ({"a": secret}, {"a": f"x{secret}y"}, {"a": {"b": [secret]}}, {"a": "z" * 490 + secret}):
        text = masker.arguments(arguments)
        assert "***" in text
        assert json.dumps(secret)[1:-1] not in text
    assert secret not in masker.text(f"failed with {secret}")


def test_a_known_secret_that_begins_another_hides_both() -> None:
    assert masked({"a": "abcdef-long abcdef"}, "abcdef", "abcdef-long") == {"a": "*** ***"}


def test_short_known_values_do_not_blank_out_words() -> None:
    assert masked({"a": "a cat"}, "cat", "") == {"a": "a cat"}


@pytest.mark.parametrize(
    "arguments",
    [
        {"content": "x" * 10_000_000},
        {"list": list(range(100_000))},
        {str(number): "x" * 400 for number in range(1000)},
        {"n": 10**5000},
        {"list": [10**5000]},
        {"o": object(), "s": {1, 2}, "b": b"x"},
        {"nested": [[[[[[[[[[[[["deep"]]]]]]]]]]]]]},
    ],
)
def test_what_is_kept_is_short_and_still_json(arguments: dict[str, Any]) -> None:
    text = Masker().arguments(arguments)

    assert isinstance(json.loads(text), dict)
    assert len(text) < MAX_TEXT * 2


def test_arguments_that_contain_themselves_are_cut() -> None:
    loop: dict[str, Any] = {"a": 1}
    loop["self"] = loop

    assert json.loads(Masker().arguments(loop))["a"] == 1


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=30)),
    lambda below: st.one_of(
        st.lists(below, max_size=3), st.dictionaries(st.text(max_size=8), below, max_size=3)
    ),
    max_leaves=10,
)


@given(arguments=st.dictionaries(st.text(max_size=8), values, max_size=4))
def test_any_arguments_can_be_written_down(arguments: dict[str, Any]) -> None:
    assert isinstance(json.loads(Masker(["known-secret"]).arguments(arguments)), dict)


@given(before=st.text(max_size=40), after=st.text(max_size=40))
def test_a_known_secret_never_comes_through(before: str, after: str) -> None:
    secret = "S3CR\u00cbT-VALUE"

    text = Masker([secret]).arguments({"a": before + secret + after, "b": [before + secret]})

    assert secret not in json.dumps(json.loads(text), ensure_ascii=False)
