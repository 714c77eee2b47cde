"""A package of somebody else: a real distribution, modules and a `.dist-info`, on the path of a process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def install(folder: Path, modules: Mapping[str, str], groups: Mapping[str, str]) -> None:
    """Install the package `aviary` for processes in this folder, beside an empty home."""
    site = folder / "site"
    package, info = site / "aviary", site / "aviary-1.0.dist-info"
    package.mkdir(parents=True)
    info.mkdir()
    (package / "__init__.py").write_text("")
    for name, text in modules.items():
        (package / f"{name}.py").write_text(text.lstrip())
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: aviary\nVersion: 1.0\n")
    points = [f"[{group}]\n{name} = aviary.{name}\n" for group, name in groups.items()]
    (info / "entry_points.txt").write_text("\n".join(points))
    (folder / "home").mkdir()


def run(folder: Path, *words: str, code: int = 0, stdin: str = "") -> str:
    """What a new process with the package on its path prints."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder / "site"),
        "TOOLCRIB_HOME": str(folder / "home"),
        "HOME": str(folder),
        "TOOLCRIB_KEYRING": "off",
    }
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
    return done.stdout + (done.stderr if code else "")
