"""A function's parameters as a JSON Schema, and the check of arguments against them: which types are
supported, and the error message about wrong arguments.

Parameters of JSON's own types are described here by hand: loading pydantic would cost a small server more
than everything else it does at its start. Any other type goes through pydantic. Both ways check with
pydantic-core, so that a wrong argument reads the same.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from pydantic_core import SchemaValidator, ValidationError

from toolcrib.errors import UsageError
from toolcrib.serverkit.context import ToolContext


@dataclass(frozen=True)
class Plain:
    """One type in both languages."""

    schema: dict[str, Any]
    core: dict[str, Any]


_SIMPLE: dict[Any, Plain] = {
    str: Plain({"type": "string"}, {"type": "str"}),
    int: Plain({"type": "integer"}, {"type": "int"}),
    # JSON knows neither infinity nor "not a number".
    float: Plain({"type": "number"}, {"type": "float", "allow_inf_nan": False}),
    bool: Plain({"type": "boolean"}, {"type": "bool"}),
    None: Plain({"type": "null"}, {"type": "none"}),
    type(None): Plain({"type": "null"}, {"type": "none"}),
    Any: Plain({}, {"type": "any"}),
    list: Plain({"type": "array", "items": {}}, {"type": "list"}),
    dict: Plain({"type": "object", "additionalProperties": True}, {"type": "dict"}),
}


def plain(hint: Any, within: tuple[Any, ...] = ()) -> Plain | None:
    """The type in both languages; None when it is not one of JSON's own.

    `within` names the TypedDicts around it: one that contains itself is left to pydantic.
    """
    if is_typeddict(hint):
        return None if hint in within else _typed_dict_type(hint, (*within, hint))
    origin = get_origin(hint)
    if origin is None:
        try:
            return _SIMPLE.get(hint)
        except TypeError:  # unhashable: certainly not one of ours
            return None
    describe = _COMPOSED.get(origin)
    return describe(get_args(hint), within) if describe else None


def is_plain_value(value: Any) -> bool:
    """True for a value that JSON has a word for."""
    if value is None or type(value) in (str, int, float, bool):
        return True
    if type(value) is list:
        return all(is_plain_value(item) for item in value)
    if type(value) is dict:
        return all(type(key) is str and is_plain_value(item) for key, item in value.items())
    return False


def _list_type(arguments: tuple[Any, ...], within: tuple[Any, ...]) -> Plain | None:
    items = plain(arguments[0], within)
    if items is None:
        return None
    return Plain({"type": "array", "items": items.schema}, {"type": "list", "items_schema": items.core})


def _dict_type(arguments: tuple[Any, ...], within: tuple[Any, ...]) -> Plain | None:
    key, values = arguments[0], plain(arguments[1], within)
    if key is not str or values is None:
        return None
    core = {"type": "dict", "keys_schema": {"type": "str"}, "values_schema": values.core}
    return Plain({"type": "object", "additionalProperties": values.schema or True}, core)


def _literal_type(arguments: tuple[Any, ...], within: tuple[Any, ...]) -> Plain | None:
    if not all(type(value) is str for value in arguments):
        return None
    schema = {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
    return Plain({**schema, "type": "string"}, {"type": "literal", "expected": list(arguments)})


def _union_type(arguments: tuple[Any, ...], within: tuple[Any, ...]) -> Plain | None:
    choices = [plain(argument, within) for argument in arguments]
    known = [choice for choice in choices if choice]
    if len(known) < len(choices):
        return None
    schema = {"anyOf": [choice.schema for choice in known]}
    # As pydantic does it, so that "or None" does not show in what is said about a wrong value.
    cores = [choice.core for choice in known if choice.core["type"] != "none"]
    core = cores[0] if len(cores) == 1 else {"type": "union", "choices": cores}
    return Plain(schema, core if len(cores) == len(known) else {"type": "nullable", "schema": core})


def _typed_dict_type(hint: Any, within: tuple[Any, ...]) -> Plain | None:
    properties: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    for name, annotation in get_type_hints(hint, include_extras=True).items():
        kind, description = annotation, ""
        if get_origin(annotation) is Annotated:
            kind, *metadata = get_args(annotation)
            if len(metadata) != 1 or not isinstance(metadata[0], str):
                return None
            description = metadata[0]
        described = plain(kind, within)
        if described is None:
            return None
        properties[name] = {**described.schema, **({"description": description} if description else {})}
        required = name in hint.__required_keys__
        fields[name] = {"type": "typed-dict-field", "schema": described.core, "required": required}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if hint.__required_keys__:
        schema["required"] = [name for name in properties if name in hint.__required_keys__]
    return Plain(schema, {"type": "typed-dict", "fields": fields})


_COMPOSED: dict[Any, Callable[[tuple[Any, ...], tuple[Any, ...]], Plain | None]] = {
    list: _list_type,
    dict: _dict_type,
    Literal: _literal_type,
    Union: _union_type,
    types.UnionType: _union_type,
}


JSONSchema = dict[str, Any]
MAX_PROBLEMS_SHOWN = 5


@dataclass(frozen=True)
class Parameter:
    """One parameter of a tool."""

    name: str
    hint: Any
    """Its type, with `Annotated` metadata other than the description still on it."""
    description: str
    default: Any = inspect.Parameter.empty

    @property
    def required(self) -> bool:
        """True when it has no default."""
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True)
class Arguments:
    """What a tool takes: the schema that is shown, and the check that is made."""

    schema: JSONSchema
    check: Callable[[Mapping[str, Any]], dict[str, Any]]
    """Turns arguments into what the function is called with; raises pydantic-core's `ValidationError`."""
    context_name: str | None = None
    """The parameter that wants the `ToolContext`."""


