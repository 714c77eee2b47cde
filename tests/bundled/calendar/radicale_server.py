"""Radicale, a real CalDAV server, on a loopback port in a thread."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from xml.sax.saxutils import escape

import httpx2

from toolcrib.accounts import Account

PASSWORD = "correct horse"


class _Threaded(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 64


class _Quiet(WSGIRequestHandler):
    def log_message(self, *args: object) -> None:
        """Tests have no use for it."""


@dataclass
class Radicale:
    url: str
    users_file: Path
    requests: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of every request."""
    before: list[Any] = field(default_factory=list)
    """Called with method and path before each request; may return a status and headers to answer with."""

    def user(self) -> CalendarUser:
        """A new user without calendars."""
        name = f"u{secrets.token_hex(4)}@example.org"
        with self.users_file.open("a") as file:
            file.write(f"{name}:{PASSWORD}\n")
        return CalendarUser(self, name)


@dataclass
class CalendarUser:
    server: Radicale
    name: str

    @property
    def home(self) -> str:
        return f"{self.server.url}/{self.name}/"

    def account(self, name: str = "home", **more: Any) -> Account:
        settings = {"url": f"{self.server.url}/"}
        return Account(name=name, provider="caldav", user=self.name, settings=settings, **more)

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        with httpx2.Client(auth=(self.name, PASSWORD), trust_env=False) as client:
            return client.request(method, f"{self.home}{path}", **options)

    def add_calendar(self, name: str, title: str = "") -> None:
        body = (
            '<c:mkcalendar xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:set><d:prop>'
            f"<d:displayname>{escape(title or name.title())}</d:displayname></d:prop></d:set></c:mkcalendar>"
        )
        assert self.request("MKCALENDAR", f"{name}/", content=body).status_code == 201

    def put(self, calendar: str, name: str, *components: str) -> None:
        """Store an object as another program would."""
        data = calendar_data(*components)
        answer = self.request("PUT", f"{calendar}/{name}.ics", content=data.encode())
        assert answer.status_code == 201, answer.text

    def stored(self, calendar: str, uid: str) -> str:
        """The data of an object that the server has."""
        answer = self.request("GET", f"{calendar}/{uid}.ics")
        assert answer.status_code == 200
        return answer.text.replace("\r\n ", "")


def calendar_data(*components: str) -> str:
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Test//EN"]
    return "\r\n".join([*lines, *(part.strip() for part in components), "END:VCALENDAR", ""])


def vevent(uid: str, *lines: str) -> str:
    return "\r\n".join(["BEGIN:VEVENT", f"UID:{uid}", "DTSTAMP:20260101T000000Z", *lines, "END:VEVENT"])


@contextmanager
def run_radicale(folder: Path) -> Iterator[Radicale]:
    """Serve until the end of the block."""
    from radicale.app import Application
    from radicale.config import load

    users = folder / "users"
    users.touch()
    configuration = load()
    configuration.update(
        {
            "auth": {
                "type": "htpasswd",
                "htpasswd_filename": str(users),
                "htpasswd_encryption": "plain",
                "delay": "0",
            },
            "storage": {
                "filesystem_folder": str(folder / "storage"),
                "_filesystem_fsync": "False",
                "use_mtime_and_size_for_item_cache": "True",
            },
            "logging": {"level": "critical"},
        },
        "test",
        privileged=True,
    )
    application: Any = Application(configuration)
    server = Radicale("", users)

    def observed(environ: dict[str, Any], start_response: Any) -> Any:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        server.requests.append((method, path))
        for plan in list(server.before):
            planned = plan(method, path)
            if planned is not None:
                start_response(planned[0], [*planned[1].items()])
                return [b""]
        return application(environ, start_response)

    with make_server("127.0.0.1", 0, observed, _Threaded, _Quiet) as served:
        server.url = f"http://127.0.0.1:{served.server_port}"
        thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            served.shutdown()
            thread.join(10)
