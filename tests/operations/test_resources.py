"""Resources and prompts of a server of either era: listed in parts, read within bounds, filled in."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from toolcrib.errors import PeerError, UnknownServer
from toolcrib.host import Host, open_host
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform
from toolcrib.operations.resources import MOST_TEXT

OFFERING = Path(__file__).parents[1] / "gateway" / "programs" / "offering.py"
DEADLINE = 60.0


@pytest.fixture(params=["modern", "legacy"])
async def host(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Host]:
    """A host with a server of this era, and one that offers tools alone."""
    monkeypatch.setenv("TOOLCRIB_TRUST_CONFIG", "1")
    entry = {"command": sys.executable, "args": [str(OFFERING), request.param, "rich"]}
    demo = {"type": "inprocess", "module": "toolcrib.bundled.demo"}
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "mcp.json").write_text(json.dumps({"mcpServers": {"memo": entry, "demo": demo}}))
    async with open_host(home, watch=False) as opened:
        yield opened


async def ask(host: Host, operation: str, **params: Any) -> Any:
    async with asyncio.timeout(DEADLINE):
        return await perform(host, operation, params, Invocation(from_page=True))


async def test_resources_and_templates_are_listed_in_parts(host: Host) -> None:
    found = await ask(host, "resources", name="memo")

    assert [(one["kind"], one["uri"]) for one in found] == [
        ("resource", "memo://shared"),
        ("resource", "memo://data"),
        ("resource", "memo://picture"),
        ("resource", "memo://long"),
        ("template", "memo://{topic}/notes"),
    ]
    assert await ask(host, "resources", name="memo", limit=2, offset=3) == found[3:]


async def test_a_resource_is_read_within_bounds(host: Host) -> None:
    [text] = (await ask(host, "resource_read", name="memo", uri="memo://art/notes"))["contents"]
    [picture] = (await ask(host, "resource_read", name="memo", uri="memo://picture"))["contents"]
    [long] = (await ask(host, "resource_read", name="memo", uri="memo://long"))["contents"]
    [data] = (await ask(host, "resource_read", name="memo", uri="memo://data"))["contents"]

    assert (text["text"], text["cut"]) == ("['rich']: memo://art/notes", False)
    assert (picture["mime_type"], picture["picture"][:8], picture["text"]) == ("image/png", "iVBORw0K", None)
    assert (len(long["text"]), long["size"], long["cut"]) == (MOST_TEXT, 250_000, True)
    assert (data["text"], data["picture"], data["size"]) == (None, None, 6)
    with pytest.raises(PeerError):
        await ask(host, "resource_read", name="memo", uri="memo://nothing")


async def test_a_prompt_is_filled_in(host: Host) -> None:
    [listed] = await ask(host, "prompts", name="memo")
    filled = await ask(host, "prompt_get", name="memo", prompt="greet", arguments={"who": "Ada"})

    assert listed["arguments"] == [{"name": "who", "description": "", "required": True}]
    assert filled["messages"] == [{"role": "user", "type": "text", "text": "Hello Ada", "cut": False}]


async def test_a_server_that_offers_none_has_empty_lists(host: Host) -> None:
    assert await ask(host, "resources", name="demo") == []
    assert await ask(host, "prompts", name="demo") == []
    with pytest.raises(UnknownServer):
        await ask(host, "resources", name="nobody")
