"""What entries point at."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from toolcrib.errors import UsageError
from toolcrib.features.clients.files.gateway import Program, find_program, make_address


@pytest.mark.parametrize(
    ("url", "profile", "expected"),
    [
        ("http://127.0.0.1:8765", "", "http://127.0.0.1:8765/mcp"),
        ("http://127.0.0.1:8765/", "work", "http://127.0.0.1:8765/mcp/work"),
        ("http://127.0.0.1:8765/mcp/", "", "http://127.0.0.1:8765/mcp"),
        ("http://127.0.0.1:8765/mcp/work", "work", "http://127.0.0.1:8765/mcp/work"),
        ("http://127.0.0.1:8765/mcp", "mcp", "http://127.0.0.1:8765/mcp/mcp"),
        ("https://crib.example/tools/mcp", "work", "https://crib.example/tools/mcp/work"),
        ("http://[::1]:8765/mcp", "", "http://[::1]:8765/mcp"),
    ],
)
def test_an_address_is_completed(url: str, profile: str, expected: str) -> None:
    assert make_address(url, profile).url == expected


@pytest.mark.parametrize(
    "url", ["8765", "127.0.0.1:8765", "ftp://x/mcp", "http://", "http://a:b@x/", "http://x/?t=1"]
)
def test_what_is_no_address_of_a_gateway_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        make_address(url)


def test_a_program_is_named_by_its_absolute_path_with_its_profile_and_home() -> None:
    program = find_program("work", Path("/crib"))

    assert Path(program.command) == Path(sys.executable).with_name("toolcrib")
    assert program.args == ("serve", "--stdio", "--profile", "work", "--home", "/crib")


def test_a_program_in_a_cache_is_known_to_pass() -> None:
    assert Program(command="/home/ada/.cache/uv/archive-v0/x/bin/toolcrib").passing
    assert not Program(command="/home/ada/.local/bin/toolcrib").passing


def test_finding_clients_loads_nothing_heavy() -> None:
    code = (
        "from toolcrib.features.clients.files.client import *\n"
        "[find_client(one) for one in client_names()]\n"
        "import sys; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert {"mcp", "pydantic", "httpx2", "rich", "keyring"}.isdisjoint(done.stdout.split())
