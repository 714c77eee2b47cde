"""Declares operations: `@operation` on a typed function makes it callable by commands, the page and Python.
Also which parts of a host are opened for one, and the check of its parameters.

The function's first parameter is the host. A parameter of type `Invocation` receives the caller and the
listener. All others are the operation's parameters; an operation with many may take one `OperationParams`.
Its result and its events may be or contain dataclasses; its callers get JSON values.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection
from dataclasses import MISSING, dataclass, is_dataclass, replace
from functools import cached_property, partial
from types import SimpleNamespace
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    ParamSpec,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic_core import ValidationError
from typing_extensions import is_typeddict

from toolcrib.errors import UsageError
from toolcrib.operations.command import Command
from toolcrib.operations.parameters import EMPTY, Within, quick_check
from toolcrib.schema.json_values import to_json

if TYPE_CHECKING:
    from pydantic import BaseModel

P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E")
Configured = Callable[[], Collection[str]]
"""Returns the names of the configured servers."""
JsonObject = Annotated[dict[str, Any], EMPTY]
Strings = Annotated[dict[str, str], EMPTY]
Names = Annotated[list[str], EMPTY]
"""Parameters that are empty by default."""
Seconds = Annotated[float, Within(ge=0, le=3600)]


@dataclass(frozen=True, kw_only=True)
class Needs:
    """The parts of a host to open for an operation if none is running."""

    servers: Collection[str] | None = None
    """Only these; None for all."""
    lazy: bool = False
    """Servers with a known tool list start when they are called."""
    running: bool = False
    """Requires a running host."""


NOTHING = Needs(servers=())
EVERYTHING = Needs()
LAZY = Needs(lazy=True)
RUNNING = Needs(servers=(), running=True)
CheckedParams: TypeAlias = "BaseModel | SimpleNamespace"
"""Validated parameters of an operation, each an attribute."""
FindNeeds = Callable[[Any, Configured], Needs]
"""Finds the needs from the parameters."""


def named_server(params: Any, configured: Configured) -> Needs:
    """The server that the parameter `name` names; it is not started."""
    return Needs(servers=(params.name,), lazy=True)


Emit = Callable[[Any], Awaitable[None]]


async def _discard(event: Any) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Invocation(Generic[E]):
    """The caller of an operation, and the listener of its events."""

    emit: Callable[[E], Awaitable[None]] = _discard
    """Waits while the reader is slow."""
    from_page: bool = False
    """Called by the page, which shows outside content: some operations then need approval."""


class Operation(Generic[P, R]):
    """A function with its declaration; calling it calls the function."""

    def __init__(
        self,
        function: Callable[P, Awaitable[R]],
        *,
        page: bool,
        needs: Needs | FindNeeds,
        without_config: Any,
        command: Command | None,
    ) -> None:
        self.function = function
        self.name: str = function.__name__
        self.page = page
        self.without_config = without_config
        """Runs instead if the config file cannot be read: `(paths, params, error)`."""
        self.command = command
        self._needs = needs

    def __call__(self, *args: P.args, **values: P.kwargs) -> Awaitable[R]:
        return self.function(*args, **values)

    def needs(self, params: CheckedParams, configured: Configured) -> Needs:
        """The parts of a host to open."""
        return self._needs if isinstance(self._needs, Needs) else self._needs(params, configured)

    @cached_property
    def hints(self) -> dict[str, Any]:
        """The types of all parameters and of the result."""
        return get_type_hints(self.function, include_extras=True)

    @cached_property
    def event(self) -> Any:
        """The type of its events; None if it has none."""
        given = get_args(self.hints[self._invocation])[0] if self._invocation else Any
        return None if given is Any else given

    @cached_property
    def params(self) -> type[BaseModel]:
        """The model of its parameters."""
        if "params" in self._own:
            model: type[BaseModel] = self.hints["params"]
            return model
        from pydantic import Field, create_model

        from toolcrib.operations.params_model import OperationParams

        fields: dict[str, Any] = {
            name: (hint, Field(default_factory=get_origin(hint.__origin__)))
            if EMPTY in getattr(hint, "__metadata__", ())
            else (hint, ... if default is MISSING else default)
            for name, (hint, default) in self._own.items()
        }
        name = "".join(part.capitalize() for part in self.name.split("_"))
        return create_model(f"{name}Params", __base__=OperationParams, **fields)

    @cached_property
    def _quick_check(self) -> Callable[[Any], dict[str, Any]] | None:
        return quick_check(self._own)

    def read(self, values: object) -> CheckedParams:
        """Validate the parameters; raises `UsageError` that names the field."""
        given = {} if values is None else values
        try:
            if self._quick_check is not None:
                return SimpleNamespace(**self._quick_check(given))
        except ValidationError:
            pass  # pydantic says what is wrong with it.
        try:
            return self.params.model_validate(given)
        except ValidationError as error:
            from toolcrib.schema.mistakes import first_mistake

            message, hint = first_mistake(error, self.params.model_json_schema())
            raise UsageError(message, hint=hint) from None

    async def run(self, host: Any, params: CheckedParams, invocation: Invocation[Any]) -> Any:
        """Run the function with validated parameters; its result and its events become JSON values."""
        values: dict[str, Any] = {"params": params} if "params" in self._own else {**vars(params)}
        if self._invocation:
            values[self._invocation] = _with_json(invocation) if self._event_holds_dataclass else invocation
        run: Callable[..., Awaitable[Any]] = self.function
        result = await run(host, **values)
        return to_json(result) if self.result_holds_dataclass else result

    @cached_property
    def result_holds_dataclass(self) -> bool:
        """True if a result must be made JSON; others are JSON as they are."""
        return holds_dataclass(self.hints["return"])

    @cached_property
    def _event_holds_dataclass(self) -> bool:
        return holds_dataclass(self.event)

    @cached_property
    def _invocation(self) -> str:
        found = [name for name, hint in self.hints.items() if get_origin(hint) is Invocation]
        return found[0] if found else ""

    @cached_property
    def _own(self) -> dict[str, tuple[Any, Any]]:
        """The types of the operation's parameters with their defaults."""
        parameters = list(inspect.signature(self.function).parameters.values())[1:]
        return {
            param.name: (
                self.hints[param.name],
                MISSING if param.default is param.empty else param.default,
            )
            for param in parameters
            if param.name != self._invocation
        }


def holds_dataclass(hint: Any, seen: tuple[Any, ...] = ()) -> bool:
    """Whether a type is or contains a dataclass; `seen` are the types around it."""
    if is_dataclass(hint):
        return True
    if hint in seen:
        return False
    parts = get_type_hints(hint).values() if is_typeddict(hint) else get_args(hint)
    return any(holds_dataclass(part, (*seen, hint)) for part in parts)


def _with_json(invocation: Invocation[Any]) -> Invocation[Any]:
    emit = invocation.emit
    return replace(invocation, emit=lambda event: emit(to_json(event)))


def operation(
    *,
    page: bool = False,
    needs: Needs | FindNeeds = NOTHING,
    without_config: Any = None,
    command: Command | None = None,
) -> Callable[[Callable[P, Awaitable[R]]], Operation[P, R]]:
    """Make a function an operation; only with `page` may the web page call it.

    With `command` it is also a command of the program.
    """
    return partial(Operation, page=page, needs=needs, without_config=without_config, command=command)
