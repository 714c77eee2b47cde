"""Installs pinned Python packages into an environment of their own, once; a file of pins says which."""

from __future__ import annotations

import shutil
import sys
from functools import cache
from pathlib import Path

from tests.real_servers.node import ROOT
from tests.real_servers.npm_tree import InstallFailed, Mark, alone, run_installer

FORM = ("--universal", "--python-version", "3.11", "--no-header", "--no-annotate", "--no-emit-index-url")


@cache
def install_environment(pins: Path, folder: Path) -> Path:
    """Make the environment `folder` from `pins`, with this Python, unless it is there."""
    mark = Mark(folder, sys.version, [pins])
    with alone(folder):
        if mark.is_current():
            return folder
        uv = find_uv()
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
    run_installer([find_uv(), "pip", "compile", "--quiet", *FORM, *target, str(wanted)])


def find_uv() -> str:
    """The one beside this Python, or that `make setup` put in place, before one of the system's."""
    places = (str(Path(sys.executable).parent), str(ROOT / ".venv" / "bin"), None)
    found = next((uv for place in places if (uv := shutil.which("uv", path=place))), None)
    if found is None:
        raise InstallFailed("There is no uv. Run `make setup`.")
    return found
