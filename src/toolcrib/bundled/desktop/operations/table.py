"""The table of desktop operations: each is one function, from which every surface is made. Defines the MCP
hints and time limits of tools that look, act, arrange or end something, and the text for more results.

A function's parameters are the parameters of the MCP tool and the fields of the gRPC request. What it
returns, a frozen dataclass, is the structured content of the tool and the gRPC response; fields that a
message does not have are left out there. What the surfaces do differently is a method of `Desktop`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from types import ModuleType
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from toolcrib.bundled.desktop import operations
from toolcrib.bundled.desktop.backend import Application, Backend, Element, ElementTree, Window
from toolcrib.bundled.desktop.elements.observing import Report
from toolcrib.bundled.desktop.elements.snapshots import TreeSnapshot
from toolcrib.bundled.desktop.lists import ListPage, paginate
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.serverkit.context import ToolContext
from toolcrib.serverkit.results import Image

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Awaitable[Any]])


@dataclass(frozen=True)
class OperationTraits:
    """What a call does to the desktop; the names are those of `ToolServer.tool`."""

    read_only: bool = False
    destructive: bool | None = None
    idempotent: bool = False
    open_world: bool | None = None
    outside: bool = False
    private: bool = False
    reach: str = "here"
    limit: float = 360.0
    """Seconds for a call of the tool."""
    acts: bool = True
    """The stop key ends a call of the gRPC method."""


LOOKING = OperationTraits(read_only=True, outside=True, private=True, limit=90.0, acts=False)
"""Changes nothing."""
ACTING = OperationTraits(open_world=True, outside=True, private=True, reach="anybody", limit=180.0)
"""Acts in programs, which can send data anywhere."""
ENDING = replace(ACTING, destructive=True)
KEEPING = OperationTraits(open_world=False, acts=False)
"""Changes what the server itself remembers."""
ARRANGING = OperationTraits(destructive=False, idempotent=True, outside=True, limit=30.0)


@dataclass(frozen=True)
class Reply(Generic[T]):
    """What an operation answers."""

    data: T
    text: str | None = None
    """For a model; None for the data as JSON."""
    images: Sequence[Image] = ()
    failed: bool = False
    """The tool answers with an error, but with the same content."""


@dataclass
class Action:
    """A change of the desktop that is under way."""

    backend: Backend
    windows: Sequence[Window]
    """Before the action, from the lowest to the topmost."""
    changes: list[str] = field(default_factory=list)
    """What became different, when it is over; only for a model."""


class Desktop(ABC):
    """A desktop as one surface shows it: how things are named, found and listed."""

    for_model: bool
    """Replies are read by a model: long texts are shortened."""

    def __init__(self, session: DesktopSession, context: ToolContext | None = None) -> None:
        self.session = session
        self.context = context or ToolContext()

    @abstractmethod
    async def backend(self) -> Backend: ...

    @abstractmethod
    def acting(self) -> AbstractAsyncContextManager[Action]:
        """For what changes windows and programs as a whole."""

    @abstractmethod
    def observing(
        self, application: int | None, before: ElementTree | None = None
    ) -> AbstractAsyncContextManager[Report]:
        """For what acts in a program; `before` is its tree if that was read just now."""

    @abstractmethod
    def choose_window(self, windows: Sequence[Window], name: str | int) -> Window:
        """The window that is meant; raises `ToolFailure`."""

    @abstractmethod
    async def windows_of(self, application: str | None) -> list[Window]:
        """The windows of an application, or all; topmost first."""

    @abstractmethod
    async def application(self, name: str) -> Application: ...

    @abstractmethod
    async def process(self, application: str | None) -> int | None:
        """The id of the application that a parent names; None for all."""

    def scope(self, parent: str | None) -> str | None:
        """Where elements are looked for; None for the active application."""
        return parent

    def element(self, snapshot: TreeSnapshot, element: Element, actions: Sequence[str] = ()) -> Any:
        """An element in the shape of this surface, unless it is for a model."""
        raise NotImplementedError

    def check_name(self, name: str, collection: str) -> None:  # noqa: B027
        """Raises if this surface wants a resource name of the collection, and this is none.

        An empty name of an application is one: it means all of them.
        """

    def page(
        self,
        items: Sequence[T],
        page_size: int,
        page_token: str,
        *query: object,
        default: int = 50,
        rpc_default: int = 100,
    ) -> ListPage[T]:
        """One page of a list; `query` is what makes the list this one. The sizes are for a model and gRPC."""
        size = default if self.for_model else rpc_default
        return paginate(items, page_size, page_token, *query, default=size)


@dataclass(frozen=True)
class DesktopOperation:
    name: str
    function: Callable[..., Awaitable[Any]]
    title: str
    """Of the tool; empty if there is none."""
    traits: OperationTraits
    rpc: str
    """The gRPC method that this can be, if the wire format has it."""
    maskable: bool
    """Clients can ask for some fields only, with `read_mask`."""
    prepare: Callable[[DesktopSession], object] | None
    """Called once when the operation is offered."""

    @cached_property
    def hints(self) -> Mapping[str, Any]:
        """The types of its parameters, without the desktop."""
        hints = get_type_hints(self.function, include_extras=True)
        return {name: hint for name, hint in list(hints.items())[1:] if name != "return"}

    @cached_property
    def required(self) -> frozenset[str]:
        """The parameters without a default."""
        parameters = inspect.signature(self.function).parameters.items()
        return frozenset(
            name for name, parameter in parameters if parameter.default is inspect.Parameter.empty
        )

    @cached_property
    def result(self) -> Any:
        returned = get_type_hints(self.function)["return"]
        return get_args(returned)[0] if get_origin(returned) is Reply else returned


def operation(
    title: str,
    traits: OperationTraits,
    *,
    rpc: str = "",
    maskable: bool = False,
    prepare: Callable[[DesktopSession], object] | None = None,
) -> Callable[[F], F]:
    """Declare a function as an operation; the first parameter is the `Desktop`."""

    def declare(function: F) -> F:
        name = function.__name__
        camel_case = "".join(part.capitalize() for part in name.split("_"))
        row = DesktopOperation(name, function, title, traits, rpc or camel_case, maskable, prepare)
        function.operation = row  # type: ignore[attr-defined]
        return function

    return declare


@cache
def groups() -> Mapping[str, tuple[DesktopOperation, ...]]:
    """The table: the operations of each module, in the order of their declaration."""
    found = sorted(module.name for module in pkgutil.iter_modules(operations.__path__))
    modules = {name: importlib.import_module(f"{operations.__name__}.{name}") for name in found}
    return {name: tuple(_declared(module)) for name, module in modules.items()}


def _declared(module: ModuleType) -> list[DesktopOperation]:
    own = [value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__]
    return [value.operation for value in own if hasattr(value, "operation")]


def more_line(page: ListPage[Any]) -> list[str]:
    """How a model gets the rest of a list."""
    return [f"… {page.more} more; continue with page_token {page.next_page_token}."] if page.more else []


def with_changes(text: str, changes: list[str], otherwise: str = "No window changed.") -> str:
    """The text of a reply to an action; `otherwise` if it had no effect that is known."""
    return "\n".join([text, *(["What changed:", *changes] if changes else [otherwise])])
