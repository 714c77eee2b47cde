"""Analyses plain scripts: which file of a folder is the server (names such as `server` or `main`), and which
packages it needs (known packages of imports, inline metadata, requirements files).
"""

from __future__ import annotations

import ast
import os
import re
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolcrib.errors import UsageError
from toolcrib.serverkit.bounded_read import read_bounded_text

PYTHON = (".py",)
NODE = (".js", ".mjs", ".cjs")
NAMES = ("server", "main", "index", "app", "__main__")
LARGEST_SCRIPT = 8 * 1024 * 1024
REQUIREMENTS = "requirements.txt"
_ASIDE = re.compile(r"(?:test_.*|.*_test|conftest|setup|noxfile|.*\.(?:test|spec|config))")
"""Names of scripts that are not servers."""
_INLINE = re.compile(r"(?m)^# /// script\s*$\n(?P<content>(?:^#(?: .*)?$\n)+)^# ///\s*$")
"""Inline metadata as PEP 723 defines it."""
_REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\s*(?:\[[\w,. -]*\])?\s*[^@:/\\]*(?:;[^@:\\]*)?")
DISTRIBUTIONS = {
    "mcp": "mcp",
    "fastmcp": "fastmcp",
    "aiohttp": "aiohttp",
    "bs4": "beautifulsoup4",
    "dotenv": "python-dotenv",
    "httpx": "httpx",
    "lxml": "lxml",
    "numpy": "numpy",
    "pandas": "pandas",
    "PIL": "pillow",
    "pydantic": "pydantic",
    "requests": "requests",
    "yaml": "pyyaml",
}
"""The packages of known imports. Others are not guessed: anyone may own such a name."""
_ANY_PYTHON = re.compile(rb"#!\s*(?:/usr/bin/env\s+|/usr/bin/|/bin/|/usr/local/bin/)python[\d.]*\s*$")
"""The first line of a script that any Python can run."""
_MCP_1 = re.compile(r"^\s*(?:from|import)\s+mcp\.server\.fastmcp\b", re.MULTILINE)
_NODE_IMPORT = re.compile(r"""(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["']([^"'\n]+)["']""")

_NODE_BUILTIN = re.compile(
    "assert|async_hooks|buffer|child_process|cluster|console|constants|crypto|dgram|diagnostics_channel|dns|"
    "domain|events|fs|http|http2|https|inspector|module|net|os|path|perf_hooks|process|punycode|querystring|"
    "readline|repl|stream|string_decoder|sys|timers|tls|tty|url|util|v8|vm|wasi|worker_threads|zlib"
)


@dataclass(frozen=True)
class ScriptNeeds:
    """The requirements of a script."""

    requirements: tuple[str, ...] = ()
    requires_python: str = ""
    declared: str = ""
    """The file that declares the requirements; empty if guessed from imports."""
    unknown: tuple[str, ...] = ()
    """Imports without a known package."""
    ours: bool = False
    """It imports Toolcrib, so it needs our own Python."""
    beside: bool = False
    """It imports a file beside it."""

    def uses_folder(self, script: Path) -> bool:
        """Whether the script needs its folder."""
        return self.beside or bool(self.declared and self.declared != str(script))


def is_script(path: Path) -> bool:
    return path.suffix in (*PYTHON, *NODE)


def is_runnable(path: Path) -> bool:
    """Whether a file can be started directly: a script needs a `#!` line and no packages."""
    if not path.is_file() or not os.access(path, os.X_OK):
        return False
    if not is_script(path):
        return True
    with path.open("rb") as file:
        first = file.readline(200)
    if not first.startswith(b"#!"):
        return False
    return not (_ANY_PYTHON.match(first) and _declares_packages(path))


def _declares_packages(script: Path) -> bool:
    return (script.parent / REQUIREMENTS).is_file() or _INLINE.search(_text(script)) is not None


def find_entry(folder: Path) -> Path | None:
    """The server script of a folder, or None; raises `UsageError` if ambiguous."""
    found = [path for path in sorted(folder.iterdir()) if path.is_file() and is_script(path)]
    found = [path for path in found if not _ASIDE.fullmatch(path.stem)]
    name = re.sub(r"[-. ]", "_", folder.absolute().name)
    for stem in (NAMES[0], NAMES[1], name, *NAMES[2:]):
        same = [path for path in found if path.stem == stem]
        if len(same) == 1:
            return same[0]
    if len(found) > 1:
        listed = ", ".join(path.name for path in found)
        raise UsageError(
            f"{folder} contains several scripts: {listed}.", hint="Choose one with --program NAME."
        )
    return found[0] if found else None


def read_needs(script: Path, folder: Path | None = None) -> ScriptNeeds:
    """The declared requirements, else those guessed from imports; raises `UsageError`."""
    if script.suffix in NODE:
        return _read_node(script)
    text = _text(script)
    imported = _imports(script, text)
    declared = _inline(script, text)
    for place in dict.fromkeys((script.parent, folder or script.parent)):
        declared = declared or _requirements_file(place) or _project(place)
    found = replace(declared or _guess(text, imported.packages), beside=imported.beside)
    return replace(found, ours="toolcrib" in imported.packages)


