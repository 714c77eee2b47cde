"""Builds what is released from this checkout, and finds the Pythons of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.web.browsing import check_bundle

ROOT = Path(__file__).parents[2]
DEADLINE = 280.0
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""What is supported."""


def run(command: list[str], *, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> str:
    """The output of a command that must succeed."""
    done = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=DEADLINE
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def build(folder: Path, **variables: str) -> dict[str, Path]:
    """The wheel, the source archive and the checksums, by the ends of their names."""
    check_bundle()
    run([sys.executable, "scripts/dist.py", "--to", str(folder)], env={**os.environ, **variables})
    return {end: next(folder.glob(f"*{end}")) for end in (".whl", ".tar.gz", "SHA256SUMS")}


@cache
def find_python(version: str) -> str | None:
    """The program of this version: of pyenv, on the PATH, or put in place by scripts/newer-python.sh."""
    of_pyenv = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python{version}"))
    candidates = [str(path) for path in reversed(of_pyenv)]
    if (on_path := shutil.which(f"python{version}")) is not None:
        candidates.append(on_path)
    candidates.append(str(ROOT / ".cache" / f"python-{version}" / "usr" / "bin" / f"python{version}"))
    # Debian's Python lacks `ensurepip`, and a launcher of pyenv may have no such version.
    works = (
        one
        for one in candidates
        if Path(one).exists()
        and subprocess.run([one, "-c", "import ensurepip, venv"], capture_output=True, check=False).returncode
        == 0
    )
    return next(works, None)
