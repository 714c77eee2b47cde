"""What other packages may import: `docs/serverkit.md` is complete, and extensions in the tests keep to it."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/serverkit.md").read_text(encoding="utf-8")
BUNDLED = sorted((ROOT / "src/toolcrib/bundled").rglob("*.py"))
MODULE = re.compile(r'\n"""[^"]+"""\n')
VERSIONED = ("toolcrib.serverkit", "toolcrib.serverkit.network")


def extensions() -> Iterator[str]:
    """The modules that tests install as those of other packages: texts that open with a docstring."""
    for file in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and MODULE.match(str(node.value)):
                yield str(node.value)


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def modules(title: str) -> set[str]:
    return set(re.findall(r"`(toolcrib[\w.]*)`", section(title)))


def imported(source: str) -> Iterator[str]:
    """The modules of ours that a source imports, by their full names."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("toolcrib"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("toolcrib"):
            yield from {full_name(str(node.module), alias.name) for alias in node.names}


def full_name(package: str, name: str) -> str:
    """`from toolcrib import plugins` imports a module, `from toolcrib.plugins import find` a name of one."""
    module = f"{package}.{name}"
    return module if (ROOT / "src" / module.replace(".", "/")).with_suffix(".py").exists() else package


@pytest.mark.parametrize("module", VERSIONED)
def test_the_page_lists_exactly_the_public_names(module: str) -> None:
    listed = re.findall(r"^\| `(\w+)` \| \w", section(f"`{module}`"), re.MULTILINE)

    assert sorted(listed) == sorted(importlib.import_module(module).__all__)


def test_the_page_has_the_version_of_serverkit() -> None:
    assert f"It is now {importlib.import_module('toolcrib.serverkit').__version__}." in PAGE


def test_every_public_module_can_be_imported_and_says_what_it_is_for() -> None:
    named = modules("Modules for extensions") | modules("Internal modules")

    assert len(named) > 30
    assert [name for name in sorted(named) if not importlib.import_module(name).__doc__] == []


def test_extensions_of_other_packages_import_only_what_the_page_lists() -> None:
    allowed = {*VERSIONED, *modules("Modules for extensions")}
    used = [set(imported(source)) for source in extensions()]

    assert len(used) > 12
    assert set[str]().union(*used) - allowed == set()


def test_bundled_servers_import_only_what_the_page_lists() -> None:
    allowed = {"toolcrib.bundled", "toolcrib.serverkit", "toolcrib.errors", *modules("Internal modules")}
    inside = tuple(f"{name}." for name in allowed)
    used = {module for file in BUNDLED for module in imported(file.read_text(encoding="utf-8"))}

    assert {module for module in used - allowed - {"toolcrib"} if not module.startswith(inside)} == set()