def read_arguments(function: Callable[..., Any]) -> Arguments:
    """Understand a function's parameters; raises `UsageError` when they cannot be a tool's."""
    parameters, context_name = _parameters_of(function)
    plains = [plain(parameter.hint) for parameter in parameters]
    if all(plains) and all(item.required or is_plain_value(item.default) for item in parameters):
        return Arguments(*_by_hand(parameters, list(filter(None, plains))), context_name)
    return Arguments(*_by_pydantic(parameters), context_name)


def explain(tool: str, error: ValidationError, schema: JSONSchema) -> tuple[str, str]:
    """What is wrong with the arguments, and what the tool takes."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    found = "; ".join(_describe(problem) for problem in problems[:MAX_PROBLEMS_SHOWN])
    if len(problems) > MAX_PROBLEMS_SHOWN:
        found += f"; and {len(problems) - MAX_PROBLEMS_SHOWN} more"
    required = schema.get("required", [])
    names = [name if name in required else f"{name} (optional)" for name in schema["properties"]]
    return f"Invalid arguments for {tool}: {found}.", f"Parameters: {', '.join(names) or 'none'}."


def _describe(problem: Any) -> str:
    field = ".".join(str(part) for part in problem["loc"]) or "arguments"
    if problem["type"] == "extra_forbidden":
        return f"{field}: unknown parameter"
    if problem["type"] == "missing":
        return f"{field}: is required"
    return f"{field}: {problem['msg']}"  # not the value: it may be a secret, and answers get kept


def _parameters_of(function: Callable[..., Any]) -> tuple[list[Parameter], str | None]:
    name = getattr(function, "__name__", repr(function))
    try:
        signature = inspect.signature(function)
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError, ValueError) as error:
        raise UsageError(
            f"The signature of {name} cannot be read: {error}.",
            hint="Types in a tool's signature must be importable where it is defined.",
        ) from error
    parameters: list[Parameter] = []
    context_name: str | None = None
    for parameter in signature.parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise UsageError(
                f"{name} takes {parameter}: a tool's parameters have names.",
                hint="Give each parameter a name, or take one parameter of type dict.",
            )
        hint = hints.get(parameter.name, Any)
        if hint is ToolContext:
            context_name = parameter.name
            continue
        parameters.append(Parameter(parameter.name, *_described(hint), parameter.default))
    return parameters, context_name


def _described(hint: Any) -> tuple[Any, str]:
    """A plain string beside a type describes it: `Annotated[str, "where to look"]`."""
    if get_origin(hint) is not Annotated:
        return hint, ""
    kind, *metadata = get_args(hint)
    description = next((text for text in metadata if isinstance(text, str)), "")
    rest = tuple(item for item in metadata if not isinstance(item, str))
    return (Annotated[(kind, *rest)] if rest else kind), description


def _by_hand(
    parameters: list[Parameter], plains: list[Plain]
) -> tuple[JSONSchema, Callable[[Mapping[str, Any]], dict[str, Any]]]:
    properties: JSONSchema = {}
    fields: dict[str, Any] = {}
    for parameter, kind in zip(parameters, plains, strict=True):
        shown = dict(kind.schema)
        if parameter.description:
            shown["description"] = parameter.description
        if not parameter.required:
            shown["default"] = parameter.default
        properties[parameter.name] = shown
        fields[parameter.name] = {
            "type": "typed-dict-field",
            "schema": kind.core,
            "required": parameter.required,
        }
    core: Any = {"type": "typed-dict", "fields": fields, "extra_behavior": "forbid"}
    return _object(properties, parameters), SchemaValidator(core).validate_python


def _by_pydantic(
    parameters: list[Parameter],
) -> tuple[JSONSchema, Callable[[Mapping[str, Any]], dict[str, Any]]]:
    from pydantic import ConfigDict, Field, create_model
    from pydantic.errors import PydanticUserError
    from pydantic.json_schema import GenerateJsonSchema

    class Untitled(GenerateJsonSchema):
        """Without a title for each parameter: it repeats the name and costs tokens."""

        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

    # Numbered fields with aliases, because a parameter may be called what a model's method is called.
    names = {f"p{index}": parameter.name for index, parameter in enumerate(parameters)}
    fields: dict[str, Any] = {}
    for field, parameter in zip(names, parameters, strict=True):
        extra: Any = {"description": parameter.description} if parameter.description else {}
        hint: Any = Annotated[(parameter.hint, Field(alias=parameter.name, **extra))]
        fields[field] = (hint, ... if parameter.required else parameter.default)
    try:
        model = create_model(
            "Arguments", __config__=ConfigDict(extra="forbid", allow_inf_nan=False), **fields
        )
        shown = model.model_json_schema(schema_generator=Untitled)
    except PydanticUserError as error:
        raise UsageError(
            f"A parameter's type has no JSON Schema: {error.message}",
            hint="Use JSON's types, dataclasses, TypedDicts or pydantic models.",
        ) from error

    def check(arguments: Mapping[str, Any]) -> dict[str, Any]:
        checked = model.model_validate(arguments)
        return {name: getattr(checked, field) for field, name in names.items()}

    schema = _object(shown.get("properties", {}), parameters)
    if "$defs" in shown:
        schema["$defs"] = shown["$defs"]
    return schema, check


def _object(properties: JSONSchema, parameters: list[Parameter]) -> JSONSchema:
    schema: JSONSchema = {"type": "object", "properties": properties}
    required = [parameter.name for parameter in parameters if parameter.required]
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    return schema
