"""With the network cut off: what was once fetched, or lies in a file, is installed all the same."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.installers.packages import bundle, client_settings, manifest, npm_tarball, wheel

PROGRAM = Path(sys.executable).with_name("toolcrib")
NOWHERE = "http://127.0.0.1:9/"
pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(600)]


def cut_off() -> tuple[list[str], dict[str, str]]:
    """What runs a command without a network: a namespace of its own, else indexes where nobody answers."""
    words = ["unshare", "--map-root-user", "--net"]
    if shutil.which("unshare") and not subprocess.run([*words, "true"], capture_output=True).returncode:
        return words, {}
    return [], {
        "npm_config_registry": NOWHERE,
        "UV_DEFAULT_INDEX": NOWHERE,
        "HTTPS_PROXY": NOWHERE,
        "HTTP_PROXY": NOWHERE,
    }


def run(home: Path, *words: str, network: bool = False) -> subprocess.CompletedProcess[str]:
    before, lost = ([], {}) if network else cut_off()
    ours = {"TOOLCRIB_HOME": str(home), "TOOLCRIB_KEYRING": "off"}
    return subprocess.run(
        [*before, str(PROGRAM), *words],
        env={**os.environ, **client_settings(), **ours, **lost},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(
    ("reference", "call"),
    [
        ("npm:@modelcontextprotocol/server-memory@2026.7.4", ("srv__read_graph",)),
        (
            "pypi:mcp-server-time==2026.10.10",
            ("srv__convert_time", "source_timezone=UTC", "time=12:00", "target_timezone=Asia/Tokyo"),
        ),
    ],
)
def test_what_was_once_installed_is_installed_again_without_a_network(
    tmp_path: Path, reference: str, call: tuple[str, ...]
) -> None:
    first = run(tmp_path / "first", "add", "srv", reference, "--yes", network=True)
    assert first.returncode == 0, first

    again = run(tmp_path / "second", "add", "srv", reference, "--yes", "--offline")

    assert again.returncode == 0, again
    assert run(tmp_path / "second", "call", *call).returncode == 0


@pytest.mark.parametrize("kind", ["tarball", "wheel", "bundle"])
def test_a_file_is_installed_without_a_network(tmp_path: Path, kind: str) -> None:
    makers = {
        "tarball": lambda: npm_tarball(tmp_path),
        "wheel": lambda: wheel(tmp_path),
        "bundle": lambda: bundle(tmp_path / "hello.mcpb", manifest()),
    }
    answers = ("--set", "dirs=/a", "--set", "key=hunter2") if kind == "bundle" else ()

    added = run(tmp_path / "home", "add", "srv", str(makers[kind]()), "--yes", "--offline", *answers)

    assert added.returncode == 0, added
    told = json.loads(run(tmp_path / "home", "call", "srv__tell").stdout)
    assert told["version"] == "1.0.0"
    if kind == "bundle":
        assert (told["args"], told["env"]["API_KEY"]) == (["/a"], "hunter2")


def test_what_was_never_fetched_is_refused_with_the_reason(tmp_path: Path) -> None:
    for reference in ("npm:toolcrib-never-fetched-package", "pypi:toolcrib-never-fetched-package"):
        done = run(tmp_path / "home", "add", "srv", reference, "--yes", "--offline", "--json")

        assert done.returncode in (3, 5), done
        assert "--offline" in json.loads(done.stdout)["error"]["hint"]
