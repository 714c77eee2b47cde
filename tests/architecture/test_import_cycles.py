"""No module imports another in a cycle, not even for its types alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import toolcrib

SOURCE = Path(toolcrib.__file__).parent


def module_name(path: Path) -> str:
    parts = ("toolcrib", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def top_imports(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports of a module itself, also under conditions such as TYPE_CHECKING; not those inside functions."""
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif isinstance(statement, ast.If | ast.Try):
            yield from top_imports([*statement.body, *statement.orelse])


def imported(path: Path, modules: set[str]) -> set[str]:
    """The modules of ours that this file imports."""
    found = set()
    for statement in top_imports(ast.parse(path.read_text()).body):
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
        elif statement.module is not None:
            inner = {f"{statement.module}.{alias.name}" for alias in statement.names}
            found |= (inner & modules) or {statement.module}
    return (found & modules) - {module_name(path)}


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that reach each other (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(graph[node]):
            if target not in index:
                visit(target)
            if target in stack:
                low[node] = min(low[node], low[target])
        if low[node] == index[node]:
            place = stack.index(node)
            group = sorted(stack[place:])
            del stack[place:]
            if len(group) > 1:
                found.append(group)

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def packages_with_cycles() -> set[str]:
    """The root package is left out: it names everything public, and resolves it on first use."""
    paths = list(SOURCE.rglob("*.py"))
    modules = {module_name(path) for path in paths} - {"toolcrib"}
    found = cycles({module_name(path): imported(path, modules) for path in paths})
    return {module.split(".")[1] for group in found for module in group}


def test_no_modules_import_each_other_in_a_cycle() -> None:
    assert packages_with_cycles() == set()
