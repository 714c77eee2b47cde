"""Python environments with uv: resolves packages into a lock with hashes, then installs exactly that lock.
Tries other Python versions, and has the errors for yanked, missing or source-only packages.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolcrib.errors import InstallFailed, NotFound, UsageError
from toolcrib.serverkit.extras.index_settings import index_settings, reasons
from toolcrib.servers.installers.engine.archives import WheelContent, normal_name, read_installed
from toolcrib.servers.installers.engine.contract import BROKEN, InstallContext, InstallProgress
from toolcrib.servers.installers.engine.files import file_digest
from toolcrib.servers.installers.engine.plan import Options
from toolcrib.servers.installers.engine.start_hooks import added_hooks, hook_remarks, replaced, snapshot
from toolcrib.servers.installers.engine.uv import (
    PythonRange,
    choose_version,
    find_python,
    find_uv,
    fits_ours,
    interpreter,
    missing_python,
    ranges_in,
    releases_of,
)

LOCK_FILE = "requirements.lock"
OWN_LOCK = "own.lock"
_PIN = re.compile(
    r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*(?:==\s*([^\s;\\]+)|@\s*\S+)", re.MULTILINE
)
_BOUND = r"(?:[<>=!~]=?=?\s*[\w.*+!-]+)"
_REQUIREMENT = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[\w,.-]*\])?\s*(?:{_BOUND}(?:\s*,\s*{_BOUND})*)?")
_DECLARED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\s*(?:\[[\w,. -]*\])?\s*(?:[(<>=!~;].*)?")
_UNSAFE = re.compile(r"\$\{|\s-|[\x00-\x1f\\]")
"""Variables, options and further lines, which a requirements file may have and a requirement may not."""
_YANKED = re.compile(r"\b(?:is|are|was|were) yanked\b", re.IGNORECASE)
_DEPENDENCY_MISSING = re.compile(
    r"depends on .*(?:not found in the package registry|no version of)", re.DOTALL
)
_VERSION = re.compile(r"\d+(?:\.\d+){0,2}")
MOST_PYTHONS = 3
"""The most other Python versions tried for one package."""
_NO_WHEEL = re.compile(
    r"no (usable )?wheels|no-build|building source distributions is disabled|only-binary|no-binary", re.I
)


@dataclass(frozen=True)
class Resolved:
    """A lock and its Python version."""

    lock: str
    options: Options
    runtimes: tuple[str, ...] = ()
    """The Python to download first."""


class Yanked(NotFound):
    """All versions were withdrawn by their authors."""


class SourceOnly(InstallFailed):
    """A package has no wheel, and may not be built."""


class WrongPython(InstallFailed):
    """The packages do not support this Python."""

    def __init__(self, said: str, wanted: tuple[PythonRange, ...]) -> None:
        needed = " or ".join(versions.text for versions in wanted)
        super().__init__(
            f"It needs another Python ({needed}). {said}", hint="Choose one with --python VERSION."
        )
        self.wanted = wanted


async def resolve(
    context: InstallContext,
    scratch: Path,
    wanted: str,
    options: Options,
    requires: str = "",
    *,
    dependencies: bool = True,
) -> Resolved:
    """A lock for the wanted packages, for another Python than ours if they need one.

    `requires` is the `requires-python` of the project, which itself is not resolved.
    """
    fixed = options.python is not None
    if requires and not fixed and not fits_ours(PythonRange(requires)):
        options = await _with_python(context, options, (PythonRange(requires),))
    tried: list[str] = []
    while True:
        try:
            lock = await compile_lock(context, scratch, wanted, options, dependencies=dependencies)
            return Resolved(lock, options, await _to_fetch(context, options))
        except WrongPython as error:
            if fixed or len(tried) == MOST_PYTHONS:
                raise
            options = await _with_python(context, options, error.wanted, tried)
            tried.append(str(options.needed_python))


async def _with_python(
    context: InstallContext, options: Options, wanted: tuple[PythonRange, ...], tried: Sequence[str] = ()
) -> Options:
    version = await choose_version(context, wanted, tried)
    context.progress(InstallProgress("resolve", f"again for Python {version}"))
    return options.model_copy(update={"needed_python": version})


async def _to_fetch(context: InstallContext, options: Options) -> tuple[str, ...]:
    version = options.needed_python
    if version is None or options.python is not None or await find_python(context, releases_of(version)):
        return ()
    return (f"Python {version} (about 30 MB)",)


async def compile_lock(
    context: InstallContext, scratch: Path, wanted: str, options: Options, *, dependencies: bool = True
) -> str:
    """The exact versions of `wanted` and its dependencies, with hashes."""
    if not wanted.strip() and not options.also:
        return ""
    also = [_requirement(requirement) for requirement in options.also] if dependencies else []
    (scratch / "wanted.in").write_text("\n".join([wanted, *also, ""]))
    form = ["--quiet", "--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url"]
    more = [*await _for_python(context, options), *([] if dependencies else ["--no-deps"]), "wanted.in"]
    try:
        return await run_uv(context, scratch, ["compile", *form, *build_rules(options), *more])
    except SourceOnly as error:
        raise await _withdrawn(context, scratch, ["compile", *form, *more]) or error from None


async def _withdrawn(context: InstallContext, scratch: Path, words: list[str]) -> NotFound | None:
    """The error if the versions without a wheel were all yanked, which uv says only where it may build.

    Offline, it knows the index from the run before and has nothing that it could build.
    """
    try:
        await run_uv(replace(context, offline=True), scratch, words)
    except Yanked as error:
        return error
    except InstallFailed:
        pass
    return None


async def fetch_wheel(
    context: InstallContext, scratch: Path, name: str, lock: str, options: Options
) -> WheelContent:
    """The metadata of one package of the lock."""
    (scratch / OWN_LOCK).write_text(only(lock, name))
    words = ["install", "--quiet", "--no-deps", "--require-hashes", *build_rules(options)]
    place = [*await _for_python(context, options), "--target", "own", "--requirements", OWN_LOCK]
    await run_uv(context, scratch, [*words, *place])
    return read_installed(scratch / "own", name)


async def make_environment(
    context: InstallContext, folder: Path, lock: str, options: Options, *, wheel: Path | None = None
) -> None:
    """Create `folder/venv` with the packages of the lock, and the wheel if given; runs none of their code."""
    (folder / LOCK_FILE).write_text(lock)
    await _make_venv(context, folder, options)
    venv = folder / "venv"
    base = await asyncio.to_thread(os.path.realpath, venv / "bin" / "python")
    before = await asyncio.to_thread(snapshot, venv)
    total = len(pinned(lock)) + (wheel is not None)
    what = f"{total} package{'' if total == 1 else 's'}"
    context.progress(InstallProgress("fetch", what, 0, total))
    wanted = ["--requirements", LOCK_FILE] if pinned(lock) else []
    if wheel is not None:
        digest = await asyncio.to_thread(file_digest, wheel)
        (folder / OWN_LOCK).write_text(f"{wheel.as_uri()} --hash=sha256:{digest}\n")
        wanted += ["--requirements", OWN_LOCK]
        options = _without_build(options, wheel.name.partition("-")[0])
    if wanted:
        # All in one run: uv asks the environment's Python for its version, which then must be empty.
        into = ["--python", str(venv / "bin" / "python"), "--no-compile-bytecode"]
        rules = ["--no-deps", "--require-hashes", *build_rules(options)]
        await run_uv(context, folder, ["install", *rules, *into, *wanted])
    context.progress(InstallProgress("fetch", what, total, total))
    if wanted:
        await _check_and_compile(context, venv, base, before)


async def _check_and_compile(
    context: InstallContext, venv: Path, base: str, before: dict[Path, bytes]
) -> None:
    if changed := await asyncio.to_thread(replaced, before):
        listed = ", ".join(str(path.relative_to(venv)) for path in changed)
        raise InstallFailed(
            f"A package replaces {listed} of its environment, which is refused.", hint="Do not use it."
        )
    context.remarks.extend(hook_remarks(added_hooks(venv, before)))
    # The base interpreter without `site`: the environment's own would run `.pth` files and sitecustomize.
    words = [base, "-I", "-S", "-m", "compileall", "-qq", "-j", "0", str(venv / "lib")]
    await context.runner.run(words, cwd=venv, private=True)


def _without_build(options: Options, name: str) -> Options:
    kept = tuple(other for other in options.allow_build if normal_name(other) != normal_name(name))
    return options.model_copy(update={"allow_build": kept})


async def _make_venv(context: InstallContext, folder: Path, options: Options) -> None:
    needed = options.needed_python if options.python is None else None
    python = await interpreter(context, needed) if needed else await _chosen(context, options)
    fetched = needed is not None and needed.startswith(python)
    if fetched:
        context.progress(InstallProgress("runtime", f"Python {needed}"))
    offline = ["--offline", "--no-python-downloads"] if context.offline else []
    venv = [find_uv(context), "venv", "--quiet", "--no-project", *offline, "--python", python]
    done = await context.runner.run([*venv, str(folder / "venv")], cwd=folder)
    if done.code and needed and fetched:
        raise missing_python(python, PythonRange(f"=={python}.*"), reasons(done.errors))
    if done.code:
        raise InstallFailed(f"The environment could not be created. {reasons(done.errors)}")


def _requirement(text: str) -> str:
    """A package name with versions; never an option, URL or path."""
    if not _REQUIREMENT.fullmatch(text.strip()):
        raise UsageError(f"{text[:80]!r} is not a requirement.", hint="Example: --with 'mcp<2'.")
    return text.strip()


def declared(project: Mapping[str, Any], file: str) -> str:
    """The `dependencies` of a `[project]` table as lines for `resolve`; never an option, URL or path."""
    listed = project.get("dependencies", [])
    for text in listed if isinstance(listed, list) else [listed]:
        safe = isinstance(text, str) and _DECLARED.fullmatch(text.strip()) and not _UNSAFE.search(text)
        if not safe:
            raise UsageError(
                f"{file} requires {str(text)[:100]!r}, which is not a package of the index.",
                hint="List packages by name. Example: httpx>=0.28.",
            )
    return "\n".join(listed)


def build_rules(options: Options) -> list[str]:
    """Wheels only, except for packages that may be built."""
    if not options.allow_build:
        return ["--no-build"]
    allowed = [word for name in options.allow_build for word in ("--no-binary", normal_name(name))]
    return ["--only-binary", ":all:", *allowed]


async def _for_python(context: InstallContext, options: Options) -> list[str]:
    """Resolving needs no interpreter of that version, unless building from source."""
    if options.python is None and options.needed_python and not options.allow_build:
        return ["--python", sys.executable, "--python-version", options.needed_python]
    return ["--python", await _chosen(context, options)]


async def _chosen(context: InstallContext, options: Options) -> str:
    """The Python of the environment; of a version, the installed one, which uv may not know."""
    chosen = options.python or options.needed_python or sys.executable
    return await interpreter(context, chosen) if _VERSION.fullmatch(chosen) else chosen


def pinned(lock: str) -> dict[str, str]:
    """The versions of a lock by normalized name; empty for a package given by URL."""
    return {normal_name(name): version for name, version in _PIN.findall(lock)}


def only(lock: str, name: str) -> str:
    """The lock lines of one package."""
    return "".join(part for part in _parts(lock) if _name(part) == normal_name(name))


def without(lock: str, name: str) -> str:
    """The lock without one package."""
    return "".join(part for part in _parts(lock) if _name(part) != normal_name(name))


async def run_uv(context: InstallContext, folder: Path, words: list[str]) -> str:
    """Run `uv pip …`; raises `NotFound` or `InstallFailed` with its output."""
    offline = ["--offline"] if context.offline else []
    settings = {**index_settings(context.runner.environ), "UV_NO_PROGRESS": "1"}
    # uv has an option for this but no variable.
    alone = ["--no-index"] if "UV_NO_INDEX" in settings and "--no-index" not in words else []
    line = [find_uv(context), "pip", words[0], *offline, *alone, *words[1:]]
    done = await context.runner.run(line, cwd=folder, env=settings)
    if done.code == 0:
        return done.out
    raise _failure(done.errors, context.offline)


def _failure(errors: Sequence[str], offline: bool) -> InstallFailed | NotFound:
    said, wanted = reasons(errors), ranges_in(errors)
    if wanted:
        return WrongPython(said, wanted)
    if _YANKED.search(said):
        return Yanked(
            f"All matching versions were yanked by their authors. {said}",
            hint="Choose another package, or name the yanked version explicitly: NAME==VERSION.",
        )
    if offline:
        return InstallFailed(
            f"Some packages are not in the local cache. {said}", hint="Try again without --offline."
        )
    if _NO_WHEEL.search(said):
        return SourceOnly(
            f"A package must be built from source, which runs its code. {said}",
            hint="If you trust it, allow it with --allow-build NAME.",
        )
    if _DEPENDENCY_MISSING.search(said):
        return NotFound(f"A package that it depends on is not in the index. {said}", hint=BROKEN)
    if "not found in the package registry" in said or "no version of" in said:
        return NotFound(
            f"No such package or version in the index. {said}", hint="Check the name and version."
        )
    if "Python version" in said:
        return InstallFailed(f"It needs another Python. {said}", hint="Choose one with --python VERSION.")
    return InstallFailed(f"uv failed. {said}", hint="Check the network and the settings of pip or uv.")


def _parts(lock: str) -> list[str]:
    return re.findall(r"^(?![ \t#\n]).*\n?(?:^[ \t].*\n?)*", lock, re.MULTILINE)


def _name(part: str) -> str:
    found = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", part)
    return normal_name(found[0]) if found else ""


STARTER = "start.py"
_TARGET = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_TEXT = '''"""Starts {program} as its own script does."""

import gc
import sys

gc.disable()
sys.path[0] = {folder!r}
sys.argv[0] = {script!r}

from {module} import {first}

gc.freeze()
gc.enable()

if __name__ == "__main__":
    sys.exit({function}())
'''


def write_starter(folder: Path, program: str, target: str) -> None:
    """Write `start.py`, which runs the console script without garbage collection during imports."""
    if not program:
        return
    if not _TARGET.fullmatch(target):
        raise InstallFailed(f"The program {program} has an invalid entry point: {target[:100]!r}.")
    module, function = target.split(":")
    binaries = folder / "venv" / "bin"
    text = _TEXT.format(
        program=program,
        folder=str(binaries),
        script=str(binaries / program),
        module=module,
        first=function.partition(".")[0],
        function=function,
    )
    (folder / STARTER).write_text(text)


def plain_python() -> str:
    """The interpreter without our own packages, on which a script or a bundle must not depend."""
    return os.path.realpath(sys.executable)
