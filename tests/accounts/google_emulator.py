"""The npm package `emulate`, which nobody here wrote, as Google on a loopback port."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import httpx2

from tests.real_servers.node import ROOT, find_node
from tests.real_servers.npm_tree import install_tree

PINS = ROOT / "tests" / "real_servers" / "npm" / "emulate"
NODE = 24
"""Older ones lack what the package imports."""
USER = "ada@example.com"
DEADLINE = 60.0
SEED = {
    "google": {
        "users": [{"email": USER, "name": "Ada", "email_verified": True}],
        "calendars": [
            {"id": USER, "user_email": USER, "summary": "Ada", "primary": True, "time_zone": "Europe/Berlin"}
        ],
    }
}
_FIELD = re.compile(r'name="([^"]*)"[^>]*value="([^"]*)"')


@dataclass(frozen=True)
class GoogleEmulator:
    url: str

    def client_file(self) -> str:
        """An OAuth client, with the emulator's endpoints."""
        endpoints = {
            "auth_uri": f"{self.url}/o/oauth2/v2/auth",
            "token_uri": f"{self.url}/oauth2/token",
            "revoke_uri": f"{self.url}/oauth2/revoke",
            "api": self.url,
        }
        return json.dumps({"installed": {"client_id": "ours", "client_secret": "shared", **endpoints}})

    async def agree(self, address: str) -> httpx2.Response:
        """The user's browser: opens the page, chooses the only user, and follows the redirect to our port."""
        async with httpx2.AsyncClient(trust_env=False, follow_redirects=True, timeout=DEADLINE) as browser:
            page = await browser.get(address)
            form = {name: unescape(value) for name, value in _FIELD.findall(page.text)}
            return await browser.post(f"{self.url}/o/oauth2/v2/auth/callback", data=form)


@asynccontextmanager
async def google_emulator(folder: Path) -> AsyncIterator[GoogleEmulator]:
    """Runs while the block runs; `folder` is for its seed."""
    tree = await asyncio.to_thread(install_tree, PINS, ROOT / ".cache" / "real-servers" / "npm-emulate", NODE)
    seed = folder / "seed.json"
    seed.write_text(json.dumps(SEED))
    port = _free_port()
    program = tree / "node_modules" / "emulate" / "dist" / "index.js"
    words = ("start", "--service", "google", "--port", str(port), "--seed", str(seed))
    process = await asyncio.create_subprocess_exec(
        *(str(find_node(NODE).program), str(program), *words),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=folder,
    )
    try:
        await _answering(port)
        yield GoogleEmulator(f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        await process.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


async def _answering(port: int) -> None:
    async with asyncio.timeout(DEADLINE):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return
