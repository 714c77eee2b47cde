"""What is shipped: a wheel with the page and the documentation inside, small at first load, without source
maps; built without Node where the page is there already."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.web.browsing import check_bundle

ROOT = Path(__file__).parents[2]
STATIC = "toolcrib/web/static/"
FIRST_LOAD = 400 * 1024
"""Bytes, compressed."""
LARGEST = 1024 * 1024


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel of this checkout, built on a machine without Node."""
    check_bundle()
    folder = tmp_path_factory.mktemp("wheel")
    bare = {**os.environ, "PATH": str(Path(sys.executable).parent)}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, env=bare, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return zipfile.ZipFile(built)


def test_a_wheel_brings_the_page(wheel: zipfile.ZipFile) -> None:
    names = [name for name in wheel.namelist() if name.startswith(STATIC)]

    assert f"{STATIC}index.html" in names
    assert any(name.endswith(".js") for name in names)
    assert any(name.endswith(".css") for name in names)


def test_a_wheel_brings_the_documentation(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()

    assert {f"toolcrib/web/static_docs/{name}" for name in ("index.html", "search.json", "docs.css")} <= {
        *names
    }
    assert [name for name in names if name.endswith(".md") and "dist-info" not in name] == []


def test_no_source_maps_and_no_sources_are_shipped(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()

    assert not [name for name in names if name.endswith((".map", ".tsx", ".ts"))]
    assert not [name for name in names if "node_modules" in name or name.startswith("frontend")]
    for name in names:
        if name.startswith(STATIC) and name.endswith((".js", ".css")):
            assert b"sourceMappingURL" not in wheel.read(name)


def test_the_first_load_is_small(wheel: zipfile.ZipFile) -> None:
    index = wheel.read(f"{STATIC}index.html").decode()
    first = {
        f"{STATIC}{path.removeprefix('./').lstrip('/')}"
        for path in re.findall(r'(?:src|href)="([^"]+)"', index)
    }
    loaded = [name for name in wheel.namelist() if name in first]
    size = sum(len(gzip.compress(wheel.read(name))) for name in loaded)

    assert any(name.endswith(".js") for name in loaded)
    assert size <= FIRST_LOAD, f"{size:,} bytes"
    for name in wheel.namelist():
        if name.startswith(STATIC):
            assert wheel.getinfo(name).file_size <= LARGEST, name


def test_nothing_in_the_page_is_fetched_from_elsewhere(wheel: zipfile.ZipFile) -> None:
    styles = [
        name for name in wheel.namelist() if name.startswith(STATIC) and name.endswith((".css", ".html"))
    ]

    for name in styles:
        assert not re.search(rb"(?:url\(|src=|href=)[\"']?(?:https?:)?//", wheel.read(name)), name
