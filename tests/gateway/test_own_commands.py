"""A command of the host's own terminal is not served by its gateway; every other client is, meanwhile too."""

from __future__ import annotations

import asyncio
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.conftest import DEADLINE, Crib
from toolcrib.bundled.terminal.sandbox import missing
from toolcrib.gateway.http.server import serve_http

KINDS = [kind for kind in ("bubblewrap", "landlock", "none") if not missing(kind)]
VISIT = """
import os, sys, urllib.error, urllib.request
for _ in range(int(sys.argv[2])):
    if os.fork():
        os._exit(0)
    os.setsid()
try:
    said = urllib.request.urlopen(sys.argv[1] + "/healthz").read().decode()
except (urllib.error.URLError, ConnectionError) as error:
    said = getattr(error, "code", None) == 403 and "403" or str(error)
open("said.part", "w").write(said)
os.rename("said.part", "said")
"""


REFUSALS = ("403", "[Errno 104] Connection reset by peer")
"""The second when the refusal comes before the request was read."""


def visit(url: str) -> int:
    try:
        with urllib.request.urlopen(f"{url}/healthz") as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("address", "forks"), [("127.0.0.1", 0), ("127.0.0.1", 2), ("::1", 0)])
async def test_a_command_is_refused_and_others_are_served(
    crib: Crib, tmp_path: Path, kind: str, address: str, forks: int
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "visit.py").write_text(VISIT)
    crib.setting(terminal={"enabled": True, "folder": str(project), "sandbox": kind})
    async with crib.open() as host, serve_http(host, address=address) as (url, _):
        before = await asyncio.to_thread(visit, url)
        command = f"{sys.executable} visit.py {url} {forks}; cat"
        await host.call("terminal__run_command", {"command": command, "background": True})
        async with asyncio.timeout(DEADLINE):
            while not (project / "said").exists():  # noqa: ASYNC110 - a file says nothing by itself
                await asyncio.sleep(0.01)
        meanwhile = await asyncio.to_thread(visit, url)

    assert (project / "said").read_text() in REFUSALS
    assert (before, meanwhile) == (200, 200)
