"""Python environments through uv: resolve into a lock with hashes, then install just that."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from toolcrib.errors import InstallFailed, NotFound, UsageError
from toolcrib.servers.installing import wheels
from toolcrib.servers.installing.bench import Bench
from toolcrib.servers.installing.plan import Options
from toolcrib.servers.installing.progress import Step
from toolcrib.servers.installing.uv import find_uv, index_settings, reasons

LOCK_FILE = "requirements.lock"
_PIN = re.compile(
    r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*(?:==\s*([^\s;\\]+)|@\s*\S+)", re.MULTILINE
)
_BOUND = r"(?:[<>=!~]=?=?\s*[\w.*+!-]+)"
_REQUIREMENT = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[\w,.-]*\])?\s*(?:{_BOUND}(?:\s*,\s*{_BOUND})*)?")
_NO_WHEEL = re.compile(
    r"no (usable )?wheels|no-build|building source distributions is disabled|only-binary|no-binary", re.I
)


async def compile_lock(
    bench: Bench, scratch: Path, wanted: str, options: Options, *, dependencies: bool = True
) -> str:
    """The exact versions of everything that `wanted` needs, with their hashes."""
    also = [_requirement(one) for one in options.also] if dependencies else []
    (scratch / "wanted.in").write_text("\n".join([wanted, *also, ""]))
    form = ["--quiet", "--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url"]
    words = ["compile", *form, *build_rules(options), "--python", python_of(options)]
    more = [] if dependencies else ["--no-deps"]
    return await run_uv(bench, scratch, [*words, *more, "wanted.in"])


async def fetch_wheel(bench: Bench, scratch: Path, name: str, lock: str, options: Options) -> wheels.Content:
    """What the wheel of one package of the lock says of itself."""
    (scratch / "own.lock").write_text(only(lock, name))
    words = ["install", "--quiet", "--no-deps", "--require-hashes", *build_rules(options)]
    place = ["--python", python_of(options), "--target", "own", "--requirements", "own.lock"]
    await run_uv(bench, scratch, [*words, *place])
    return wheels.read_installed(scratch / "own", name)


async def make_environment(
    bench: Bench, folder: Path, lock: str, options: Options, *, wheel: Path | None = None
) -> None:
    """An environment in `folder/venv` with all of the lock, and the wheel when there is one."""
    (folder / LOCK_FILE).write_text(lock)
    uv = find_uv(bench)
    venv = [uv, "venv", "--quiet", "--no-project", "--python", python_of(options), str(folder / "venv")]
    done = await bench.runner.run(venv, cwd=folder)
    if done.code:
        raise InstallFailed(f"No environment could be made. {reasons(done.errors)}")
    total = len(pinned(lock)) + (wheel is not None)
    bench.progress(Step("fetch", f"{total} packages", 0, total))
    into = ["--python", str(folder / "venv" / "bin" / "python"), "--compile-bytecode"]
    if pinned(lock):
        words = ["install", "--no-deps", "--require-hashes", *build_rules(options), *into]
        await run_uv(bench, folder, [*words, "--requirements", LOCK_FILE])
    if wheel is not None:
        words = ["install", "--no-deps", "--no-index", "--no-build", *into]
        await run_uv(bench, folder, [*words, "--", str(wheel)])
    bench.progress(Step("fetch", f"{total} packages", total, total))


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


def python_of(options: Options) -> str:
    """Which Python the environment is made with."""
    return options.python or sys.executable


def pinned(lock: str) -> dict[str, str]:
    """The versions of a lock by normal name; empty for one that is given by its address."""
    return {wheels.normal(name): version for name, version in _PIN.findall(lock)}


def only(lock: str, name: str) -> str:
    """The part of a lock that is about one package."""
    return "".join(part for part in _parts(lock) if _name(part) == wheels.normal(name))


def without(lock: str, name: str) -> str:
    """The lock without one package."""
    return "".join(part for part in _parts(lock) if _name(part) != wheels.normal(name))


async def run_uv(bench: Bench, folder: Path, words: list[str]) -> str:
    """Run `uv pip …`; raises `NotFound` or `InstallFailed` with what it said."""
    offline = ["--offline"] if bench.offline else []
    line = [find_uv(bench), "pip", words[0], *offline, *words[1:]]
    settings = {**index_settings(bench.runner.environ), "UV_NO_PROGRESS": "1"}
    done = await bench.runner.run(line, cwd=folder, env=settings)
    if done.code == 0:
        return done.out
    raise _failure(reasons(done.errors), bench.offline)


def _failure(said: str, offline: bool) -> InstallFailed | NotFound:
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
    if "Python>=" in said or "Python version" in said:
        return InstallFailed(f"It wants another Python. {said}", hint="Name one with --python VERSION.")
    return InstallFailed(f"uv failed. {said}", hint="Check the network, and the settings of pip or uv.")


def _parts(lock: str) -> list[str]:
    return re.findall(r"^(?![ \t#\n]).*\n?(?:^[ \t].*\n?)*", lock, re.MULTILINE)


def _name(part: str) -> str:
    found = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", part)
    return wheels.normal(found[0]) if found else ""
