"""A registry of npm packages on loopback, whose packages are made here and can be held back half-way."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

PUBLISHED = "2026-08-03T10:00:00.000Z"
DEADLINE = 600.0
"""Seconds after which nothing is held back any more, whatever happens to whoever holds it."""


@dataclass(frozen=True, kw_only=True)
class Package:
    """One version of one package; `files` are text by name."""

    name: str
    version: str
    files: Mapping[str, str] = field(default_factory=dict)
    program: str = ""
    needs: Mapping[str, str] = field(default_factory=dict)
    script: str = ""
    """What it would run while it is installed."""

    @property
    def manifest(self) -> dict[str, Any]:
        """Its package.json."""
        found: dict[str, Any] = {"name": self.name, "version": self.version, "dependencies": dict(self.needs)}
        if self.program:
            found["bin"] = {self.name.rpartition("/")[2]: self.program}
        if self.script:
            found["scripts"] = {"postinstall": self.script}
        return found

    @property
    def file(self) -> str:
        """The name of its tarball."""
        return f"{self.name.rpartition('/')[2]}-{self.version}.tgz"

    def tarball(self) -> bytes:
        """The same bytes every time."""
        content = io.BytesIO()
        files = {"package.json": json.dumps(self.manifest), **self.files}
        with tarfile.open(fileobj=content, mode="w") as archive:
            for name, text in sorted(files.items()):
                info = tarfile.TarInfo(f"package/{name}")
                info.size, info.mode = len(text.encode()), 0o755
                archive.addfile(info, io.BytesIO(text.encode()))
        return content.getvalue()


class Registry:
    """Answers as a registry does; `hold` keeps back all but the first tarballs of a tree."""

    def __init__(self, packages: Iterable[Package]) -> None:
        self.packages: dict[str, list[Package]] = {}
        for package in packages:
            self.publish(package)
        self._held: frozenset[str] = frozenset()
        self._unknown: frozenset[str] = frozenset()
        self._left = 0
        self._changing = threading.Lock()
        self._open = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def address(self) -> str:
        """Its root."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def settings(self, cache: Path) -> dict[str, str]:
        """Variables that let npm ask here, and keep what it got in a place of its own."""
        return {"npm_config_registry": self.address, "npm_config_cache": str(cache)}

    def publish(self, package: Package) -> None:
        """A package, or the latest version of one."""
        self.packages.setdefault(package.name, []).append(package)

    def hold(self, names: Iterable[str], after: int) -> None:
        """Of the tarballs of these packages, hand out so many and no more until `release`."""
        with self._changing:
            self._held, self._left = frozenset(names), after

    def keep_back(self, name: str) -> None:
        """Tell nothing of this package until `release`."""
        self._unknown = frozenset([name])

    def release(self) -> None:
        """Hand out what was held back."""
        self._open.set()

    def stop_handing_out(self) -> None:
        """From now on there are no such tarballs, for those who wait too."""
        self.packages = {}
        self._open.set()

    def start(self) -> None:
        """Listen."""
        self._thread.start()

    def stop(self) -> None:
        """Answer nobody any more."""
        self._open.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def tarball(self, file: str) -> bytes | None:
        """The bytes, when it is their turn."""
        versions = [one for listed in self.packages.values() for one in listed]
        found = next((one for one in versions if one.file == file), None)
        if found is None:
            return None
        if found.name in self._held and not self._has_room():
            self._open.wait(DEADLINE)
        return found.tarball() if found.name in self.packages else None

    def _has_room(self) -> bool:
        with self._changing:
            self._left -= 1
            return self._left >= 0

    def document(self, name: str) -> dict[str, Any] | None:
        """What is known of a package."""
        if name in self._unknown:
            self._open.wait(DEADLINE)
        found = self.packages.get(name)
        if not found:
            return None
        return {
            "name": name,
            "dist-tags": {"latest": found[-1].version},
            "versions": {one.version: self._shown(one) for one in found},
            "time": {one.version: PUBLISHED for one in found},
        }

    def _shown(self, package: Package) -> dict[str, Any]:
        integrity = f"sha512-{base64.b64encode(hashlib.sha512(package.tarball()).digest()).decode()}"
        tarball = f"{self.address}{package.name}/-/{package.file}"
        shown = {**package.manifest, "dist": {"tarball": tarball, "integrity": integrity}}
        return {**shown, "hasInstallScript": True} if package.script else shown


@contextmanager
def npm_registry(*packages: Package) -> Iterator[Registry]:
    """One that answers while the block runs."""
    found = Registry(packages)
    found.start()
    try:
        yield found
    finally:
        found.stop()


def _handler(registry: Registry) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = unquote(self.path.partition("?")[0]).strip("/")
            if path.endswith(".tgz"):
                self._send(registry.tarball(path.rpartition("/")[2]), "application/octet-stream")
                return
            found = registry.document(path)
            self._send(None if found is None else json.dumps(found).encode(), "application/json")

        def _send(self, body: bytes | None, kind: str) -> None:
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body or b"")))
            with contextlib.suppress(ConnectionError):  # Whoever was kept waiting may be gone.
                self.end_headers()
                self.wfile.write(body or b"")

        def log_message(self, *_: Any) -> None:
            """Nobody reads it."""

    return Handler
