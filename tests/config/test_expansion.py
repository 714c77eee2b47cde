from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.config.expansion import Expanded, expand
from toolcrib.config.store import new_document
from toolcrib.errors import ConfigError, MissingSecret, MissingVariable

ENVIRON = {"NAME": "value", "EMPTY": "", "TRICK": "${NAME} ${secret:KEY}", "TRICK2": "$${NAME}"}
SECRETS = {"KEY": "s3cr3t", "dotted.name-1": "other", "NEWLINE": "x\n", "ZERO": "a\0b", "TRICK": "${NAME}"}


def filled(text: str, environ: Mapping[str, str] = ENVIRON) -> str:
    result: str = expand({"command": text}, environ, SECRETS.get)["command"]
    return result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${NAME}", "value"),
        ("a${NAME}b${NAME}", "avaluebvalue"),
        ("${EMPTY}", ""),
        ("${EMPTY:-default}", "default"),
        ("${NAME:-default}", "value"),
        ("${NOPE:-}", ""),
        ("${NOPE:-a b/c:-d$e}", "a b/c:-d$e"),
        ("${secret:KEY}", "s3cr3t"),
        ("${secret:dotted.name-1}", "other"),
        ("$NAME $ {NAME} {NAME}", "$NAME $ {NAME} {NAME}"),
        ("$${NAME}", "${NAME}"),
        ("$$${NAME}", "$${NAME}"),
        ("$${${NAME}}", "${value}"),
        ("100$", "100$"),
    ],
)
def test_references_are_filled_in(text: str, expected: str) -> None:
    assert filled(text) == expected


@pytest.mark.parametrize("text", ["${TRICK}", "${TRICK2}", "${secret:TRICK}", "${NOPE:-$NAME}"])
def test_what_was_filled_in_is_not_looked_at_again(text: str) -> None:
    assert "value" not in filled(text)
    assert "s3cr3t" not in filled(text)


def test_only_these_keys_are_expanded() -> None:
    reference = "${NAME}"
    raw = {
        "command": reference,
        "args": [reference, reference],
        "env": {"A": reference, "${NAME}": "b"},
        "url": reference,
        "headers": {"X": f"Bearer {reference}"},
        "cwd": reference,
        "module": reference,
        "note": [reference],
    }

    result = expand(raw, ENVIRON, SECRETS.get)

    assert result == {
        "type": "stdio",
        "command": "value",
        "args": ["value", "value"],
        "env": {"A": "value", "${NAME}": "b"},
        "url": "value",
        "headers": {"X": "Bearer value"},
        "cwd": "value",
        "module": reference,
        "note": [reference],
    }
    assert raw["args"] == [reference, reference]


def test_other_hosts_words_have_become_ours() -> None:
    result = expand({"type": "streamable-http", "serverUrl": "http://${NAME}/"}, ENVIRON, SECRETS.get)

    assert result == {"type": "http", "url": "http://value/"}
    gemini = {"httpUrl": "http://a/mcp", "url": "http://a/sse"}
    assert expand(gemini, {}, SECRETS.get) == {"type": "http", "url": "http://a/mcp"}
    assert expand({**gemini, "type": "sse"}, {}, SECRETS.get) == {"type": "sse", "url": "http://a/sse"}


def test_env_is_text_and_null_takes_a_name_out() -> None:
    raw = {"command": "x", "env": {"PORT": 8080, "RATE": 0.5, "GONE": None}}

    assert expand(raw, {}, SECRETS.get)["env"] == {"PORT": "8080", "RATE": "0.5"}


def test_an_unset_variable_is_named_with_its_place() -> None:
    with pytest.raises(MissingVariable, match=r"env\.TOKEN needs the variable NOPE") as caught:
        expand({"command": "x", "env": {"TOKEN": "${NOPE}"}}, ENVIRON, SECRETS.get)
    assert "toolcrib secret set NOPE" in caught.value.hint
    with pytest.raises(MissingVariable, match=r"args\[1\] needs"):
        expand({"command": "x", "args": ["a", "${NOPE}"]}, ENVIRON, SECRETS.get)


