"""A CalDAV account is found by its address or URL, checked for real, and keeps its password to its server."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.bundled.calendar.radicale_server import PASSWORD, run_radicale
from toolcrib.accounts import Account
from toolcrib.accounts.dav import open_dav
from toolcrib.accounts.dav_discovery import find_home
from toolcrib.errors import AuthRequired, CallFailed, ToolcribError, UsageError
from toolcrib.features.accounts.providers import caldav


@pytest.mark.parametrize(
    ("user", "url", "server"),
    [
        ("anna@icloud.com", "", "https://caldav.icloud.com/"),
        ("anna@fastmail.com", "", "https://caldav.fastmail.com/"),
        ("anna@GMX.de", "", "https://caldav.gmx.net/"),
        ("anna@posteo.net", "", "https://posteo.de:8443/"),
        ("anna@example.org", "", "https://example.org/.well-known/caldav"),
        ("anna", "https://cloud.example.org/remote.php/dav", "https://cloud.example.org/remote.php/dav"),
        ("anna", "cloud.example.org", "https://cloud.example.org"),
        ("anna", "http://192.168.1.20:5232/", "http://192.168.1.20:5232/"),
    ],
)
async def test_the_server_is_found(user: str, url: str, server: str) -> None:
    draft = await caldav.prepare("home", {"user": user, "url": url, "password": "hunter2"})

    assert (draft.user, draft.settings["url"], draft.secret) == (user, server, "hunter2")
    assert "hunter2" not in repr(draft)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"user": "anna@gmail.com", "password": "p"}, "sign-in"),
        ({"user": "anna@outlook.com", "password": "p"}, "does not offer CalDAV"),
        ({"user": "anna", "password": "p"}, "not known"),
        ({"user": "anna@icloud.com"}, "needs a password"),
        ({"password": "p"}, "needs a user name"),
        ({"user": "a", "password": "p", "url": "http://calendar.example.org/"}, "unencrypted"),
        ({"user": "a", "password": "p", "url": "ftp://example.org/"}, "not the URL"),
        ({"user": "a", "password": "p", "url": "https://anna:pw@example.org/"}, "not the URL"),
    ],
)
async def test_what_cannot_work_is_refused_at_once(given: dict[str, str], reason: str) -> None:
    with pytest.raises(UsageError) as refused:
        await caldav.prepare("home", given)

    assert reason in refused.value.message


async def test_a_check_lists_the_calendars(tmp_path: Path) -> None:
    with run_radicale(tmp_path) as server:
        user = server.user()
        user.add_calendar("work", "Work & travel")
        found = await caldav.check(user.account(), PASSWORD)

        with pytest.raises(AuthRequired):
            await caldav.check(user.account(), "wrong")

    assert found.remarks == ("Calendars: Work & travel.",)


async def test_the_url_of_one_calendar_is_enough(tmp_path: Path) -> None:
    with run_radicale(tmp_path) as server:
        user = server.user()
        user.add_calendar("work")
        user.add_calendar("private")
        account = Account(name="a", provider="caldav", user=user.name, settings={"url": f"{user.home}work/"})
        found = await caldav.check(account, PASSWORD)

    assert found.remarks == ("Calendars: Work.",)


Pages = dict[str, tuple[str, dict[str, str], str]]


@asynccontextmanager
async def small_server(pages: Pages) -> AsyncIterator[tuple[str, list[str]]]:
    """Answers each path with a status, headers and a body; records the Authorization headers."""
    seen: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        await reader.readexactly(int(length[1]) if length else 0)
        given = re.search(r"authorization: (.*)\r\n", head, re.IGNORECASE)
        seen.append(given[1] if given else "")
        path = head.split(" ")[1]
        status, headers, body = pages.get(path, ("404 Not Found", {}, ""))
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers.items())]
        lines += [f"Content-Length: {len(body)}", "Connection: close", "", ""]
        writer.write("\r\n".join(lines).encode() + body.encode())
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", seen


def account_at(url: str) -> Account:
    return Account(name="a", provider="caldav", user="anna", settings={"url": url})


def answer(inner: str, href: str = "/") -> tuple[str, dict[str, str], str]:
    names = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"'
    body = (
        f"<d:multistatus {names}><d:response><d:href>{href}</d:href><d:propstat><d:prop>{inner}</d:prop>"
        "<d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>"
    )
    return "207 Multi-Status", {"Content-Type": "application/xml"}, body


async def test_the_well_known_address_leads_to_the_calendars() -> None:
    pages = {
        "/.well-known/caldav": ("301 Moved", {"Location": "/dav/"}, ""),
        "/dav/": answer("<d:current-user-principal><d:href>/p/</d:href></d:current-user-principal>"),
        "/p/": answer(
            "<c:calendar-home-set><d:href>/p/cal/</d:href></c:calendar-home-set><c:calendar-user-address-set>"
            "<d:href>mailto:Anna@Example.org</d:href></c:calendar-user-address-set>"
        ),
    }
    async with small_server(pages) as (url, _), open_dav(account_at(f"{url}/"), "p") as connection:
        home = await find_home(connection)

    assert (home.url, home.addresses) == (f"{url}/p/cal/", ("anna@example.org",))


@pytest.mark.parametrize("way", ["redirect", "principal", "home"])
async def test_the_password_never_goes_to_another_host(way: str) -> None:
    """Neither by a redirect nor because the server names an address elsewhere."""
    async with small_server({}) as (elsewhere, stolen):
        target = elsewhere.replace("127.0.0.1", "localhost")
        principal = "<d:current-user-principal><d:href>{}</d:href></d:current-user-principal>"
        pages: dict[str, Pages] = {
            "redirect": {"/": ("302 Found", {"Location": f"{target}/"}, "")},
            "principal": {"/": answer(principal.format(f"{target}/p/"))},
            "home": {"/": answer(f"<c:calendar-home-set><d:href>{target}/c/</d:href></c:calendar-home-set>")},
        }
        async with small_server(pages[way]) as (url, _):
            with pytest.raises(ToolcribError):
                await caldav.check(account_at(f"{url}/"), "secret")

    assert stolen == []


async def test_a_server_with_digest_authentication_is_used() -> None:
    pages: Pages = {}
    async with small_server(pages) as (url, seen):
        pages["/"] = (
            "401 Unauthorized",
            {"WWW-Authenticate": 'Digest realm="r", nonce="n", qop="auth", algorithm=MD5'},
            "",
        )
        with pytest.raises(AuthRequired):
            await caldav.check(account_at(f"{url}/"), "secret")

    digest = next(header for header in seen if header.startswith("Digest"))
    value = dict(re.findall(r'(\w+)="?([^",]+)"?', digest))
    first = hashlib.md5(b"anna:r:secret").hexdigest()
    second = hashlib.md5(b"PROPFIND:/").hexdigest()
    whole = f"{first}:n:{value['nc']}:{value['cnonce']}:auth:{second}"
    assert value["response"] == hashlib.md5(whole.encode()).hexdigest()


async def test_a_page_that_is_no_calendar_server_is_refused() -> None:
    async with small_server({"/": ("200 OK", {}, "<html>Welcome</html>")}) as (url, _):
        with pytest.raises(CallFailed) as refused:
            await caldav.check(account_at(f"{url}/"), "secret")

    assert "not a calendar server" in refused.value.message
