"""A vendor or an address is tested as it is stored; what fails leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import Crib
from tests.web.vendor import Say, Vendor, vendor
from toolcrib.errors import ConfigError, ModelError, ModelKeyRefused, NoModel, NotFound, UsageError
from toolcrib.host import Host
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform

KEY = "sk-of-the-studio"


@pytest.fixture
async def host(crib: Crib) -> AsyncIterator[Host]:
    async with crib.open() as opened:
        yield opened


@pytest.fixture
def studio() -> Iterator[Vendor]:
    """A server that takes one key and lists an embedding before its two models."""
    with vendor(Say("ready")) as found:
        found.key = KEY
        found.models = [{"id": "text-embedding-3"}, {"id": "tiny", "created": 1_700_000_000}]
        found.models.append({"id": "large", "created": 1_800_000_000, "context_length": 9000})
        yield found


async def ask(host: Host, operation: str, **params: Any) -> Any:
    return await perform(host, operation, params, Invocation())


def environ(host: Host, monkeypatch: pytest.MonkeyPatch, **more: str) -> None:
    models = host.chats.models
    both = {**models.context.environ, **more}
    monkeypatch.setattr(models, "context", replace(models.context, environ=both))


def own(crib: Crib) -> Any:
    return json.loads((crib.home / "mcp.json").read_text()).get("toolcrib", {})


async def stored(host: Host) -> list[str]:
    return list(await asyncio.to_thread(host.core.secrets.names))


async def test_an_address_is_tested_with_its_newest_model_and_stored_with_its_key_as_a_secret(
    host: Host, crib: Crib, studio: Vendor
) -> None:
    done = await ask(host, "model_connect", vendor="studio", url=studio.address, api_key=KEY)

    assert (done["model"], done["default"], done["place"]) == ("studio:large", True, "file")
    assert own(crib)["agent"] == {
        "endpoints": {"studio": {"url": studio.address, "protocol": "openai", "key": "models.studio"}},
        "model": "studio:large",
    }
    assert KEY not in (crib.home / "mcp.json").read_text()
    assert await stored(host) == ["models.studio"]
    shown = {one["vendor"]: one for one in (await ask(host, "models"))["vendors"]}
    assert (shown["studio"]["title"], shown["studio"]["protocol"]) == ("studio", "openai")
    assert shown["studio"]["tried"]["model"] == "studio:large"
    listed = await ask(host, "model_list", vendor="studio")
    assert [(one["name"], one["context"]) for one in listed["models"]] == [("large", 9000), ("tiny", None)]


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"api_key": "sk-wrong"}, ModelKeyRefused),
        ({"api_key": KEY, "url": "http://127.0.0.1:9/v1"}, ModelError),
        ({"api_key": KEY, "url": "no address"}, UsageError),
        ({"api_key": KEY, "url": "http://ada:sesame@127.0.0.1:9/v1"}, UsageError),
        ({"api_key": KEY, "protocol": "smoke"}, NoModel),
        ({"api_key": KEY, "vendor": "openai"}, UsageError),
        ({"api_key": KEY, "vendor": "a.b"}, UsageError),
        ({"api_key": KEY, "vendor": "a:b"}, UsageError),
        ({"api_key": KEY, "vendor": "nobody", "url": ""}, NoModel),
    ],
)
async def test_what_does_not_answer_or_cannot_be_stored_leaves_nothing(
    host: Host, crib: Crib, studio: Vendor, params: dict[str, str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        await ask(host, "model_connect", **{"vendor": "studio", "url": studio.address, **params})

    assert "agent" not in own(crib)
    assert await stored(host) == []


async def test_a_vendors_key_is_stored_under_its_own_name_and_no_second_default_is_chosen(
    host: Host, crib: Crib, studio: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ(host, monkeypatch, OPENAI_BASE_URL=studio.address, TOOLCRIB_MODEL="demo")
    done = await ask(host, "model_connect", vendor="openai", api_key=KEY, model="tiny")

    assert (done["model"], done["default"]) == ("openai:tiny", False)
    assert await stored(host) == ["OPENAI_API_KEY"]
    assert "agent" not in own(crib)


async def test_a_key_is_not_stored_where_the_environment_hides_it(
    host: Host, studio: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ(host, monkeypatch, OPENAI_BASE_URL=studio.address, OPENAI_API_KEY="sk-other")
    with pytest.raises(UsageError, match="OPENAI_API_KEY is set in the environment"):
        await ask(host, "model_connect", vendor="openai", api_key=KEY)


async def test_an_address_can_be_changed_and_keeps_its_key_and_what_else_is_set(
    host: Host, crib: Crib, studio: Vendor
) -> None:
    await ask(host, "model_connect", vendor="studio", url=studio.address, api_key=KEY)
    await ask(host, "settings_set", key="agent.endpoints.studio.contextTokens", value=5000)
    with pytest.raises(UsageError, match="already"):
        await ask(host, "model_connect", vendor="studio", url=studio.address)
    moved = f"{studio.address}/"
    await ask(host, "model_connect", vendor="studio", url=moved, model="tiny", replace=True)

    changed = {"url": moved, "protocol": "openai", "key": "models.studio", "contextTokens": 5000}
    assert own(crib)["agent"]["endpoints"] == {"studio": changed}


async def test_a_stored_key_is_not_sent_to_another_host(host: Host, crib: Crib, studio: Vendor) -> None:
    await ask(host, "model_connect", vendor="studio", url=studio.address, api_key=KEY)
    elsewhere = studio.address.replace("127.0.0.1", "localhost")
    with pytest.raises(ModelKeyRefused):
        await ask(host, "model_connect", vendor="studio", url=elsewhere, model="tiny", replace=True)
    listed = await ask(host, "model_list", vendor="studio", url=elsewhere)

    assert not listed["listed"]
    assert own(crib)["agent"]["endpoints"]["studio"]["url"] == studio.address


async def test_an_address_is_removed_with_its_secret_and_is_no_longer_the_default(
    host: Host, crib: Crib, studio: Vendor
) -> None:
    await ask(host, "model_connect", vendor="studio", url=studio.address, api_key=KEY)
    removed = await ask(host, "model_disconnect", name="studio")

    assert removed == {"name": "studio", "secret": "models.studio", "default": True}
    assert own(crib)["agent"] == {"endpoints": {}}
    assert await stored(host) == []
    with pytest.raises(NotFound):
        await ask(host, "model_disconnect", name="studio")


async def test_a_list_that_cannot_be_had_falls_back_to_known_names_with_the_reason(
    host: Host, studio: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ(host, monkeypatch, ANTHROPIC_API_KEY="", OPENAI_BASE_URL=studio.address)
    without = await ask(host, "model_list", vendor="anthropic")
    assert (without["listed"], without["models"][0]["name"]) == (False, "claude-sonnet-5-5")
    assert without["reason"].startswith("There is no API key for Anthropic.")

    wrong = await ask(host, "model_list", vendor="openai", api_key="sk-wrong")
    assert "rejected" in wrong["reason"]
    right = await ask(host, "model_list", vendor="openai", api_key=KEY)
    assert (right["listed"], [one["name"] for one in right["models"]]) == (True, ["large", "tiny"])
    new = await ask(host, "model_list", vendor="new", url=studio.address, api_key=KEY)
    assert len(new["models"]) == 2
    with pytest.raises(NoModel):
        await ask(host, "model_list", vendor="nobody")


async def test_a_server_on_this_machine_is_found_and_connected_by_its_name(
    host: Host, studio: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio.key = ""
    environ(host, monkeypatch, TOOLCRIB_LOCAL_MODELS=studio.address)
    (found,) = await ask(host, "local_models")
    assert (found["address"], found["models"]) == (studio.address, ["tiny", "large"])

    done = await ask(host, "model_connect", vendor=found["name"], url=found["address"])
    assert done["place"] is None
    assert await ask(host, "local_models") == []


async def test_the_place_of_a_new_secret_is_told_before_it_is_stored(host: Host) -> None:
    assert await ask(host, "secret_place") == {"place": "file"}


async def test_a_setting_is_told_in_words(host: Host) -> None:
    endpoints = {"studio": {"url": "http://127.0.0.1:9/v1"}}
    saved = await ask(host, "settings_set", key="agent.endpoints", value=endpoints)
    assert (saved["text"], saved["before_text"]) == (
        "studio (url http://127.0.0.1:9/v1, protocol openai)",
        "none",
    )
    saved = await ask(host, "settings_set", key="terminal.network", value=False)
    assert (saved["text"], saved["before_text"]) == ("off", "on")
    saved = await ask(host, "settings_set", key="agent.endpoints.studio")
    assert saved["text"] == "not set"
    with pytest.raises((UsageError, ConfigError)):
        await ask(host, "settings_set", key="agent.endpoints.studio.nothing", value=1)
