"""Every provider of `llm/providers` builds a model from the settings and says where its key goes."""

from __future__ import annotations

import inspect

import pytest

from toolcrib import plugins
from toolcrib.errors import ModelKeyRefused
from toolcrib.llm.context import ModelContext, ModelVendor, key_hint
from toolcrib.llm.models import PROVIDERS, find_provider, variables

NAMES = plugins.names(PROVIDERS)


@pytest.mark.parametrize("name", NAMES)
def test_a_provider_names_its_vendor_and_opens_models(name: str) -> None:
    provider = find_provider(name)

    assert isinstance(provider.VENDOR, ModelVendor)
    assert provider.VENDOR.name == name.replace("_", "-")
    assert provider.VENDOR.title
    assert list(inspect.signature(provider.open_model).parameters)[:2] == ["model", "context"]
    assert inspect.getdoc(provider)


@pytest.mark.parametrize("name", NAMES)
async def test_a_model_is_built_from_the_settings_and_sends_nothing(name: str) -> None:
    context = ModelContext(environ={}, address="http://127.0.0.1:9", alias="mine", key_name="MY_KEY")

    model = find_provider(name).open_model("some-model", context)
    try:
        for method in (model.stream, model.close):
            assert callable(method)
    finally:
        await model.close()


@pytest.mark.parametrize("name", NAMES)
async def test_a_missing_key_is_refused_with_the_name_under_which_it_is_looked_for(name: str) -> None:
    vendor = find_provider(name).VENDOR
    context = ModelContext(environ={})

    with pytest.raises(ModelKeyRefused) as refused:
        await context.need_key(vendor)

    assert refused.value.hint == key_hint(vendor)
    assert all(key in refused.value.hint for key in vendor.keys[:1])
    assert {*vendor.keys, *vendor.addresses} <= variables()
