"""Writes the files that are generated from the operations: `index.py` and `client.pyi` (`make generated`)."""

from __future__ import annotations

import importlib
import json
import pkgutil
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from toolcrib.feature import FEATURES, Feature, features
from toolcrib.operations.command import Command, Parameter
from toolcrib.operations.operation import Operation

FOLDER = Path(__file__).parent
_NOTICE = "Generated from the operations by `make generated`; do not edit."
_WIDTH = 110


def declared() -> dict[str, tuple[str, Operation[..., Any]]]:
    """The operations of this folder and of our features by name, with the modules that declare them."""
    from toolcrib.operations.registry import operations_of

    found: dict[str, tuple[str, Operation[..., Any]]] = {}
    for name in _modules():
        module = importlib.import_module(name)
        found |= {operation: (name, getattr(module, operation)) for operation in operations_of(module)}
    return dict(sorted(found.items()))


def _modules() -> Iterator[str]:
    for info in pkgutil.iter_modules([str(FOLDER)]):
        if not info.ispkg and info.name not in ("generate", "registry", "index"):
            yield f"toolcrib.operations.{info.name}"
    for feature in _our_features():
        yield from (f"{feature.package}.{name}" for name in feature.operations)


def _our_features() -> list[Feature]:
    return [feature for feature in features() if feature.package == f"{FEATURES}.{feature.name}"]


def index() -> str:
    """`index.py`: the module of each operation, and the commands that are made from operations."""
    found = declared()
    rows = "".join(f'    "{name}": "{module}",\n' for name, (module, _) in found.items())
    commands = "".join(
        f'    "{name}": {_command(operation, operation.command)},\n'
        for name, (_, operation) in found.items()
        if operation.command is not None
    )
    handmade = sorted(
        (name, f"{feature.package}.{module}")
        for feature in _our_features()
        for name, module in feature.commands.items()
    )
    modules = "".join(f'    "{name}": "{module}",\n' for name, module in handmade)
    return (
        f'"""Modules and commands of the operations. {_NOTICE}"""\n\n'
        "from __future__ import annotations\n\n"
        "from toolcrib.operations.command import Command, Parameter\n\n"
        f"SUBJECTS = {{\n{rows}}}\n"
        f"COMMANDS = {{\n{commands}}}\n"
        f"FEATURE_COMMANDS = {{\n{modules}}}\n"
    )


def _command(operation: Operation[..., Any], command: Command) -> str:
    described = {parameter.name: parameter for parameter in command.parameters}
    parameters = [
        _construct(_parameter(field, described.get(name, Parameter(name))), depth=3)
        for name, field in operation.params.model_fields.items()
    ]
    lines = "".join(f"            {parameter},\n" for parameter in parameters)
    last = [f"        parameters=(\n{lines}        ),\n"] if parameters else []
    return _construct(replace(command, parameters=()), depth=1, last=last)


def _parameter(field: FieldInfo, parameter: Parameter) -> Parameter:
    """The parameter with the type, default and choices of its field."""
    kinds = [kind for kind in (get_args(field.annotation) or (field.annotation,)) if kind is not NoneType]
    if get_origin(field.annotation) is Literal:
        return replace(parameter, required=field.is_required(), choices=tuple(kinds))
    return replace(parameter, type=kinds[0].__name__, required=field.is_required())


def _construct(value: Command | Parameter, depth: int, last: Sequence[str] = ()) -> str:
    """The formatted expression for this value; fields with default values are omitted."""
    indent = "    " * (depth + 1)
    given = [
        f"{indent}{_argument(field.name, getattr(value, field.name), indent)},\n"
        for field in fields(value)
        if getattr(value, field.name) != field.default
    ]
    return f"{type(value).__name__}(\n{''.join([*given, *last])}{'    ' * depth})"


def _argument(name: str, value: object, indent: str) -> str:
    """`name=value` as ruff formats it; a long text is split."""
    whole = f"{name}={_literal(value)}"
    if not isinstance(value, str) or len(indent) + len(whole) < _WIDTH:
        return whole
    parts = textwrap.wrap(value, _WIDTH - 30, replace_whitespace=False, drop_whitespace=False)
    lines = "".join(f"{indent}    {_literal(part)}\n" for part in parts)
    return f"{name}=(\n{lines}{indent})"


def _literal(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))})"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def client_stub() -> str:
    """`client.pyi`: the types of the client's methods."""
    imports: dict[str, set[str]] = {}
    methods = [_method(operation, imports) for _, operation in declared().values()]
    lines = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(imports.items())]
    head = [
        f"# {_NOTICE}",
        "from collections.abc import Callable, Mapping, Sequence",
        "from pathlib import Path",
        "from typing import Any, Literal",
        "",
        *lines,
        "from toolcrib.operations.runner import Runner",
        "",
        "class Client:",
        "    def __init__(self, runner: Runner) -> None: ...",
        "    @property",
        "    def running(self) -> bool: ...",
        "    @property",
        "    def socket(self) -> Path: ...",
    ]
    return "\n".join([*head, *methods]) + "\n"


def _method(operation: Operation[..., Any], imports: dict[str, set[str]]) -> str:
    parameters = [
        f"{name}: {_type(field.annotation, imports)}{'' if field.is_required() else ' = ...'}"
        for name, field in operation.params.model_fields.items()
    ]
    if operation.event is not None:
        parameters.append(f"on_event: Callable[[{_type(operation.event, imports)}], None] | None = ...")
    result = _type(operation.hints["return"], imports)
    given = f"*, {', '.join(parameters)}" if parameters else ""
    return f"    async def {operation.name}(self{', ' if given else ''}{given}) -> {result}: ..."


def _type(hint: Any, imports: dict[str, set[str]]) -> str:
    """The type as written in the stub; parameters are JSON values, so models are mappings."""
    if hint is None or hint is NoneType:
        return "None"
    if hint is Any or isinstance(hint, FieldInfo):
        return "Any"
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _type(arguments[0], imports)
    if origin is Literal:
        return f"Literal[{', '.join(map(_quoted, arguments))}]"
    if origin in (Union, UnionType):
        return " | ".join(dict.fromkeys(_type(argument, imports) for argument in arguments))
    if origin is tuple and arguments[-1:] == (...,):
        return f"Sequence[{_type(arguments[0], imports)}]"
    if origin is not None:
        return f"{origin.__name__}[{', '.join(_type(argument, imports) for argument in arguments)}]"
    return _named(hint, imports)


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _named(hint: Any, imports: dict[str, set[str]]) -> str:
    if hint is datetime:
        return "str"
    if not isinstance(hint, type):
        raise TypeError(f"The stub cannot name {hint!r}.")
    if issubclass(hint, BaseModel):
        return "Mapping[str, Any]"
    if hint.__module__ != "builtins":
        imports.setdefault(hint.__module__, set()).add(hint.__name__)
    return hint.__name__


def files() -> Iterator[tuple[Path, str]]:
    """The generated files: path and text."""
    yield FOLDER / "index.py", index()
    yield FOLDER / "client.pyi", client_stub()


def main() -> None:
    for path, text in files():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