def _read_node(script: Path) -> ScriptNeeds:
    imported = _NODE_IMPORT.findall(_text(script))
    beside = any(module.startswith(".") for module in imported)
    outside = {_node_package(module) for module in imported if not module.startswith((".", "/", "node:"))}
    outside = {package for package in outside if not _NODE_BUILTIN.fullmatch(package)}
    missing = sorted(
        package for package in outside if not (script.parent / "node_modules" / package).is_dir()
    )
    if missing:
        raise UsageError(
            f"{script} imports {', '.join(missing)}, which no package.json lists.",
            hint=f"In {script.parent}, run: npm init -y && npm install PACKAGE, then add the folder.",
        )
    return ScriptNeeds(beside=beside or bool(outside))


def _node_package(module: str) -> str:
    parts = module.split("/")
    return "/".join(parts[:2]) if module.startswith("@") else parts[0]


@dataclass(frozen=True)
class _Imports:
    packages: frozenset[str]
    beside: bool


def _imports(script: Path, text: str) -> _Imports:
    """The top-level modules imported by a script and the files beside it, without the standard library."""
    packages: set[str] = set()
    seen, waiting = {script}, [(script, text)]
    while waiting:
        path, source = waiting.pop()
        for module in _modules(path, source):
            local = _beside(script.parent, module)
            if local is None:
                packages.add(module)
            elif local not in seen:
                seen.add(local)
                waiting.append((local, _text(local)))
    return _Imports(frozenset(packages - sys.stdlib_module_names), len(seen) > 1)


def _modules(path: Path, source: str) -> set[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not valid Python: {error}.", hint="Fix it first.") from None
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def _beside(folder: Path, module: str) -> Path | None:
    for path in (folder / f"{module}.py", folder / module / "__init__.py"):
        if path.is_file():
            return path
    return None


def _inline(script: Path, text: str) -> ScriptNeeds | None:
    blocks = list(_INLINE.finditer(text))
    if not blocks:
        return None
    if len(blocks) > 1:
        raise UsageError(f"{script} contains several script metadata blocks.", hint="Keep only one.")
    lines = blocks[0]["content"].splitlines()
    content = "\n".join(line[2:] if line.startswith("# ") else line[1:] for line in lines)
    return _declared(script, _toml(script, content))


def _requirements_file(folder: Path) -> ScriptNeeds | None:
    file = folder / REQUIREMENTS
    if not file.is_file():
        return None
    return ScriptNeeds(requirements=tuple(_requirement_lines(file, folder, ())), declared=str(file))


def _requirement_lines(file: Path, folder: Path, above: tuple[Path, ...]) -> list[str]:
    """The requirements of a file and those it includes with -r, without hashes."""
    if file in above or not file.resolve().is_relative_to(folder.resolve()) or not file.is_file():
        raise UsageError(
            f"{file} is not a valid requirements file.", hint="Include only files of the same folder."
        )
    found: list[str] = []
    for line in re.sub(r"\\\r?\n", " ", _text(file)).splitlines():
        plain = re.sub(r"(?:^|\s)#.*$", "", line).strip()
        plain = re.sub(r"\s--hash=\S+", "", plain)
        other = re.fullmatch(r"(?:-r|--requirement)[ =]\s*(\S+)", plain)
        if other:
            found += _requirement_lines(file.parent / other[1], folder, (*above, file))
        elif plain:
            found.append(_checked(file, plain))
    return found


def _project(folder: Path) -> ScriptNeeds | None:
    """The dependencies in a `pyproject.toml` that is not a package."""
    file = folder / "pyproject.toml"
    if not file.is_file():
        return None
    project = _toml(file, _text(file)).get("project")
    return _declared(file, project) if isinstance(project, dict) else None


def _declared(file: Path, metadata: dict[str, Any]) -> ScriptNeeds:
    listed = metadata.get("dependencies", [])
    if not isinstance(listed, list):
        raise UsageError(f"The dependencies in {file} are not a list.", hint="Fix the file.")
    requirements = tuple(_checked(file, str(requirement)) for requirement in listed)
    requires = str(metadata.get("requires-python", ""))
    return ScriptNeeds(requirements=requirements, requires_python=requires, declared=str(file))


def _checked(file: Path, requirement: str) -> str:
    """A package of the index; never an option, URL or path."""
    if _REQUIREMENT.fullmatch(requirement.strip()):
        return requirement.strip()
    raise UsageError(
        f"{file} requires {requirement[:100]!r}, which is not a package of the index.",
        hint="List packages by name. Example: httpx>=0.28.",
    )


def _guess(text: str, packages: frozenset[str]) -> ScriptNeeds:
    outside = sorted(packages - {"toolcrib"})
    known = [DISTRIBUTIONS[module] for module in outside if module in DISTRIBUTIONS]
    # `mcp.server.fastmcp` exists only in mcp 1.
    bounded = ["mcp<2" if name == "mcp" and _MCP_1.search(text) else name for name in known]
    return ScriptNeeds(
        requirements=tuple(bounded), unknown=tuple(name for name in outside if name not in DISTRIBUTIONS)
    )


def _toml(file: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise UsageError(f"{file} is not valid TOML: {error}.", hint="Fix it first.") from None


def _text(file: Path) -> str:
    try:
        return read_bounded_text(file, LARGEST_SCRIPT, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}.", hint="Check the file.") from None
