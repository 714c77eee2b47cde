"""What the tree keeps to: no endless files, no drawers, and nothing that is true on one machine only."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LONGEST = 800
DRAWERS = {"utils", "util", "helpers", "common", "manager", "base", "misc"}


def tracked_texts() -> dict[str, str]:
    """Every tracked text file that is there."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    texts = {}
    for name in filter(None, listed.stdout.split("\0")):
        try:
            texts[name] = (ROOT / name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
    return texts


def test_no_source_file_is_longer_than_eight_hundred_lines() -> None:
    lengths = {path.relative_to(ROOT): len(path.read_text().splitlines()) for path in SOURCES}

    assert {path: length for path, length in lengths.items() if length > LONGEST} == {}


def test_no_module_is_a_drawer() -> None:
    assert [path for path in SOURCES if path.stem in DRAWERS] == []


def test_every_source_file_says_what_it_is_for() -> None:
    silent = [path for path in SOURCES if not path.read_text().startswith('"""')]

    assert [path.relative_to(ROOT) for path in silent if path.read_text().strip()] == []


def test_no_tracked_file_names_a_place_of_this_machine() -> None:
    places = {f"{ROOT}/", f"{Path.home()}/"} - {"//"}

    found = [name for name, text in tracked_texts().items() if any(place in text for place in places)]

    assert found == []


def test_no_lock_says_where_a_package_was_fetched() -> None:
    pins = [*(ROOT / "requirements").glob("*.txt"), *(ROOT / "tests/real_servers/python").glob("*.txt")]
    trees = list((ROOT / "tests").rglob("package-lock.json"))

    assert pins
    assert trees
    assert [file.name for file in pins if "://" in file.read_text()] == []
    assert [file for file in trees if '"resolved"' in file.read_text()] == []
