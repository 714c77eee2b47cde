"""Builds what is released into dist/: the wheel, the source archive, and SHA256SUMS with their checksums.

The wheel is built from the unpacked source archive, so both have the same contents. The same sources give
the same bytes: files are dated by SOURCE_DATE_EPOCH, or else by the commit. Needs the built page, or Node.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHECKSUMS = "SHA256SUMS"
PRODUCTS = ("toolcrib-*.whl", "toolcrib-*.tar.gz", CHECKSUMS)
DEADLINE = 900.0
"""Seconds for one of the two; the page may have to be built for it."""


class BuildFailed(RuntimeError):
    """The build said why."""


def build(folder: Path) -> list[Path]:
    """Build into this folder, in place of an earlier build; returns the source archive and the wheel."""
    folder.mkdir(parents=True, exist_ok=True)
    for pattern in PRODUCTS:
        for earlier in folder.glob(pattern):
            earlier.unlink()
    archive = _build("sdist", ROOT, folder)
    with tempfile.TemporaryDirectory() as place, tarfile.open(archive) as sources:
        sources.extractall(place, filter="data")
        wheel = _build("wheel", Path(place) / archive.name.removesuffix(".tar.gz"), folder)
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in (wheel, archive)]
    (folder / CHECKSUMS).write_text("".join(lines))
    return [archive, wheel]


def _build(target: str, sources: Path, folder: Path) -> Path:
    known = set(folder.iterdir())
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    done = subprocess.run(
        command,
        cwd=sources,
        env={**os.environ, **_date()},
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )
    if done.returncode:
        lines = f"{done.stdout}{done.stderr}".strip().splitlines()
        raise BuildFailed(f"The {target} could not be built. {lines[-1] if lines else ''}")
    (built,) = set(folder.iterdir()) - known
    return built


def _date() -> dict[str, str]:
    """The date of all files; hatchling has one of its own where neither variable nor commit is there."""
    if os.environ.get("SOURCE_DATE_EPOCH") or not (ROOT / ".git").exists():
        return {}
    command = ["git", "log", "-1", "--format=%ct"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return {"SOURCE_DATE_EPOCH": found.stdout.strip()} if found.returncode == 0 else {}


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds the wheel and the source archive.")
    parser.add_argument("--to", type=Path, default=ROOT / "dist", metavar="FOLDER")
    folder: Path = parser.parse_args().to.absolute()
    try:
        built = build(folder)
    except BuildFailed as error:
        print(error, file=sys.stderr)
        return 1
    for file in (*built, folder / CHECKSUMS):
        print(f"{file.stat().st_size:>12,}  {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
