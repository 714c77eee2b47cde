"""Reads a command's section and summary from its source, so that `--help` imports no command.

A command is declared as `@declare("Section")` above `command`, whose docstring is its help, or as
`command = command_of(name, section, summary, …)`. Any other command has to be imported.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from inspect import cleandoc
from pathlib import Path

_ROOT = Path(__file__).parents[2]
"""Modules are found by their path: `find_spec` would import the packages that they are in."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The section and the help of a command, for the list of commands."""

    section: str
    help: str

    @property
    def summary(self) -> str:
        """The first sentence of the help."""
        paragraph = " ".join(self.help.partition("\n\n")[0].split())
        sentence, stop, _ = paragraph.partition(". ")
        return f"{sentence}." if stop else paragraph


def read_outline(module: str) -> Outline | None:
    """The outline of the command in this module; None if its source does not contain it."""
    place = _ROOT.joinpath(*module.split("."))
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    if not file.is_file():
        return None
    for statement in ast.parse(file.read_bytes()).body:
        found = _declared(statement) or _assigned(statement)
        if found is not None:
            return found
    return None


def _declared(statement: ast.stmt) -> Outline | None:
    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) or statement.name != "command":
        return None
    for decorator in statement.decorator_list:
        texts = _texts_passed_to("declare", decorator)
        if texts is not None:
            return Outline((*texts, "")[0], cleandoc(ast.get_docstring(statement) or ""))
    return None


def _assigned(statement: ast.stmt) -> Outline | None:
    if not isinstance(statement, ast.Assign) or ast.unparse(statement.targets[0]) != "command":
        return None
    texts = _texts_passed_to("command_of", statement.value)
    return Outline(texts[1], texts[2]) if texts is not None and len(texts) >= 3 else None


def _texts_passed_to(name: str, call: ast.expr) -> list[str] | None:
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != name:
        return None
    constants = [part.value for part in call.args if isinstance(part, ast.Constant)]
    return [value for value in constants if isinstance(value, str)]
