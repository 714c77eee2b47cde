"""`pytest --changed`: only the tests that a change can affect, by the imports of the program and its tests.

A changed module runs the tests that import it, directly or not, and the tests of its folder; a changed test
file runs itself; another file in a package runs the tests of that package; a page of the documentation runs
those of the documentation. Any other file runs everything.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

PACKAGE = "src/toolcrib"
ALWAYS = ("tests/architecture", "tests/contracts")
"""Folders whose tests look at all files of the program."""
DOCUMENTATION = ("docs", "examples", "README.md", "CHANGELOG.md", "CONTRIBUTING.md")
BASES = ("origin/main", "main", "origin/master", "master")
_NAMED = re.compile(r"\b(?:toolcrib|tests)(?:\.\w+)+")
_FIXTURE = re.compile(r"@pytest(?:_asyncio)?\.fixture.*\n(?:async )?def (\w+)")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("changed")
    group.addoption("--changed", action="store_true", help="only tests that a change can affect")
    group.addoption("--since", metavar="COMMIT", help="changed since when (default: the main branch)")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.option.changed:
        root = config.rootpath
        config.option.affected = affected(root, changed_files(root, config.option.since))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    chosen: list[str] | None = getattr(config.option, "affected", None)
    if chosen is None or collection_path.is_dir():
        return None
    return True if collection_path.relative_to(config.rootpath).as_posix() not in chosen else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """That nothing is affected is no failure."""
    if session.config.option.changed and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


def pytest_report_header(config: pytest.Config) -> str | None:
    if not config.option.changed:
        return None
    chosen: list[str] | None = config.option.affected
    return "changed: everything may be affected" if chosen is None else f"changed: {len(chosen)} test files"


def changed_files(root: Path, since: str | None = None) -> set[str]:
    """The files that differ from this commit, else from where the branch left the main one, and new files."""
    differ = _git(root, "diff", "--name-only", since or _base(root))
    return {*differ, *_git(root, "ls-files", "--others", "--exclude-standard")}


def affected(root: Path, changed: Iterable[str]) -> list[str] | None:
    """The test files that these files can affect; None if that may be all of them."""
    modules = {_module(file): file for file in _sources(root)}
    tests = [file for file in modules.values() if PurePosixPath(file).name.startswith("test_")]
    begin, folders = set(), set()
    for file in changed:
        path = PurePosixPath(file)
        if not file.startswith((PACKAGE, "tests/", *DOCUMENTATION)):
            return None
        if path.suffix == ".py" and file.startswith((PACKAGE, "tests/")):
            begin.add(_module(file))
        elif file.startswith(PACKAGE):
            begin.update(_module(f"{path.parent}/{name.name}") for name in (root / path.parent).glob("*.py"))
        if file.startswith(PACKAGE):
            folders.update((_folder_of_tests(root, path), *ALWAYS))
        elif file.startswith(DOCUMENTATION):
            folders.update(ALWAYS)
        elif path.name == "conftest.py" or path.suffix != ".py":
            folders.add(str(path.parent))
    reached = _reached(root, modules, begin)
    return [file for file in tests if _module(file) in reached or _is_in(file, folders)]


def _base(root: Path) -> str:
    known = _git(root, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes")
    branch = next((name for name in BASES if name in known), "HEAD")
    [base], [head] = _git(root, "merge-base", "HEAD", branch), _git(root, "rev-parse", "HEAD")
    return base if base != head else "HEAD~1"


def _git(root: Path, *words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise pytest.UsageError(f"--changed: git {words[0]} failed: {done.stderr.strip()}")
    return done.stdout.splitlines()


def _sources(root: Path) -> Iterator[str]:
    for folder in (PACKAGE, "tests"):
        for path in sorted((root / folder).rglob("*.py")):
            yield path.relative_to(root).as_posix()


def _module(file: str) -> str:
    parts = PurePosixPath(file.removeprefix("src/")).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _folder_of_tests(root: Path, path: PurePosixPath) -> str:
    """The folder of the tests of this file: the deepest one of the same name."""
    found = PurePosixPath("tests") / path.relative_to(PACKAGE).parent
    while not (root / found).is_dir():
        found = found.parent
    return "tests/flows" if found == PurePosixPath("tests") else str(found)


def _is_in(file: str, folders: set[str]) -> bool:
    return any(file.startswith(f"{folder}/") for folder in folders)


def _reached(root: Path, modules: dict[str, str], begin: set[str]) -> set[str]:
    """These modules and all that use them."""
    users: dict[str, set[str]] = {}
    known = set(modules) | begin
    for name, file in modules.items():
        for used in _used(root / file, known):
            users.setdefault(used, set()).add(name)
    reached, new = set(begin), list(begin)
    while new:
        further = users.get(new.pop(), set()) - reached
        reached |= further
        new.extend(further)
    return reached


def _used(file: Path, known: set[str]) -> set[str]:
    """The modules that a file imports, and those that it names to have them loaded or started."""
    text = file.read_text(encoding="utf-8")
    names = {*_NAMED.findall(text), *_conftests(file, text)} if "tests" in file.parts else set()
    body = ast.parse(text).body
    # The public names of a package are imported for the type checker, and loaded on first use.
    for statement in _statements(body, for_types=file.name == "__init__.py"):
        if isinstance(statement, ast.Import):
            names.update(alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            names.update(f"{statement.module}.{alias.name}" for alias in statement.names)
    return {found for name in names if (found := _longest(name, known))}


def _conftests(file: Path, text: str) -> Iterator[str]:
    """Those that have a fixture whose name the file has."""
    words = set(re.findall(r"\w+", text))
    for folder in file.parents:
        if words & _fixtures(folder / "conftest.py"):
            inside = folder.parts[folder.parts.index("tests") :]
            yield ".".join((*inside, "conftest"))
        if folder.name == "tests":
            return


@cache
def _fixtures(conftest: Path) -> set[str]:
    return set(_FIXTURE.findall(conftest.read_text(encoding="utf-8"))) if conftest.exists() else set()


def _longest(name: str, known: set[str]) -> str:
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def _statements(body: list[ast.stmt], *, for_types: bool) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING" and not for_types:
            continue
        for name in ("body", "orelse", "finalbody", "handlers"):
            yield from _statements(getattr(statement, name, []), for_types=for_types)
