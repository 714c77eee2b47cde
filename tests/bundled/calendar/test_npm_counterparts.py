"""Counterparts from npm: recurrences by ical.js, and the Google Calendar of `emulate`."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import httpx2
import pytest

from tests.bundled.calendar.conftest import ZONE, Diary
from tests.bundled.calendar.generated import generated_events
from tests.real_servers.node import ROOT, find_node
from tests.real_servers.npm_tree import install_tree
from toolcrib.accounts import Account, AccountStore
from toolcrib.accounts.google import GoogleCredentials
from toolcrib.bundled.calendar import create
from toolcrib.bundled.calendar.ics import read_calendar
from toolcrib.bundled.calendar.model import TimeWindow
from toolcrib.bundled.calendar.occurrences import Expansion

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(600)]
SEED = """
tokens:
  test_token:
    login: testuser@example.com
    scopes: [calendar]
google:
  users:
    - email: testuser@example.com
  calendars:
    - id: primary
      user_email: testuser@example.com
      summary: Test user
      primary: true
      time_zone: Europe/Berlin
"""
HERE = Path(__file__).parent / "npm"


@pytest.fixture(scope="module")
def packages() -> Path:
    return install_tree(HERE, ROOT / ".cache" / "calendar-npm")


def floating(data: str) -> str:
    """Without zones, which ical.js takes from definitions only; the other libraries compare them."""
    return re.sub(r"(\d{8}T\d{6})Z", r"\1", re.sub(r";TZID=[^:]*", "", data))


def ours(data: str) -> list[list[str]]:
    window = TimeWindow(datetime(2025, 1, 1, tzinfo=UTC), datetime(2028, 4, 1, tzinfo=UTC))
    found = Expansion(read_calendar(data), UTC).within(window)
    return sorted([each.start.isoformat(), each.end.isoformat()] for each in found)


def known_defect(rule: str) -> bool:
    return "YEARLY" in rule and "BYSETPOS" in rule


def test_recurrences_are_those_of_ical_js(packages: Path) -> None:
    """It applies BYSETPOS to each month of a year, and not to the year as RFC 5545 says."""
    events = [floating(event.data) for event in generated_events() if not known_defect(event.rule)]
    command = [str(find_node().program), str(HERE / "expand.mjs"), str(packages)]
    done = subprocess.run(command, input=json.dumps(events), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    limit = date(2028, 4, 1).isoformat()

    theirs = [sorted(pair for pair in found if pair[0] < limit) for found in json.loads(done.stdout)]

    assert [ours(data) for data in events] == theirs


@pytest.fixture
def emulated(packages: Path, tmp_path: Path) -> Iterator[str]:
    """The URL of an emulated Google."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    entry = packages / "node_modules" / "emulate" / "dist" / "index.js"
    seed = tmp_path / "seed.yaml"
    seed.write_text(SEED)
    program = str(find_node(24).program)
    command = [program, str(entry), "--service", "google", "--port", str(port), "--seed", str(seed)]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield _wait(process, port)
        finally:
            process.terminate()
            process.communicate(timeout=30)


def _wait(process: subprocess.Popen[str], port: int) -> str:
    """Until the server says that it listens, or its output ends."""
    assert process.stdout is not None
    for line in process.stdout:
        if str(port) in line:
            return f"http://127.0.0.1:{port}"
    raise AssertionError("emulate ended")


async def test_events_are_created_and_listed_in_emulate(emulated: str, tmp_path: Path) -> None:
    async with httpx2.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"{emulated}/.well-known/openid-configuration")
        assert answer.status_code == 200
    uris = {
        "auth_uri": f"{emulated}/o/oauth2/v2/auth",
        "token_uri": f"{emulated}/oauth2/token",
        "api": emulated,
    }
    account = Account(name="work", provider="google", user="testuser@example.com", settings=uris)
    secret = GoogleCredentials(
        client_id="c",
        client_secret="s",
        refresh_token="r",
        access_token="test_token",
        expires_at=9e9,
        scope="",
    )
    AccountStore.of_home(tmp_path).add(account, secret.to_secret())
    planner = Diary(None, tmp_path, create(["--time-zone", ZONE], tmp_path))  # type: ignore[arg-type]

    made = await planner.call("create_event", title="Review", start="2026-11-20T09:00")
    listed = await planner.events("2026-11-20", "2026-11-20")

    assert [event["title"] for event in listed] == ["Review"]
    assert listed[0]["start"] == made["event"]["start"] == "2026-11-20T09:00:00+01:00"
