"""The URL of the database: libpq reads it, no secret is stored or shown, and TLS is verified."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from urllib.parse import quote

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from toolcrib.config.database_url import (
    SECRET_KEYS,
    connection_url,
    is_database,
    parameters_of,
    secured,
    split_secrets,
    tls_warning,
    with_secrets,
)
from toolcrib.errors import UsageError

NASTY = (
    "Hash#Pw", "What?Pw", "a/b", "p@ss", "a:b", "100%", "%41", "a&b=c", "a b", "quo'te", 'dou"ble',
    "back\\slash", "[x]", "ünïcode", "a,b", "?password=x", "#", "@", "//@", "x@h/db?user=y",
    "&sslmode=disable", "$(id)", "é%2F",
)  # fmt: skip
"""Passwords with every character that has a meaning somewhere in a URL or a connection string."""
PLACES: tuple[dict[str, str], ...] = (
    {"user": "crib", "host": "db.test", "port": "5432", "dbname": "crib"},
    {"user": "c#r@i:b", "host": "127.0.0.1", "dbname": "a b/c?"},
    {"user": "crib", "host": "::1", "port": "5433", "dbname": "crib"},
    {"user": "crib", "host": "fe80::1%eth0", "dbname": "crib"},
    {"user": "crib", "host": "/var/run/post gres", "dbname": "crib"},
    {"user": "crib", "host": "a.test,b.test,::1", "port": "1,2,3", "dbname": "crib", "sslmode": "require"},
    {"user": "crib", "host": "a.test,b.test", "hostaddr": "10.0.0.1,10.0.0.2", "port": "5432"},
    {"dbname": "crib"},
    {"service": "mine", "options": "-csearch_path=team -c x='y'", "application_name": "me@here"},
)


class Stored(dict[str, str]):
    """Secrets by name."""


def spellings(place: Mapping[str, str], password: str) -> list[str]:
    """Ways to write the same connection: with the password as user info, in the query, and as key=value."""
    given = {**place, "password": password}
    user = quote(place.get("user", ""), safe="")
    query = "&".join(f"{key}={quote(value, safe='')}" for key, value in place.items() if key != "user")
    return [
        make_conninfo(**given),
        f"postgresql://{user}:{quote(password, safe='')}@?{query}",
        f"postgresql://{user}{'@' if user else ''}?{query}&password={quote(password, safe='')}",
        f"postgres:///?{'user=' + user + '&' if user else ''}password={quote(password, safe='')}&{query}",
    ]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: "-".join(place.values())[:30])
def test_a_url_keeps_its_parameters_and_loses_its_password(place: dict[str, str]) -> None:
    cases = [(password, text) for password in NASTY for text in spellings(place, password)]
    for password, text in cases:
        public, secret = split_secrets(text)

        assert secret == {"password": password}
        assert is_database(public)
        assert conninfo_to_dict(public) == place
        whole = connection_url(public, Stored({"database-password": password}))
        assert conninfo_to_dict(whole) == {**place, "password": password}
        assert split_secrets(whole) == (public, secret)
        assert with_secrets(text, {}) == whole


@pytest.mark.parametrize("key", SECRET_KEYS)
def test_every_secret_parameter_is_taken_out(key: str) -> None:
    if key not in {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}:
        return  # of another version of libpq
    for text in (f"postgresql://u@h/d?{key}=Hidden", f"host=h user=u dbname=d {key}=Hidden"):
        assert split_secrets(text) == ("postgresql://u@h/d", {key: "Hidden"})
    assert not is_database(f"postgresql://u@h/d?{key}=Hidden")


def test_libpq_has_no_secret_parameter_that_we_do_not_know() -> None:
    hidden = {o.keyword.decode() for o in psycopg.pq.Conninfo.get_defaults() if o.dispchar == b"*"}

    assert hidden <= set(SECRET_KEYS)


@pytest.mark.parametrize("password", NASTY)
def test_an_unquoted_password_is_read_as_libpq_does_or_refused_without_repeating_it(password: str) -> None:
    for text in (
        f"postgresql://crib:{password}@127.0.0.1:5432/crib",
        f"postgresql://crib:{password}@127.0.0.1",
        f"postgresql://{password}@127.0.0.1/crib",
        f"postgresql://crib:{password}",
        f"host=127.0.0.1 user=crib password={password}",
    ):
        public, secret, message = _read(text)
        if message:
            assert len(password) < 4 or password not in message
            continue
        assert {**conninfo_to_dict(public), **secret} == conninfo_to_dict(text)
        if "crib:" in text and len(password) > 3:
            assert password not in public


def _read(text: str) -> tuple[str, dict[str, str], str]:
    try:
        return (*split_secrets(text), "")
    except UsageError as error:
        return "", {}, error.message


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://crib:se/cret@127.0.0.1/crib",
        "postgresql://crib:se/cret",
        "postgresql://crib:se@cret@127.0.0.1/crib",
        "postgresql://crib:se/cr?et=x@127.0.0.1/crib",
        "postgresql://h?password=secret@x",
        "postgresql://u@h/d?nonsense=secret",
        "postgresql://u:%ff@h/d",
        "postgresql://u:%00@h/d",
        "dbname=postgresql://u:secret@h/d",
        "secret",
    ],
)
def test_a_url_that_may_mean_something_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parameters_of(text)

    assert "secret" not in caught.value.message
    assert "cret" not in caught.value.message
    assert "%23" in caught.value.hint


@pytest.mark.parametrize(
    "value",
    [
        "postgresql://u:p@h/d",
        "postgresql://u:a#b@h/d",
        "postgresql://u@h/d?password=x",
        "postgresql://u@h/d?%70assword=x",
        "postgresql://u@h/d?a=b&sslpassword=x",
        "postgresql://u:a/b@h/d",
        "postgresql://u#x@h/d",
        "host=h password=x",
    ],
)
def test_the_config_file_takes_no_url_with_a_secret(value: str) -> None:
    assert not is_database(value)


LOCAL = ("", "localhost", "127.0.0.1", "127.8.9.1", "::1", "/run/postgresql", "@socket", "localhost,::1,/tmp")
REMOTE = (
    "db.test", "10.0.0.1", "localhost.evil.test", "127.0.0.1.evil.test", "localhost,db.test", "2130706433",
    "::ffff:10.0.0.1", "LOCALHOST.", "0.0.0.0",
)  # fmt: skip


@pytest.mark.parametrize("host", REMOTE)
def test_another_machine_must_show_a_certificate_unless_less_is_named(host: str) -> None:
    for key, environ in itertools.product(("host", "hostaddr"), ({}, {"PGSSLMODE": "disable"})):
        assert secured({key: host}, environ)["sslmode"] == "verify-full"
        assert secured({key: host, "sslmode": ""}, environ)["sslmode"] == "verify-full"
        assert secured({key: host}, environ)["gssencmode"] == "disable"
        for mode in ("disable", "allow", "prefer", "require", "verify-ca"):
            assert secured({key: host, "sslmode": mode}, environ)["sslmode"] == mode
    assert secured({}, {"PGHOST": host})["sslmode"] == "verify-full"
    assert secured({"host": "localhost", "hostaddr": host}, {})["sslmode"] == "verify-full"
    assert secured({"host": host, "hostaddr": "127.0.0.1"}, {})["sslmode"] == "verify-full"
    assert secured({"host": "localhost"}, {"PGHOSTADDR": host})["sslmode"] == "verify-full"
    assert secured({"host": "localhost", "service": "x"}, {})["sslmode"] == "verify-full"
    assert secured({"service": "somewhere"}, {})["sslmode"] == "verify-full"
    assert secured({}, {"PGSERVICE": "somewhere"})["sslmode"] == "verify-full"


@pytest.mark.parametrize("host", LOCAL)
def test_this_machine_needs_no_certificate(host: str) -> None:
    given = {"host": host, "user": "u"}

    assert secured(given, {"PGHOST": "db.test"} if host else {}) == given
    assert secured({}, {"PGHOST": host}) == {}


def test_the_authorities_of_the_system_are_used_unless_others_are_named(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    home = tmp_path_factory.mktemp("home")
    environ = {"HOME": str(home)}

    assert secured({"host": "db.test"}, environ)["sslrootcert"] == "system"
    assert secured({"host": "db.test", "sslrootcert": "/ca"}, environ)["sslrootcert"] == "/ca"
    assert "sslrootcert" not in secured({"host": "db.test"}, {**environ, "PGSSLROOTCERT": "/ca"})
    (home / ".postgresql").mkdir()
    (home / ".postgresql" / "root.crt").touch()
    assert "sslrootcert" not in secured({"host": "db.test"}, environ)


def test_a_weak_mode_is_warned_of_only_for_another_machine() -> None:
    weak = tls_warning("postgresql://u@db.test/d?sslmode=require", {})

    assert "sslmode=require" in str(weak)
    assert tls_warning("postgresql://u@db.test/d?sslmode=verify-ca", {}) is None
    assert tls_warning("postgresql://u@db.test/d", {}) is None
    assert tls_warning("postgresql://u@localhost/d?sslmode=disable", {}) is None
    assert parameters_of("postgresql://u@db.test/d?ssl=true")["sslmode"] == "require"
