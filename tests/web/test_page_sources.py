"""The sources of the page: their types hold, their own tests pass, and what is first loaded stays small."""

from __future__ import annotations

import gzip
import re
import subprocess
from pathlib import Path

from tests.real_servers.node import find_node
from tests.web.browsing import ROOT, STATIC, check_bundle

FRONTEND = ROOT / "frontend"
DEADLINE = 300.0
BUDGET = 400_000
_HARMLESS = re.compile(
    r"https?://(www\.w3\.org/|react\.dev/errors|reactflow\.dev|github\.com/syntax-tree/|127\.0\.0\.1|…|\.)"
)
"""Names of XML vocabularies, where libraries explain their own faults, and examples."""


def run(script: str, *arguments: str) -> str:
    """Run a program of the page's own; what it said, when it failed."""
    command = [str(find_node(20).program), str(FRONTEND / "node_modules" / script), *arguments]
    done = subprocess.run(
        command, cwd=FRONTEND, capture_output=True, text=True, timeout=DEADLINE, check=False
    )
    return f"{done.stdout}{done.stderr}" if done.returncode else ""


def test_the_types_of_the_page_hold() -> None:
    assert run("@typescript/native/bin/tsc", "--noEmit") == ""


def test_the_tests_of_the_page_pass() -> None:
    assert run("vitest/vitest.mjs", "run", "--no-color") == ""


def test_the_first_load_is_within_its_budget() -> None:
    check_bundle()
    loaded = [STATIC / "index.html", *_first(STATIC)]

    sizes = {file.name: len(gzip.compress(file.read_bytes())) for file in loaded}

    assert sum(sizes.values()) <= BUDGET, sizes


def test_the_bundle_names_no_place_outside() -> None:
    check_bundle()
    said = "\n".join(
        file.read_text() for file in STATIC.rglob("*") if file.suffix in {".js", ".css", ".html"}
    )

    addresses = set(re.findall(r"https?://[^\s\"'`<>)\\]+", said))

    assert {one for one in addresses if not _HARMLESS.match(one) and "$" not in one} == set()


def _first(static: Path) -> set[Path]:
    """What the page itself names, and what those scripts import before they run; not what is loaded later."""
    index = (static / "index.html").read_text()
    found = {static / name.lstrip("/") for name in re.findall(r"(?:src|href)=\"(/assets/[^\"]+)\"", index)}
    waiting = [file for file in found if file.suffix == ".js"]
    while waiting:
        script = waiting.pop()
        for name in re.findall(r"(?:from|import)\s*[\"']\./([^\"']+\.js)[\"']", script.read_text()):
            imported = script.parent / name
            if imported not in found:
                found.add(imported)
                waiting.append(imported)
    return found
