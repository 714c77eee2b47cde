"""Writes the files that are generated from the operations: `index.py` and `client.pyi` (`make generated`)."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typing_extensions import is_typeddict

from toolcrib.feature import FEATURES, Feature, features
from toolcrib.operations.command import Column, Command, CommandParameter
from toolcrib.operations.operation import Operation, holds_dataclass
from toolcrib.schema.json_values import omitted_fields

FOLDER = Path(__file__).parent
_NOTICE = "Generated from the operations by `make generated`; do not edit."


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
    commands = [operation for _, operation in found.values() if operation.command is not None]
    handmade = sorted(
        (name, f"{feature.package}.{module}")
        for feature in _our_features()
        for name, module in feature.commands.items()
    )
    modules = "".join(f'    "{name}": "{module}",\n' for name, module in handmade)
    return (
        f'"""Modules and commands of the operations. {_NOTICE}"""\n\n'
        "from __future__ import annotations\n\n"
        "from toolcrib.operations.command import Column, Command, CommandParameter\n\n"
        f"SUBJECTS = {{\n{rows}}}\n"
        f"COMMANDS = {{\n{_commands(commands, subcommands=False)}}}\n"
        f"SUBCOMMANDS = {{\n{_commands(commands, subcommands=True)}}}\n"
        f"FEATURE_COMMANDS = {{\n{modules}}}\n"
    )


def _commands(operations: list[Operation[..., Any]], *, subcommands: bool) -> str:
    return "".join(
        f'    "{operation.name}": {_literal(_complete(operation, operation.command))},\n'
        for operation in operations
        if operation.command is not None and bool(operation.command.name) is subcommands
    )


def _complete(operation: Operation[..., Any], command: Command) -> Command:
    """The command with all parameters of its operation."""
    described = {parameter.name: parameter for parameter in command.parameters}
    given = operation.params.model_fields.items()
    parameters = (_parameter(field, described.get(name, CommandParameter(name))) for name, field in given)
    return replace(command, parameters=tuple(parameters))


def _parameter(field: FieldInfo, parameter: CommandParameter) -> CommandParameter:
    """The parameter with the type, default, limits and choices of its field."""
    kinds = [kind for kind in (get_args(field.annotation) or (field.annotation,)) if kind is not NoneType]
    least = [limit.ge for limit in field.metadata if hasattr(limit, "ge")]
    most = [limit.le for limit in field.metadata if hasattr(limit, "le")]
    parameter = replace(
        parameter,
        required=field.is_required(),
        default=None if field.is_required() or isinstance(field.default, bool) else field.default,
        limits=(least[0], most[0]) if least and most else None,
    )
    if get_origin(field.annotation) is Literal:
        return replace(parameter, choices=tuple(kinds))
    if get_origin(kinds[0]) is Literal:
        return replace(parameter, choices=get_args(kinds[0]))
    return replace(parameter, type=kinds[0].__name__)


def _given(value: Command | Column | CommandParameter) -> dict[str, Any]:
    given = {field.name: (getattr(value, field.name), field.default) for field in fields(value)}
    return {name: value for name, (value, default) in given.items() if value != default}


def _literal(value: object) -> str:
    """The expression for this value; fields with default values are omitted."""
    if isinstance(value, Command | Column | CommandParameter):
        given = ", ".join(f"{name}={_literal(argument)}" for name, argument in _given(value).items())
        return f"{type(value).__name__}({given})"
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def client_stub() -> str:
    """`client.pyi`: the types of the client's methods, and the objects that dataclasses arrive as."""
    imports: dict[str, set[str]] = {}
    objects = _Objects(imports)
    methods = [_method(operation, imports, objects) for _, operation in declared().values()]
    lines = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(imports.items())]
    head = [
        f"# {_NOTICE}",
        "from collections.abc import Callable, Mapping, Sequence",
        "from pathlib import Path",
        "from typing import Any, Literal, final",
        "",
        *lines,
        "from toolcrib.operations.local import Runner",
        "",
        *objects.declared.values(),
        "",
        "class Client:",
        "    def __init__(self, runner: Runner) -> None: ...",
        "    @property",
        "    def running(self) -> bool: ...",
        "    @property",
        "    def socket(self) -> Path: ...",
    ]
    return "\n".join([*head, *methods]) + "\n"


class _Objects:
    """Types of results for the stub: what is or contains a dataclass is declared as a TypedDict."""

    def __init__(self, imports: dict[str, set[str]]) -> None:
        self.declared: dict[str, str] = {}
        self._known: dict[str, Any] = {}
        self._imports = imports

    def type(self, hint: Any) -> str:
        if not holds_dataclass(hint):
            return _type(hint, self._imports)
        origin, arguments = get_origin(hint), get_args(hint)
        if origin in (Union, UnionType):
            return " | ".join(dict.fromkeys(map(self.type, arguments)))
        if origin in (list, tuple, Sequence):
            return f"list[{self.type(arguments[0])}]"
        if origin is NotRequired:
            self._imports.setdefault("typing_extensions", set()).add("NotRequired")
            return f"NotRequired[{self.type(arguments[0])}]"
        if origin is not None:
            return f"dict[str, {self.type(arguments[-1])}]"
        return self._object(hint)

    def _object(self, hint: Any) -> str:
        name: str = hint.__name__
        if self._known.setdefault(name, hint) is not hint:
            raise TypeError(f"Two results are named {name}.")
        if name not in self.declared:
            self.declared[name] = ""
            self._imports.setdefault("typing_extensions", set()).add("TypedDict")
            hints = get_type_hints(hint, include_extras=True)
            omitted = () if is_typeddict(hint) else omitted_fields(hint)
            hints |= {key: NotRequired[hints[key]] for key in omitted}
            keys = {key: self.type(inner) for key, inner in hints.items()}
            self.declared[name] = _final_class(name, keys) if _is_final(hint) else _typed_dict(name, keys)
        return name


def _is_final(hint: Any) -> bool:
    return getattr(hint, "__final__", False)


def _typed_dict(name: str, keys: dict[str, str]) -> str:
    items = ", ".join(f'"{key}": {kind}' for key, kind in keys.items())
    return f'{name} = TypedDict("{name}", {{{items}}})'


def _final_class(name: str, keys: dict[str, str]) -> str:
    return f"@final\nclass {name}(TypedDict): {'; '.join(f'{key}: {kind}' for key, kind in keys.items())}"


def _method(operation: Operation[..., Any], imports: dict[str, set[str]], objects: _Objects) -> str:
    parameters = [
        f"{name}: {_type(field.annotation, imports)}{'' if field.is_required() else ' = ...'}"
        for name, field in operation.params.model_fields.items()
    ]
    if operation.event is not None:
        parameters.append(f"on_event: Callable[[{objects.type(operation.event)}], None] | None = ...")
    result = objects.type(operation.hints["return"])
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
    if origin is NotRequired:
        imports.setdefault("typing_extensions", set()).add("NotRequired")
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
    if issubclass(hint, BaseModel) or is_dataclass(hint):
        return "Mapping[str, Any]"
    if issubclass(hint, Enum):
        return f"Literal[{', '.join(_quoted(member.value) for member in hint)}]"
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
