"""`toolcrib serve`: the address, the one line of JSON, and a clean end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest


@pytest.fixture
def started(tmp_path: Path):
    """Starts `toolcrib serve` with these words; ended with the test."""
    processes: list[subprocess.Popen[str]] = []

    def start(*words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "toolcrib", "--home", str(tmp_path / "home"), "serve", *words]
        environment = {**os.environ, "TOOLCRIB_KEYRING": "off"}
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()


def test_the_address_is_printed_and_answers_until_asked_to_end(started) -> None:
    process = started()
    url = process.stdout.readline().strip()
    health = httpx2.get(url.replace("/mcp", "/healthz"), trust_env=False, timeout=60)
    assert health.json()["status"] == "ok"
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0


def test_json_is_one_line_with_url_and_pid(started) -> None:
    process = started("--json")
    line = json.loads(process.stdout.readline())
    assert line == {"url": line["url"], "pid": process.pid}
    assert line["url"].startswith("http://127.0.0.1:")


def test_a_port_that_is_taken_is_said(started) -> None:
    first = started()
    port = first.stdout.readline().strip().rpartition(":")[2].partition("/")[0]
    taken = subprocess.run(
        [*first.args[:4], f"{first.args[4]}-other", "serve", "--port", port],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TOOLCRIB_KEYRING": "off"},
        timeout=60,
    )
    assert taken.returncode == 2
    assert "cannot be used" in taken.stderr
    assert "--port" in taken.stderr


def test_a_second_host_on_the_home_is_refused(started) -> None:
    first = started()
    first.stdout.readline()
    second = started()
    assert second.wait(timeout=60) == 5
    assert str(first.pid) in second.stderr.read()


def test_a_profile_has_a_path_of_its_own_and_an_unknown_one_is_said(started, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    profiles = {"quiet": {"servers": ["demo"], "readOnly": True}}
    demo = {"type": "inprocess", "module": "toolcrib.bundled.demo"}
    (home / "mcp.json").write_text(
        json.dumps({"mcpServers": {"demo": demo}, "toolcrib": {"profiles": profiles}})
    )
    unknown = started("--profile", "quit")
    assert unknown.wait(timeout=60) == 3
    assert "quiet" in unknown.stderr.read()
    process = started("--profile", "quiet")
    assert process.stdout.readline().strip().endswith("/mcp/quiet")
