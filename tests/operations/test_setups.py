"""Adding and trying out as work of the host: one operation begins it, others follow, end and forget it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.operations.test_adding import command, entries
from toolcrib.errors import NotFound, UnknownServer, UsageError
from toolcrib.host import Host, open_host
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform

DEADLINE = 60.0
WAITING = "import sys, time; time.sleep(600)"


@pytest.fixture
async def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Host]:
    """A host that asks for trust, as a page meets it."""
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    monkeypatch.delenv("TOOLCRIB_TRUST_CONFIG", raising=False)
    async with open_host(tmp_path / "home", watch=False) as opened:
        yield opened


async def ask(host: Host, operation: str, **params: Any) -> Any:
    async with asyncio.timeout(DEADLINE):
        return await perform(host, operation, params, Invocation(from_page=True))


async def ended(host: Host, name: str) -> dict[str, Any]:
    """How it stands once it is over."""
    with host.events.subscribe() as news:
        async with asyncio.timeout(DEADLINE):
            while True:
                found = next(one for one in await ask(host, "setups") if one["name"] == name)
                if found["state"] != "running":
                    return dict(found)
                await news.next()


async def begin(host: Host, name: str, text: str) -> dict[str, Any]:
    proposed = await ask(host, "propose", text=text, name=name)
    mark = proposed["launch"]["mark"]
    found: dict[str, Any] = await ask(host, "setup_add", text=text, name=name, mark=mark, type="stdio")
    return found


async def test_a_server_is_added_trusted_and_tried_while_nobody_looks(host: Host) -> None:
    begun = await begin(host, "mine", command())
    assert (begun["state"], begun["kind"]) == ("running", "add")
    assert [step["key"] for step in begun["steps"]] == ["resolve", "start", "handshake", "list", "review"]

    done = await ended(host, "mine")

    assert done["state"] == "ok", done
    assert done["tools"] > 0
    assert all(step["state"] == "done" for step in done["steps"])
    assert host.core.trust.holds(host.config.servers["mine"])


async def test_what_is_not_what_was_shown_is_neither_added_nor_run(host: Host) -> None:
    await ask(host, "setup_add", text=command(), name="mine", mark="0" * 32)

    done = await ended(host, "mine")

    assert done["state"] == "failed"
    assert "has changed since it was shown" in done["error"]["message"]
    assert "mine" not in entries(host)


async def test_trust_is_only_taken_for_what_was_shown(host: Host) -> None:
    await ask(host, "add", name="mine", entry={"command": sys.executable, "args": ["-c", "pass"]})

    with pytest.raises(UsageError, match="has changed since it was shown"):
        await ask(host, "setup_trust", name="mine", mark="0" * 32)

    assert not host.core.trust.holds(host.config.servers["mine"])


async def test_one_that_does_not_work_says_why_with_its_last_lines(host: Host, tmp_path: Path) -> None:
    program = tmp_path / "broken.py"
    program.write_text("import sys\nsys.exit('Please provide a database URL')\n")
    await begin(host, "mine", f"{sys.executable} {program}")

    done = await ended(host, "mine")

    assert done["state"] == "failed"
    states = [f"{step['key']} {step['state']}" for step in done["steps"]]
    assert states == ["resolve done", "start done", "handshake fail", "list wait", "review wait"]
    assert any("Please provide a database URL" in line for line in done["log"])


async def test_a_second_one_of_the_same_server_is_refused_and_a_test_follows_the_first(
    host: Host, tmp_path: Path
) -> None:
    program = tmp_path / "waiting.py"
    program.write_text(WAITING)
    await begin(host, "mine", f"{sys.executable} {program}")

    with pytest.raises(UsageError, match="already being set up"):
        await ask(host, "setup_add", text=command(), name="mine", mark="0" * 32)
    stopped = await ask(host, "setup_stop", name="mine")

    assert stopped["state"] == "stopped"


async def test_stopping_leaves_no_process_and_forgetting_leaves_no_trace(host: Host, tmp_path: Path) -> None:
    program = tmp_path / "waiting.py"
    program.write_text(WAITING)
    await ask(host, "add", name="mine", entry={"command": sys.executable, "args": [str(program)]})
    mark = (await ask(host, "launch", name="mine"))["mark"]
    await ask(host, "trust", names=["mine"], agree={"mine": mark})
    await ask(host, "setup_test", name="mine")
    again = await ask(host, "setup_test", name="mine")
    assert again["state"] == "running"
    assert (await ask(host, "setup_forget", name="mine"))["forgotten"] is False

    await ask(host, "setup_stop", name="mine")
    assert (await ask(host, "setup_forget", name="mine"))["forgotten"] is True

    assert await ask(host, "setups") == []
    with pytest.raises(NotFound):
        await ask(host, "setup_stop", name="mine")


async def test_a_test_of_nothing_is_refused_at_once(host: Host) -> None:
    with pytest.raises(UnknownServer):
        await ask(host, "setup_test", name="nobody")


async def test_closing_the_host_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    program, sign = tmp_path / "waiting.py", tmp_path / "pid"
    program.write_text(f"import os\nopen({str(sign)!r}, 'a').write(f'{{os.getpid()}} ')\n{WAITING}")
    async with open_host(tmp_path / "home", watch=False) as host:
        await begin(host, "mine", f"{sys.executable} {program}")
        async with asyncio.timeout(DEADLINE):
            while not sign.exists() or not sign.read_text().endswith(" "):  # noqa: ASYNC110 - a file tells nobody
                await asyncio.sleep(0.05)

    assert not [pid for pid in sign.read_text().split() if Path(f"/proc/{pid}").exists()]
