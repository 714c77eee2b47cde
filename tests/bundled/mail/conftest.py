"""A mailbox of its own for each test, in one dovecot for all of them, and an SMTP server."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from imapclient import IMAPClient

from tests.bundled.mail.servers import PASSWORD, Dovecot, Sink, running_dovecot, running_sink
from toolcrib.accounts import Account, AccountStore
from toolcrib.bundled.mail import create
from toolcrib.serverkit.server import ToolServer

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def dovecot() -> Iterator[Dovecot]:
    with running_dovecot() as server:
        yield server


@pytest.fixture(autouse=True)
def quiet_sink(recwarn: pytest.WarningsRecorder) -> None:
    """aiosmtpd warns of what tests do on purpose, such as sign-in without encryption."""


@pytest.fixture
def sink() -> Iterator[Sink]:
    with running_sink() as server:
        yield server


@dataclass
class Desk:
    """A user's account, mailbox and tools."""

    home: Path
    user: str
    dovecot: Dovecot
    sink: Sink
    server: ToolServer
    account: Account
    closing: ExitStack = field(default_factory=ExitStack)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured result of a call that works."""
        result = await self.server.tools[tool].call(arguments)
        assert result["isError"] is False, result["content"]
        found: dict[str, Any] = result["structuredContent"]
        return found

    async def failure(self, tool: str, **arguments: Any) -> str:
        """What a call says that fails."""
        result = await self.server.tools[tool].call(arguments)
        assert result["isError"] is True, result
        text = str(result["content"][0]["text"])
        assert PASSWORD not in text
        return text

    async def find(self, query: str, **more: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.call("search_emails", query=query, **more))["messages"]
        return found

    async def subjects(self, query: str) -> set[str]:
        return {each["subject"] for each in await self.find(query, max_results=50)}

    @property
    def files(self) -> Path:
        return self.home / "files" / "mail"

    def imap(self) -> IMAPClient:
        """A client of the test's own, to look from the other side."""
        client = IMAPClient("127.0.0.1", self.dovecot.port, ssl=False)
        client.login(self.user, PASSWORD)
        self.closing.callback(client.logout)
        return client

    def put(
        self, data: bytes, folder: str = "INBOX", flags: tuple[bytes, ...] = (), when: Any = None
    ) -> None:
        self.imap().append(folder, data, flags, when)


@pytest.fixture
def desk(tmp_path: Path, dovecot: Dovecot, sink: Sink, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    user = f"ann{next(_numbers)}@example.org"
    account = account_for(user, dovecot.port, sink.port)
    AccountStore.of_home(tmp_path).add(account, PASSWORD)
    server = create([], tmp_path)
    made = Desk(tmp_path, user, dovecot, sink, server, account)
    yield made
    made.closing.close()
    server.close()


def use(desk: Desk, account: Account, secret: str = PASSWORD) -> None:
    AccountStore.of_home(desk.home).add(account, secret, replace=True)


def account_for(user: str, imap_port: int, smtp_port: int, security: str = "plain", **more: Any) -> Account:
    settings: dict[str, Any] = {"address": user, "login": user, "name": "Ann Lee", **more}
    for key, port in (("imap", imap_port), ("smtp", smtp_port)):
        settings |= {f"{key}_host": "localhost", f"{key}_port": port, f"{key}_security": security}
    return Account(name="work", provider="imap", user=user, settings=settings)


def letter(subject: str = "Hello", text: str = "Hello Ann", **headers: str) -> bytes:
    """A small message."""
    lines = {
        "From": "Bob Ray <bob@example.com>",
        "To": "ann@example.org",
        "Subject": subject,
        "Date": "Mon, 02 Nov 2026 10:00:00 +0100",
        "Message-ID": f"<m{next(_numbers)}@example.com>",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    head = "\r\n".join(f"{name}: {value}" for name, value in lines.items() if value)
    return f"{head}\r\n\r\n{text}\r\n".encode()
