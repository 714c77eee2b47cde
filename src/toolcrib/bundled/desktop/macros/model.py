"""What a macro consists of: plain data with the field names of the gRPC interface; its actions, conditions,
loops and parameters. Limits: most actions, depth. Errors for invalid macros."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic_core import SchemaValidator, ValidationError, to_json

from toolcrib.bundled.desktop.input_actions import InputAction, kind_of
from toolcrib.bundled.desktop.records import (
    RULES,
    Before,
    OneOf,
    as_text,
    enum_word,
    read_record,
    whole,
)
from toolcrib.schema.mistakes import first_mistake
from toolcrib.schema.value_types import Schema
from toolcrib.serverkit.arguments import plain
from toolcrib.serverkit.context import ToolFailure

MAX_ACTIONS = 1_000
MAX_DEPTH = 16
MAX_INPUT = 40_000
"""Characters of an input action, as JSON."""
ParameterKind = Annotated[
    Literal["string", "integer", "boolean", "selector", "path"], enum_word("PARAMETER_TYPE_", "string")
]


@dataclass(frozen=True)
class WaitCondition(OneOf):
    ONE_OF: ClassVar[tuple[str, ...]] = ("element_selector", "window_title", "application")
    element_selector: str | None = None
    window_title: str | None = None
    application: str | None = None
    timeout: float = 30.0


@dataclass(frozen=True)
class WaitAction:
    duration: float = 0.0
    condition: WaitCondition | None = None
    """Waited for after the duration."""


@dataclass(frozen=True)
class VariableCondition:
    variable: str
    value: str


@dataclass(frozen=True)
class CompoundCondition:
    conditions: tuple[MacroCondition, ...]
    operator: Annotated[Literal["and", "or", "not"], enum_word("OPERATOR_", "and")] = "and"


@dataclass(frozen=True)
class MacroCondition(OneOf):
    ONE_OF: ClassVar[tuple[str, ...]] = (
        "element_exists",
        "window_exists",
        "application_running",
        "variable_equals",
        "compound",
    )
    element_exists: str | None = None
    window_exists: str | None = None
    application_running: str | None = None
    variable_equals: VariableCondition | None = None
    compound: CompoundCondition | None = None


@dataclass(frozen=True)
class ConditionalAction:
    condition: MacroCondition
    then_actions: tuple[MacroAction, ...]
    else_actions: tuple[MacroAction, ...] = ()


@dataclass(frozen=True)
class ForEachLoop(OneOf):
    ONE_OF: ClassVar[tuple[str, ...]] = ("element_selector", "window_pattern", "values")
    item_variable: str
    element_selector: str | None = None
    window_pattern: str | None = None
    values: str | None = None
    """A JSON list, or texts separated by commas."""


@dataclass(frozen=True)
class LoopAction(OneOf):
    ONE_OF: ClassVar[tuple[str, ...]] = ("count", "while_condition", "foreach")
    actions: tuple[MacroAction, ...]
    count: Annotated[int, Before(whole)] | None = None
    while_condition: MacroCondition | None = None
    foreach: ForEachLoop | None = None


@dataclass(frozen=True)
class ElementAttributeValue:
    element_selector: str
    attribute: str


@dataclass(frozen=True)
class AssignAction(OneOf):
    ONE_OF: ClassVar[tuple[str, ...]] = ("literal", "element_attribute", "parameter", "expression")
    variable: str
    literal: str | None = None
    element_attribute: ElementAttributeValue | None = None
    parameter: str | None = None
    expression: str | None = None


@dataclass(frozen=True)
class MethodCall:
    method: str
    args: Mapping[str, Annotated[str, Before(as_text)]] = field(default_factory=dict)


@dataclass(frozen=True)
class MacroAction(OneOf):
    ONE_OF: ClassVar[tuple[str, ...]] = ("input", "wait", "conditional", "loop", "assign", "method_call")
    input: dict[str, Any] | None = None
    """As the tool create_input takes it."""
    wait: WaitAction | None = None
    conditional: ConditionalAction | None = None
    loop: LoopAction | None = None
    assign: AssignAction | None = None
    method_call: MethodCall | None = None
    description: str = ""

    @property
    def blocks(self) -> tuple[tuple[MacroAction, ...], ...]:
        """The actions inside it."""
        if self.conditional is not None:
            return self.conditional.then_actions, self.conditional.else_actions
        return (self.loop.actions,) if self.loop is not None else ()


@dataclass(frozen=True)
class MacroParameter:
    key: str
    type: ParameterKind = "string"
    default_value: str = ""
    description: str = ""
    required: bool = False


@dataclass(frozen=True)
class Macro:
    __pydantic_config__: ClassVar[dict[str, Any]] = RULES
    display_name: str
    actions: tuple[MacroAction, ...]
    name: str = ""
    description: str = ""
    parameters: tuple[MacroParameter, ...] = ()
    tags: tuple[str, ...] = ()
    create_time: float = 0.0
    """Seconds since 1970."""
    update_time: float = 0.0
    execution_count: int = 0


OUTPUT_ONLY = frozenset({"name", "create_time", "update_time", "execution_count"})


def read_macro(value: Any, path: str = "macro") -> Macro:
    """A macro that a client sent; what only the server may set is ignored. Raises `ToolFailure`."""
    if isinstance(value, Mapping):
        value = {key: item for key, item in value.items() if key not in OUTPUT_ONLY}
    macro = read_record(Macro, value, path)
    check_macro(macro)
    return macro


def check_macro(macro: Macro) -> None:
    if not macro.display_name.strip():
        raise ToolFailure("A macro needs a display_name.")
    if not macro.actions:
        raise ToolFailure("A macro needs at least one action.")
    numbered = list(flatten(macro.actions))
    if len(numbered) > MAX_ACTIONS:
        raise ToolFailure(f"A macro has at most {MAX_ACTIONS} actions; this one has {len(numbered)}.")
    if any(depth > MAX_DEPTH for _, depth in numbered):
        raise ToolFailure(f"Actions are nested more than {MAX_DEPTH} levels deep.")
    for index, (action, _) in enumerate(numbered):
        if action.input is not None:
            _check_input(action.input, f"The input of action {index}")
    keys = [parameter.key for parameter in macro.parameters]
    if len(set(keys)) < len(keys):
        raise ToolFailure("Two parameters have the same key.")


def _check_input(action: dict[str, Any], path: str) -> None:
    kind_of(action)
    if len(to_json(action).decode()) > MAX_INPUT:
        raise ToolFailure(f"{path} has more than {MAX_INPUT} characters.")
    validator, schema = _validator()
    try:
        validator.validate_python(action)
    except ValidationError as error:
        raise ToolFailure(*first_mistake(error, schema, path)) from None


@functools.cache
def _validator() -> tuple[SchemaValidator, Schema]:
    described = plain(InputAction)
    if described is None:
        raise TypeError("InputAction has a field without a JSON type")
    return SchemaValidator(cast("Any", described.core)), described.schema


def flatten(actions: tuple[MacroAction, ...], depth: int = 1) -> Iterator[tuple[MacroAction, int]]:
    """All actions with their depth, in the order in which they are written."""
    for action in actions:
        yield action, depth
        for block in action.blocks:
            yield from flatten(block, depth + 1)
