"""The programs that many servers need: Node (oldest version without a warning), npm and uv, with hints for
installing them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import sys
from pathlib import Path

from toolcrib.operations.health import CheckContext, CheckResult, ok, warning

TIMEOUT = 10.0
OLDEST_NODE = 20
_HINTS = {
    "node": "Servers from npm need it: install Node.js 20 or newer.",
    "npm": "Servers from npm are installed with it: install Node.js 20 or newer.",
    "uv": "Servers from PyPI are installed with it: pip install uv",
}


async def check(context: CheckContext) -> list[CheckResult]:
    """Report each program; Toolcrib itself needs none of them."""
    # Also finds programs installed beside our Python.
    path = os.pathsep.join([context.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])
    return list(await asyncio.gather(*(_check_program(name, path) for name in _HINTS)))


async def _check_program(name: str, path: str) -> CheckResult:
    program = shutil.which(name, path=path)
    if program is None:
        return warning(name, f"{name} is not on the PATH.", _HINTS[name])
    version = await _version(program)
    if version is None:
        return warning(
            name, f"{program} did not report its version.", f"Try it yourself: {program} --version"
        )
    if name == "node" and _major(version) < OLDEST_NODE:
        return warning(name, f"Node.js {version} is old ({program}).", _HINTS[name])
    return ok(name, f"{version} ({program})")


async def _version(program: str) -> str | None:
    try:
        process = await asyncio.create_subprocess_exec(
            program,
            "--version",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return None
    try:
        async with asyncio.timeout(TIMEOUT):
            output, _ = await process.communicate()
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    found = re.search(r"\d+(\.\d+)+", output.decode("utf-8", "replace"))
    return found.group() if found and process.returncode == 0 else None


def _major(version: str) -> int:
    return int(version.split(".")[0])
