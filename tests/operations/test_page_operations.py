"""Operations that the page needs besides those of the command line: versions, batches of a log, a model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.web.vendor import Refuse, Say, vendor
from toolcrib.errors import ModelKeyRefused, UnknownServer
from toolcrib.host import Host, open_host
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform
from toolcrib.operations.servers import BATCH_LINES

DEADLINE = 60.0


@pytest.fixture
async def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Host]:
    """A host with the bundled servers alone."""
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    async with open_host(tmp_path / "home", watch=False) as opened:
        yield opened


async def _nobody(event: Any) -> None: ...


async def test_a_log_is_told_in_batches_beginning_with_what_is_there(host: Host):
    log = host.paths.server_log("demo")
    log.parent.mkdir(parents=True, exist_ok=True)
    await host.ready()  # then nothing more happens to the demo
    log.write_text("".join(f"line {number}\n" for number in range(20_000)))
    batches: asyncio.Queue[list[str]] = asyncio.Queue()

    async def emit(event: Any) -> None:
        batches.put_nowait(event["lines"])

    params = {"name": "demo", "count": 100_000, "follow": True, "batch": True}
    following = asyncio.create_task(perform(host, "logs", params, Invocation(emit=emit)))
    async with asyncio.timeout(DEADLINE):
        first = await batches.get()
        while len(first) < 20_000:
            more = await batches.get()
            assert len(more) <= BATCH_LINES
            first += more
        with log.open("a") as file:
            file.write("one more\nand another\n")
        second = await batches.get()
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    assert (len(first), first[0], first[-1]) == (20_000, "line 0", "line 19999")
    assert second == ["one more", "and another"]


async def test_a_log_tells_when_a_line_was_written_and_what_happened_to_the_server(host: Host):
    await host.ready()
    await host.servers["demo"].stop()
    await host.servers["demo"].restart()
    await host.servers["demo"].settled()

    found = await perform(host, "logs", {"name": "demo"}, Invocation())

    told = [found["lines"][index] for index in found["events"]]
    ready = "Ready after N s: demo N, protocol 2026-07-28, 4 tools."
    assert [re.sub(r"\d+\.[\d.]+", "N", line) for line in told] == [
        ready,
        "Stopped by the user.",
        "Restarted by the user.",
        ready,
    ]
    assert found["times"] == sorted(found["times"])


async def test_a_log_that_is_not_there_yet_is_told_as_empty_at_once(host: Host):
    heard: asyncio.Queue[Any] = asyncio.Queue()
    await host.ready()
    host.paths.server_log("demo").unlink(missing_ok=True)
    params = {"name": "demo", "follow": True, "batch": True}
    following = asyncio.create_task(perform(host, "logs", params, Invocation(emit=heard.put)))
    async with asyncio.timeout(DEADLINE):
        assert await heard.get() == {"lines": [], "times": [], "events": []}
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)


async def test_a_server_that_was_not_installed_here_has_no_versions(host: Host):
    assert await perform(host, "versions", {"name": "demo"}, Invocation()) == []
    with pytest.raises(UnknownServer):
        await perform(host, "versions", {"name": "nobody"}, Invocation())


async def test_a_model_is_asked_for_a_word_with_a_key_that_is_kept_nowhere(
    host: Host, monkeypatch: pytest.MonkeyPatch
):
    given = {"model": "openai:some", "key_name": "OPENAI_API_KEY", "key": "sk-given"}
    with vendor(Refuse(401, "Incorrect API key."), Say("ready")) as openai:
        reached = {**host.chats.models.context.environ, "OPENAI_BASE_URL": openai.address}
        monkeypatch.setattr(host.chats.models, "context", replace(host.chats.models.context, environ=reached))
        with pytest.raises(ModelKeyRefused):
            await perform(host, "model_try", given, Invocation())
        tried = await perform(host, "model_try", given, Invocation())
    assert (tried["model"], tried["answer"]) == ("openai:some", "ready")
    assert await asyncio.to_thread(host.core.secrets.get, "OPENAI_API_KEY") is None


async def test_how_a_vendor_answered_last_is_remembered_until_its_key_changes(
    host: Host, monkeypatch: pytest.MonkeyPatch
):
    async def tried() -> Any:
        shown = await perform(host, "models", {}, Invocation())
        return next(one["tried"] for one in shown["vendors"] if one["vendor"] == "openai")

    asked = {"model": "openai:some"}
    with vendor(Refuse(401, "Incorrect API key."), Refuse(401, "Incorrect."), Say("ready")) as openai:
        reached = {"OPENAI_BASE_URL": openai.address, "OPENAI_API_KEY": "sk-stored"}
        context = replace(host.chats.models.context, environ={**host.chats.models.context.environ, **reached})
        monkeypatch.setattr(host.chats.models, "context", context)
        assert await tried() is None
        other = {**asked, "key_name": "OPENAI_API_KEY", "key": "sk-other"}
        with pytest.raises(ModelKeyRefused):
            await perform(host, "model_try", other, Invocation())
        assert await tried() is None  # Another key says nothing of the one that is stored.
        with pytest.raises(ModelKeyRefused):
            await perform(host, "model_try", asked, Invocation())
        refused = await tried()
        assert (refused["model"], refused["ms"], refused["refused"]) == ("openai:some", None, True)
        await perform(host, "secret_set", {"name": "OPENAI_API_KEY", "value": "sk-new"}, Invocation())
        assert await tried() is None
        await perform(host, "model_try", asked, Invocation())
    worked = await tried()
    assert worked["ms"] > 0
    assert not worked["refused"]
