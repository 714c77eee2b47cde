"""A function's parameters as a JSON Schema, and the check of arguments against them.

Parameters of JSON's own types are described here by hand: loading pydantic would cost a small server more
than everything else it does at its start. Any other type goes through pydantic. Both ways check with
pydantic-core, so that a wrong argument reads the same.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic_core import SchemaValidator, ValidationError

from toolcrib.errors import UsageError
from toolcrib.serverkit.context import ToolContext
from toolcrib.serverkit.plain import Plain, is_plain_value, plain

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
        return Arguments(*_by_hand(parameters, [each for each in plains if each]), context_name)
    return Arguments(*_by_pydantic(parameters), context_name)


def explain(tool: str, error: ValidationError, schema: JSONSchema) -> tuple[str, str]:
    """What is wrong with the arguments, and what the tool takes."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    told = "; ".join(_told(problem) for problem in problems[:MAX_PROBLEMS_SHOWN])
    if len(problems) > MAX_PROBLEMS_SHOWN:
        told += f"; and {len(problems) - MAX_PROBLEMS_SHOWN} more"
    required = schema.get("required", [])
    names = [name if name in required else f"{name} (optional)" for name in schema["properties"]]
    return f"Invalid arguments for {tool}: {told}.", f"It takes: {', '.join(names) or 'nothing'}."


def _told(problem: Any) -> str:
    field = ".".join(str(part) for part in problem["loc"]) or "arguments"
    if problem["type"] == "extra_forbidden":
        return f"{field}: there is no such parameter"
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
    for each in signature.parameters.values():
        if each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            raise UsageError(
                f"{name} takes {each}: a tool's parameters have names.",
                hint="Give each parameter a name, or take one parameter of type dict.",
            )
        hint = hints.get(each.name, Any)
        if hint is ToolContext:
            context_name = each.name
            continue
        parameters.append(Parameter(each.name, *_described(hint), each.default))
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
