"""A bundled server without what it needs says so, offers no tools, and notices when that changes."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from toolcrib.accounts import Account, AccountStore
from toolcrib.catalog.listing import BUNDLED, servers
from toolcrib.host import Host, open_host
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform
from toolcrib.schema.servers import ServerStatus
from toolcrib.servers.supervisor import READINESS_INTERVAL
from toolcrib.testing.clock import TurnedClock

DEADLINE = 60.0
ACCOUNT_SERVERS = [server for server in servers() if server.origin == BUNDLED and server.accounts]
_SOCKETS = Path("/tmp/.X11-unix")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE"):
        monkeypatch.delenv(name, raising=False)


@asynccontextmanager
async def opened(
    home: Path, clock: TurnedClock | None = None, **entries: dict[str, Any]
) -> AsyncIterator[Host]:
    home.mkdir(exist_ok=True)
    (home / "mcp.json").write_text(json.dumps({"mcpServers": entries}))
    async with open_host(home, watch=False, trust_config=True, clock=clock) as host:
        await host.servers.settle()
        yield host


async def ask(host: Host, operation: str, **params: Any) -> Any:
    async with asyncio.timeout(DEADLINE):
        return await perform(host, operation, params, Invocation(from_page=True))


async def until(host: Host, name: str, fits: Callable[[ServerStatus], bool]) -> ServerStatus:
    with host.events.subscribe() as news:
        async with asyncio.timeout(DEADLINE):
            while not fits(host.servers.status(name)):
                await news.next()
    return host.servers.status(name)


def desktop(*args: str) -> dict[str, Any]:
    return {"type": "inprocess", "module": "toolcrib.bundled.desktop", "args": list(args)}


@pytest.mark.parametrize("listed", ACCOUNT_SERVERS, ids=lambda listed: listed.name)
async def test_a_server_without_an_account_offers_nothing_until_it_has_one(
    tmp_path: Path, listed: Any
) -> None:
    async with opened(tmp_path / "home", **{listed.name: listed.entry}) as host:
        status = host.servers.status(listed.name)
        assert (status.state, status.needs, status.tools) == ("needs-config", "account", 0)
        assert f"toolcrib account add {listed.accounts[0]} NAME" in status.hint
        assert [tool for tool in host.tools() if tool.server == listed.name] == []
        [waiting] = (await ask(host, "waiting"))["items"]
        assert (waiting["kind"], waiting["detail"]) == ("value", {"needs": "account"})
        tested = await ask(host, "test", name=listed.name)
        assert (tested["steps"][-1]["name"], tested["steps"][-1]["ok"]) == ("ready", False)
        assert (tested["error"]["kind"], tested["error"]["data"]) == ("server_lacks", {"needs": "account"})
        finding = next(one for one in (await ask(host, "doctor"))["checks"] if listed.name in one["name"])
        assert finding["verdict"] == "broken"

        AccountStore(host.paths).add(Account(name="mine", provider=listed.accounts[-1], user="ada"), "secret")
        await ask(host, "start", name=listed.name)
        assert (await until(host, listed.name, lambda now: now.state == "ready")).tools > 0

        await ask(host, "account_remove", name="mine")
        status = await until(host, listed.name, lambda now: now.state == "needs-config")
        assert (status.needs, status.tools) == ("account", 0)
        assert [tool for tool in host.tools() if tool.server == listed.name] == []
        [glance] = (await ask(host, "overview"))["servers"]
        assert (glance["needs"], glance["tools"], glance["tokens"]) == ("account", 0, None)


async def test_an_account_of_another_process_is_noticed_in_time(tmp_path: Path) -> None:
    clock = TurnedClock()
    mail = next(server for server in servers() if server.name == "mail")
    async with opened(tmp_path / "home", clock, mail=mail.entry) as host:
        AccountStore(host.paths).add(Account(name="mine", provider="imap", user="ada"), "secret")
        clock.turn(READINESS_INTERVAL)

        await until(host, "mail", lambda now: now.state == "ready")


@pytest.mark.parametrize(
    ("account", "secret", "reason"),
    [
        ("other", True, "There is no account for mail called mine."),
        ("mine", False, "The secret of the account mine"),
    ],
)
async def test_an_account_that_cannot_be_used_counts_as_none(
    tmp_path: Path, account: str, secret: bool, reason: str
) -> None:
    home = tmp_path / "home"
    accounts = AccountStore.of_home(home)
    accounts.add(Account(name=account, provider="imap", user="ada"), "secret")
    if not secret:
        (home / "secrets.json").unlink()
    entry = {"type": "inprocess", "module": "toolcrib.bundled.mail", "args": ["--account", "mine"]}
    async with opened(home, mail=entry) as host:
        status = host.servers.status("mail")

    assert (status.state, status.needs) == ("needs-config", "account")
    assert reason in status.reason


async def test_accounts_that_cannot_be_read_are_the_reason(tmp_path: Path) -> None:
    home = tmp_path / "home"
    AccountStore.of_home(home).add(Account(name="mine", provider="imap", user="ada"), "secret")
    AccountStore.of_home(home).file.write_text("{")
    async with opened(home, mail={"type": "inprocess", "module": "toolcrib.bundled.mail"}) as host:
        status = host.servers.status("mail")

    assert (status.state, status.tools) == ("needs-config", 0)
    assert "is damaged" in status.reason


async def test_a_desktop_needs_a_display_that_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path / "home", desktop=desktop()) as host:
        status = host.servers.status("desktop")
        assert (status.state, status.needs, status.tools) == ("needs-config", "display", 0)
        assert "DISPLAY is not set" in status.reason

        _SOCKETS.mkdir(exist_ok=True)
        number = next(one for one in range(900, 1000) if not (_SOCKETS / f"X{one}").exists())
        monkeypatch.setenv("DISPLAY", f":{number}")
        with socket.socket(socket.AF_UNIX) as display:
            display.bind(str(_SOCKETS / f"X{number}"))
            display.listen()
            await ask(host, "start", name="desktop")
            assert (await until(host, "desktop", lambda now: now.state == "ready")).tools > 0
        (_SOCKETS / f"X{number}").unlink()
        host.servers["desktop"].check_readiness()
        status = await until(host, "desktop", lambda now: now.state == "needs-config")

    assert f"The display :{number} does not answer." in status.reason
    assert status.tools == 0


async def test_a_desktop_can_be_moved_to_a_display_of_its_own(tmp_path: Path) -> None:
    async with opened(tmp_path / "home", mine={**desktop("--profile", "full"), "extra": 1}) as host:
        own, screen = await ask(host, "included_choices", name="mine")
        again = await ask(host, "included_choices", name="desktop")

    assert (own["title"], own["entry"]["args"]) == (
        "A display of its own",
        ["--profile", "full", "--headless", "1280x800"],
    )
    assert own["entry"]["extra"] == 1
    assert "DISPLAY is not set" in screen["problem"]
    assert own["problem"] == "" or shutil.which("Xvfb") is None
    assert again[0]["entry"] == desktop("--headless", "1280x800")
    assert again[1]["entry"] == {key: value for key, value in desktop().items() if key != "args"}


@pytest.mark.parametrize(
    ("args", "ready"),
    [
        ([], True),
        (["--engines", "brave,tavily"], False),
        (["--engines", "searxng"], False),
        (["--engines", "brave,mojeek"], True),
    ],
)
async def test_a_search_needs_one_of_its_engines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], ready: bool
) -> None:
    for name in ("BRAVE_API_KEY", "TAVILY_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    entry = {"type": "inprocess", "module": "toolcrib.bundled.websearch", "args": args}
    async with opened(tmp_path / "home", web=entry) as host:
        status = host.servers.status("web")

    assert (status.state, status.needs) == (("ready", "") if ready else ("needs-config", "value"))
    assert ready or "--engines" in status.hint


@pytest.mark.parametrize("module", ["filesystem", "project", "terminal"])
async def test_a_folder_that_is_gone_is_noticed(tmp_path: Path, module: str) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    entry = {"type": "inprocess", "module": f"toolcrib.bundled.{module}", "args": [str(folder)]}
    async with opened(tmp_path / "home", files=entry) as host:
        assert host.servers.status("files").state == "ready"
        folder.rmdir()
        host.servers["files"].check_readiness()
        status = await until(host, "files", lambda now: now.state == "needs-config")

    assert (status.needs, status.tools) == ("folder", 0)
    assert str(folder) in status.reason