def test_an_unset_variable_is_the_stored_secret_of_its_name() -> None:
    entry = expand({"command": "x", "env": {"TOKEN": "Bearer ${KEY}"}}, ENVIRON, SECRETS.get)
    set_too = expand({"command": "x", "env": {"TOKEN": "${KEY}"}}, {"KEY": "from outside"}, SECRETS.get)

    assert (entry["env"]["TOKEN"], entry.secrets) == ("Bearer s3cr3t", {"s3cr3t"})
    assert (set_too["env"]["TOKEN"], set_too.secrets) == ("from outside", frozenset())


def test_a_secret_that_is_not_stored_is_named_with_its_place() -> None:
    with pytest.raises(MissingSecret, match=r"headers\.Authorization needs the secret NOPE") as caught:
        expand({"url": "u", "headers": {"Authorization": "Bearer ${secret:NOPE}"}}, ENVIRON, SECRETS.get)
    assert caught.value.hint == "Store it with: toolcrib secret set NOPE"


@pytest.mark.parametrize(
    "text",
    [
        "${",
        "${NAME",
        "${}",
        "${env:NAME}",
        "${input:key}",
        "${NAME-default}",
        "${1}",
        "${secret:}",
        "${secret:KEY:-default}",
        "${user_config.key}",
        "${NOPE:-${NAME}}",
        "${NAME:-${NOPE}}",
        "${ NAME }",
    ],
)
def test_a_reference_of_another_kind_is_an_error_not_a_literal(text: str) -> None:
    with pytest.raises(ConfigError, match="command") as caught:
        filled(text)
    assert caught.value.hint


def test_another_hosts_reference_is_answered_with_ours() -> None:
    with pytest.raises(ConfigError) as caught:
        filled("${env:NAME}")
    assert caught.value.hint == "Write ${NAME}."


def test_values_that_would_break_a_header_or_a_process_are_refused_unseen() -> None:
    with pytest.raises(ConfigError, match=r"headers\.X would contain a line break") as broken:
        expand({"url": "u", "headers": {"X": "${secret:NEWLINE}"}}, {}, SECRETS.get)
    assert "x\n" not in str(broken.value)
    with pytest.raises(ConfigError, match="null byte"):
        filled("${secret:ZERO}")


def test_secrets_that_were_used_are_told_and_not_shown() -> None:
    raw = {"command": "x", "env": {"A": "${secret:KEY}", "B": "${NAME}"}}

    result = expand(raw, ENVIRON, SECRETS.get)

    assert result.secrets == frozenset({"s3cr3t"})
    assert "s3cr3t" not in repr(result)
    assert "s3cr3t" not in f"{result}"
    assert isinstance(result, Expanded)


def test_a_new_home_may_have_an_odd_name(tmp_path: Any) -> None:
    folder = tmp_path / "${HOME}" / "$${x}"
    entry = new_document(folder)["mcpServers"]["filesystem"]

    assert expand(entry, {}, SECRETS.get)["args"] == [str(folder)]


@settings(deadline=None)
@given(st.text().filter(lambda text: "${" not in text and "\0" not in text))
def test_text_without_references_stays_as_it_is(text: str) -> None:
    once = filled(text)

    assert once == text
    assert filled(once) == once


values = st.text(alphabet="${}:-abNAMEsecrt \n", max_size=30)


@settings(deadline=None)
@given(values, values, values)
def test_a_value_comes_through_unchanged_whatever_it_holds(before: str, value: str, after: str) -> None:
    before, after = before.replace("$", ""), after.replace("$", "")

    assert filled(f"{before}${{V}}{after}", {"V": value}) == before + value + after


@settings(deadline=None)
@given(values)
def test_expansion_fills_in_or_explains(text: str) -> None:
    try:
        filled(text)
    except ConfigError as caught:
        error = caught
    else:
        return
    assert error.message.startswith("command")


@settings(deadline=None)
@given(st.text(alphabet="${}ab", max_size=20))
def test_an_escaped_text_means_itself(text: str) -> None:
    # "$" before "${" is not told apart from an escape, so texts with "$${" have no escaped form.
    if "$${" not in text:
        assert filled(text.replace("${", "$${")) == text
