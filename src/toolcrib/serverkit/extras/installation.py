"""Installs an extra of Toolcrib (packages that a bundled server needs) on first use, into a folder of its
own, and makes it importable. The time limit, and the hints after a failure.

`ensure("web", context)` returns at once if the packages are there. Packages of our own environment win over
those in the folder. One installation serves all callers, and continues if the call that started it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib
import os
import re
import secrets
import shutil
import signal
import sys
from collections import deque
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path

from toolcrib.errors import InstallFailed
from toolcrib.serverkit.context import ToolContext
from toolcrib.serverkit.extras.index_settings import index_settings, reasons, without_passwords
from toolcrib.serverkit.own_places import HOME_VARIABLE

DEADLINE = 900.0
"""Seconds for one installation."""
KEPT_LINES = 100
SOURCE_ONLY = ("xcffib",)
"""Pure Python packages that publish no wheel; nothing else may be built, because a build runs code."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA = re.compile(r"""\bextra\s*==\s*["']([\w-]+)["']""")
_PLATFORM = re.compile(r"""\bsys_platform\s*==\s*["'](\w+)["']""")
_PASSED = ("PATH", "HOME", "LANG", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "NETRC")
_PASSED_PREFIXES = ("UV_", "PIP_", "XDG_", "HTTP_", "HTTPS_", "http_", "https_", "NO_PROXY", "no_proxy")
_installing: dict[str, asyncio.Task[None]] = {}


async def ensure(extra: str, context: ToolContext | None = None) -> None:
    """Make the packages of an extra importable, installing them if necessary; raises `InstallFailed`."""
    if await asyncio.to_thread(is_installed, extra):
        return
    task = _installing.get(extra)
    if task is None or task.done() or task.get_loop() is not asyncio.get_running_loop():
        task = asyncio.create_task(_install(extra, context or ToolContext()))
        _installing[extra] = task
    await asyncio.shield(task)


def is_installed(extra: str) -> bool:
    """Whether its packages are importable, here or in its folder."""
    if not requirements_of(extra):
        return False
    if not _missing(extra):
        return True
    folder = folder_of(extra)
    if not folder.is_dir():
        return False
    _make_importable(folder)
    return not _missing(extra)


def requirements_of(extra: str) -> tuple[str, ...]:
    """The requirements that our own package metadata lists for an extra on this platform."""
    found = [
        text
        for text in requires("toolcrib") or ()
        if extra in _EXTRA.findall(text) and sys.platform in (_PLATFORM.findall(text) or [sys.platform])
    ]
    return tuple(text.partition(";")[0].strip() for text in found)


def folder_of(extra: str) -> Path:
    """Where the extra is installed; another one for other requirements or another Python."""
    made_of = "\n".join([sys.version, *requirements_of(extra)])
    return _extras_folder() / f"{extra}-{hashlib.sha256(made_of.encode()).hexdigest()[:12]}"


def _extras_folder() -> Path:
    if home := os.environ.get(HOME_VARIABLE):
        return Path(home).expanduser().resolve() / "data" / "extras"
    from platformdirs import user_data_path

    return user_data_path("toolcrib", appauthor=False) / "extras"


@cache
def _make_importable(folder: Path) -> None:
    sys.path.append(str(folder))
    importlib.invalidate_caches()


def _missing(extra: str) -> list[str]:
    return [name for text in requirements_of(extra) if not _is_there(name := _NAME.match(text).group())]  # type: ignore[union-attr]


def _is_there(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


async def _install(extra: str, context: ToolContext) -> None:
    if not requirements_of(extra):
        raise InstallFailed(
            f"This installation of Toolcrib does not list the packages for {extra}.",
            hint="It is older than its source code: install Toolcrib again.",
        )
    folder = folder_of(extra)
    half = folder.with_name(f".{extra}-{secrets.token_hex(4)}")
    context.progress(0, None, f"Installing what {extra} needs (once)")
    try:
        await asyncio.to_thread(folder.parent.mkdir, mode=0o700, parents=True, exist_ok=True)
        await _run_uv(extra, half, context)
        if not folder.exists():
            half.rename(folder)
    except OSError as error:
        raise InstallFailed(f"{folder} cannot be written: {error.strerror}.", hint=_by_hand(extra)) from error
    finally:
        await asyncio.to_thread(shutil.rmtree, half, ignore_errors=True)
    if not await asyncio.to_thread(is_installed, extra):
        raise InstallFailed(f"The packages for {extra} are installed but not found.", hint=_by_hand(extra))


async def _run_uv(extra: str, target: Path, context: ToolContext) -> None:
    uv = shutil.which(
        "uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    )
    if uv is None:
        raise InstallFailed("uv, which installs Python packages, was not found.", hint=_by_hand(extra))
    words = ["pip", "install", "--compile-bytecode", "--target", str(target), "--only-binary", ":all:"]
    for name in SOURCE_ONLY:
        words += ["--no-binary", name]
    process = await asyncio.create_subprocess_exec(
        uv,
        *words,
        "--python",
        sys.executable,
        "--",
        *requirements_of(extra),
        env=_environment(),
        cwd="/",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(DEADLINE):
            lines = await _report(process, context)
            code = await process.wait()
    except TimeoutError:
        raise InstallFailed(
            f"The packages for {extra} were not installed within {DEADLINE:g} s.", hint=_by_hand(extra)
        ) from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if code:
        raise InstallFailed(
            f"The packages for {extra} could not be installed. {reasons(lines)}", hint=_by_hand(extra)
        )


async def _report(process: asyncio.subprocess.Process, context: ToolContext) -> list[str]:
    """Report each line of output as progress; returns the last ones."""
    assert process.stderr is not None
    kept: deque[str] = deque(maxlen=KEPT_LINES)
    done = 0
    async for raw in process.stderr:
        line = raw.decode("utf-8", "replace").strip()
        if line:
            kept.append(line)
            done += 1
            context.progress(done, None, without_passwords(line)[:200])
    return list(kept)


def _environment() -> dict[str, str]:
    passed = {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED or name.startswith(_PASSED_PREFIXES)
    }
    return {**passed, **index_settings(os.environ), "UV_NO_PROGRESS": "1"}


def _by_hand(extra: str) -> str:
    return f"Check the network, or install it yourself: pip install 'toolcrib[{extra}]'"
