"""Every provider of `accounts/providers` describes its form and refuses an incomplete one."""

from __future__ import annotations

import inspect

import pytest

from toolcrib import plugins
from toolcrib.accounts.provider import (
    PROVIDERS,
    AccountField,
    find_provider,
    revoke_of,
    server_name,
    sign_in_of,
)
from toolcrib.errors import UsageError

NAMES = plugins.names(PROVIDERS)
SERVICES = {"mail", "calendar", "discord", "canvas"}
SECRET_WORDS = ("password", "token", "secret", "file")


@pytest.mark.parametrize("name", NAMES)
def test_a_provider_describes_itself_and_its_form(name: str) -> None:
    provider = find_provider(name)

    assert provider.TITLE
    assert provider.ABOUT.endswith(".")
    assert set(provider.SERVICES) <= SERVICES
    assert inspect.getdoc(provider)
    for service in provider.SERVICES:
        assert server_name(provider, service)


@pytest.mark.parametrize("name", NAMES)
def test_the_fields_of_a_form_have_keys_labels_and_valid_defaults(name: str) -> None:
    fields = find_provider(name).FIELDS

    assert all(isinstance(field, AccountField) for field in fields)
    assert len({field.key for field in fields}) == len(fields)
    for field in fields:
        assert field.key.isidentifier()
        assert field.label
        assert not field.choices or not field.default or field.default in field.choices
        assert field.secret or not any(word in field.key for word in SECRET_WORDS)


@pytest.mark.parametrize("name", NAMES)
def test_a_provider_has_a_form_or_a_sign_in(name: str) -> None:
    provider = find_provider(name)
    sign_in, revoke = sign_in_of(provider), revoke_of(provider)

    assert any(field.secret for field in provider.FIELDS)
    assert list(inspect.signature(provider.prepare).parameters) == ["name", "given"]
    assert list(inspect.signature(provider.check).parameters) == ["account", "secret"]
    if sign_in is not None:
        parameters = list(inspect.signature(sign_in).parameters)
        assert parameters == ["name", "given", "show", "read_only", "earlier"]
    if revoke is not None:
        assert list(inspect.signature(revoke).parameters) == ["account", "secret"]


@pytest.mark.parametrize("name", NAMES)
async def test_an_empty_form_is_refused_without_connecting(name: str) -> None:
    with pytest.raises(UsageError) as raised:
        await find_provider(name).prepare("mine", {})

    assert raised.value.message.endswith(".")
