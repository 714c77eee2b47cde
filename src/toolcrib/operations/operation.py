"""Declares operations: `@operation` on a typed function makes it callable by commands, the page and Python.
Also which parts of a host are opened for one, and the check of its parameters.

The function's first parameter is the host. A parameter of type `Invocation` receives the caller and the
listener. All others are the operation's parameters; an operation with many may take one `OperationParams`.
Its result and its events may be or contain dataclasses; its callers get JSON values.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, is_dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Generic, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from typing_extensions import is_typeddict

from toolcrib.errors import UsageError
from toolcrib.operations.command import Command
from toolcrib.schema.json_values import to_json
from toolcrib.schema.mistakes import first_mistake

P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E")
Configured = Callable[[], Collection[str]]
"""Returns the names of the configured servers."""
JsonObject = Annotated[dict[str, Any], Field(default_factory=dict)]
Strings = Annotated[dict[str, str], Field(default_factory=dict)]
Names = Annotated[list[str], Field(default_factory=list)]
"""Parameters that are empty by default."""
Seconds = Annotated[float, Field(ge=0, le=3600)]


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


class OperationParams(BaseModel):
    """Parameters of an operation; unknown ones are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


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

    def needs(self, params: BaseModel, configured: Configured) -> Needs:
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
        if self._takes_model:
            model: type[BaseModel] = self.hints["params"]
            return model
        empty = inspect.Parameter.empty
        fields: dict[str, Any] = {
            name: self.hints[name] if default is empty else (self.hints[name], default)
            for name, default in self._own
        }
        name = "".join(part.capitalize() for part in self.name.split("_"))
        return create_model(f"{name}Params", __base__=OperationParams, **fields)

    def read(self, values: object) -> BaseModel:
        """Validate the parameters; raises `UsageError` that names the field."""
        try:
            return self.params.model_validate({} if values is None else values)
        except ValidationError as error:
            message, hint = first_mistake(error, self.params.model_json_schema())
            raise UsageError(message, hint=hint) from None

    async def run(self, host: Any, params: BaseModel, invocation: Invocation[Any]) -> Any:
        """Run the function with validated parameters; its result and its events become JSON values."""
        values: dict[str, Any] = {"params": params} if self._takes_model else dict(params)
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
    def _own(self) -> list[tuple[str, Any]]:
        """The operation's parameters with their defaults."""
        parameters = list(inspect.signature(self.function).parameters.values())[1:]
        return [(param.name, param.default) for param in parameters if param.name != self._invocation]

    @cached_property
    def _takes_model(self) -> bool:
        names = [name for name, _ in self._own]
        return names == ["params"]


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
    return lambda function: Operation(
        function, page=page, needs=needs, without_config=without_config, command=command
    )
