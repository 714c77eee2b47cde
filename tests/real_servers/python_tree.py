"""Installs pinned Python packages into an environment of their own, once; a file of pins says which."""

from __future__ import annotations

import shutil
import sys
from functools import cache
from pathlib import Path

from tests.real_servers.npm_tree import InstallFailed, Mark, alone, run_installer

FORM = ("--universal", "--python-version", "3.11", "--no-header", "--no-annotate", "--no-emit-index-url")


@cache
def install_environment(pins: Path, folder: Path) -> Path:
    """Make the environment `folder` from `pins`, with this Python, unless it is there."""
    mark = Mark(folder, sys.version, [pins])
    with alone(folder):
        if mark.is_current():
            return folder
        uv = _uv()
        run_installer([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
        into = ("--quiet", "--compile-bytecode", "--python", str(folder / "bin/python"))
        run_installer([uv, "pip", "sync", *into, str(pins)])
        mark.set()
    return folder


def lock_environment(requirements: tuple[str, ...], pins: Path, scratch: Path) -> None:
    """Write `pins` anew, with hashes; none says where it was fetched. `scratch` is a folder for our use."""
    wanted = scratch / f"{pins.stem}.in"
    scratch.mkdir(parents=True, exist_ok=True)
    wanted.write_text("\n".join(requirements))
    target = ("--generate-hashes", "--output-file", str(pins))
    run_installer([_uv(), "pip", "compile", "--quiet", *FORM, *target, str(wanted)])


def _uv() -> str:
    """The one beside this Python, which `make setup` put there, before one of the system's."""
    found = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if found is None:
        raise InstallFailed("There is no uv. Run `make setup`.")
    return found
