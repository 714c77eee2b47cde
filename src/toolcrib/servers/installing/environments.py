"""Python environments through uv: resolve into a lock with hashes, then install just that."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolcrib.errors import InstallFailed, NotFound, UsageError
from toolcrib.servers.installing import wheels
from toolcrib.servers.installing.context import InstallContext
from toolcrib.servers.installing.interpreters import (
    Range,
    choose_version,
    find_python,
    fits_ours,
    interpreter,
    missing_python,
    ranges_in,
)
from toolcrib.servers.installing.plan import Options
from toolcrib.servers.installing.progress import Step
from toolcrib.servers.installing.uv import find_uv, index_settings, reasons

LOCK_FILE = "requirements.lock"
_PIN = re.compile(
    r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*(?:==\s*([^\s;\\]+)|@\s*\S+)", re.MULTILINE
)
_BOUND = r"(?:[<>=!~]=?=?\s*[\w.*+!-]+)"
_REQUIREMENT = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[\w,.-]*\])?\s*(?:{_BOUND}(?:\s*,\s*{_BOUND})*)?")
_YANKED = re.compile(r"\b(?:is|are|was|were) yanked\b", re.IGNORECASE)
MOST_PYTHONS = 3
"""How many other versions of Python are tried for one package."""
_NO_WHEEL = re.compile(
    r"no (usable )?wheels|no-build|building source distributions is disabled|only-binary|no-binary", re.I
)


@dataclass(frozen=True)
class Resolved:
    """A lock, and the Python that it is for."""

    lock: str
    options: Options
    runtimes: tuple[str, ...] = ()
    """The Python that has to be fetched first."""


class WrongPython(InstallFailed):
    """The packages do not run on the Python that they were resolved for."""

    def __init__(self, said: str, wanted: tuple[Range, ...]) -> None:
        needed = " or ".join(one.text for one in wanted)
        super().__init__(
            f"It needs another Python ({needed}). {said}", hint="Name one with --python VERSION."
        )
        self.wanted = wanted


async def resolve(
    bench: InstallContext,
    scratch: Path,
    wanted: str,
    options: Options,
    requires: str = "",
    *,
    dependencies: bool = True,
) -> Resolved:
    """A lock for what is wanted, with another Python than ours where the packages need one.

    `requires` is the project's own `requires-python`, which is not part of what is resolved.
    """
    fixed = options.python is not None
    if requires and not fixed and not fits_ours(Range(requires)):
        options = await _with_python(bench, options, (Range(requires),))
    tried: list[str] = []
    while True:
        try:
            lock = await compile_lock(bench, scratch, wanted, options, dependencies=dependencies)
            return Resolved(lock, options, await _to_fetch(bench, options))
        except WrongPython as error:
            if fixed or len(tried) == MOST_PYTHONS:
                raise
            options = await _with_python(bench, options, error.wanted, tried)
            tried.append(str(options.needed_python))


async def _with_python(
    bench: InstallContext, options: Options, wanted: tuple[Range, ...], tried: Sequence[str] = ()
) -> Options:
    version = await choose_version(bench, wanted, tried)
    bench.progress(Step("resolve", f"again for Python {version}"))
    return options.model_copy(update={"needed_python": version})


async def _to_fetch(bench: InstallContext, options: Options) -> tuple[str, ...]:
    version = options.needed_python
    if version is None or options.python is not None or await find_python(bench, Range(f"=={version}.*")):
        return ()
    return (f"Python {version} (about 30 MB)",)


async def compile_lock(
    bench: InstallContext, scratch: Path, wanted: str, options: Options, *, dependencies: bool = True
) -> str:
    """The exact versions of everything that `wanted` needs, with their hashes."""
    if not wanted.strip() and not options.also:
        return ""
    also = [_requirement(one) for one in options.also] if dependencies else []
    (scratch / "wanted.in").write_text("\n".join([wanted, *also, ""]))
    form = ["--quiet", "--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url"]
    words = ["compile", *form, *build_rules(options), *_for_python(options)]
    more = [] if dependencies else ["--no-deps"]
    return await run_uv(bench, scratch, [*words, *more, "wanted.in"])


async def fetch_wheel(
    bench: InstallContext, scratch: Path, name: str, lock: str, options: Options
) -> wheels.Content:
    """What the wheel of one package of the lock says of itself."""
    (scratch / "own.lock").write_text(only(lock, name))
    words = ["install", "--quiet", "--no-deps", "--require-hashes", *build_rules(options)]
    place = [*_for_python(options), "--target", "own", "--requirements", "own.lock"]
    await run_uv(bench, scratch, [*words, *place])
    return wheels.read_installed(scratch / "own", name)


async def make_environment(
    bench: InstallContext, folder: Path, lock: str, options: Options, *, wheel: Path | None = None
) -> None:
    """An environment in `folder/venv` with all of the lock, and the wheel when there is one."""
    (folder / LOCK_FILE).write_text(lock)
    await _make_venv(bench, folder, options)
    total = len(pinned(lock)) + (wheel is not None)
    what = f"{total} package{'' if total == 1 else 's'}"
    bench.progress(Step("fetch", what, 0, total))
    into = ["--python", str(folder / "venv" / "bin" / "python"), "--compile-bytecode"]
    if pinned(lock):
        words = ["install", "--no-deps", "--require-hashes", *build_rules(options), *into]
        await run_uv(bench, folder, [*words, "--requirements", LOCK_FILE])
    if wheel is not None:
        words = ["install", "--no-deps", "--no-index", "--no-build", *into]
        await run_uv(bench, folder, [*words, "--", str(wheel)])
    bench.progress(Step("fetch", what, total, total))


async def _make_venv(bench: InstallContext, folder: Path, options: Options) -> None:
    needed = options.needed_python if options.python is None else None
    python = await interpreter(bench, needed) if needed else python_of(options)
    if needed and python == needed:
        bench.progress(Step("runtime", f"Python {needed}"))
    offline = ["--offline", "--no-python-downloads"] if bench.offline else []
    venv = [find_uv(bench), "venv", "--quiet", "--no-project", *offline, "--python", python]
    done = await bench.runner.run([*venv, str(folder / "venv")], cwd=folder)
    if done.code and needed and python == needed:
        raise missing_python(needed, Range(f"=={needed}.*"), reasons(done.errors))
    if done.code:
        raise InstallFailed(f"No environment could be made. {reasons(done.errors)}")


def _requirement(text: str) -> str:
    """A name and the versions that will do; never an option, an address or a path."""
    if not _REQUIREMENT.fullmatch(text.strip()):
        raise UsageError(f"{text[:80]!r} is no requirement.", hint="Such as --with 'mcp<2'.")
    return text.strip()


def build_rules(options: Options) -> list[str]:
    """Wheels only, but for what may be built by name."""
    if not options.allow_build:
        return ["--no-build"]
    allowed = [word for name in options.allow_build for word in ("--no-binary", wheels.normal(name))]
    return ["--only-binary", ":all:", *allowed]


def _for_python(options: Options) -> list[str]:
    """Resolving needs no interpreter of that version; building from source does."""
    if options.python is None and options.needed_python and not options.allow_build:
        return ["--python", sys.executable, "--python-version", options.needed_python]
    return ["--python", python_of(options)]


def python_of(options: Options) -> str:
    """Which Python the environment is made with."""
    return options.python or options.needed_python or sys.executable


def pinned(lock: str) -> dict[str, str]:
    """The versions of a lock by normal name; empty for one that is given by its address."""
    return {wheels.normal(name): version for name, version in _PIN.findall(lock)}


def only(lock: str, name: str) -> str:
    """The part of a lock that is about one package."""
    return "".join(part for part in _parts(lock) if _name(part) == wheels.normal(name))


def without(lock: str, name: str) -> str:
    """The lock without one package."""
    return "".join(part for part in _parts(lock) if _name(part) != wheels.normal(name))


async def run_uv(bench: InstallContext, folder: Path, words: list[str]) -> str:
    """Run `uv pip …`; raises `NotFound` or `InstallFailed` with what it said."""
    offline = ["--offline"] if bench.offline else []
    settings = {**index_settings(bench.runner.environ), "UV_NO_PROGRESS": "1"}
    # uv has an option for it, and no variable.
    alone = ["--no-index"] if "UV_NO_INDEX" in settings and "--no-index" not in words else []
    line = [find_uv(bench), "pip", words[0], *offline, *alone, *words[1:]]
    done = await bench.runner.run(line, cwd=folder, env=settings)
    if done.code == 0:
        return done.out
    raise _failure(done.errors, bench.offline)


def _failure(errors: Sequence[str], offline: bool) -> InstallFailed | NotFound:
    said, wanted = reasons(errors), ranges_in(errors)
    if wanted:
        return WrongPython(said, wanted)
    if _YANKED.search(said):
        return NotFound(
            f"Every version of it that would do was yanked: its authors withdrew it. {said}",
            hint="Choose another package. A yanked version is installed when it is named: NAME==VERSION.",
        )
    if offline:
        return InstallFailed(
            f"Not everything that is needed is on this machine. {said}", hint="Try again without --offline."
        )
    if _NO_WHEEL.search(said):
        return InstallFailed(
            f"A package would have to be built from source, which runs its code. {said}",
            hint="Allow it by name with --allow-build NAME, if you trust it.",
        )
    if "not found in the package registry" in said or "no version of" in said:
        return NotFound(
            f"The index has no such package or version. {said}", hint="Check its name and version."
        )
    if "Python version" in said:
        return InstallFailed(f"It needs another Python. {said}", hint="Name one with --python VERSION.")
    return InstallFailed(f"uv failed. {said}", hint="Check the network, and the settings of pip or uv.")


def _parts(lock: str) -> list[str]:
    return re.findall(r"^(?![ \t#\n]).*\n?(?:^[ \t].*\n?)*", lock, re.MULTILINE)


def _name(part: str) -> str:
    found = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", part)
    return wheels.normal(found[0]) if found else ""
