"""Makes MCP tools from the table of operations."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import typing
from collections.abc import AsyncIterator, Sequence
from typing import Any, get_args, get_origin

from toolcrib.bundled.desktop.backend import Application, Backend, ElementTree, Window
from toolcrib.bundled.desktop.elements.difference import describe_changes, summarise
from toolcrib.bundled.desktop.elements.observing import Report, observe
from toolcrib.bundled.desktop.failures import ApplicationNotFound, MissingField
from toolcrib.bundled.desktop.lists import masked
from toolcrib.bundled.desktop.operations.table import Action, Desktop, DesktopOperation, Reply
from toolcrib.bundled.desktop.resources import application_of
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.bundled.desktop.tools.offer import ProfileTools, answer, as_failure
from toolcrib.bundled.desktop.window_lookup import choose_application, choose_window, windows_of
from toolcrib.serverkit.context import ToolContext


class ToolDesktop(Desktop):
    """For a model: names may be ids, titles or names of programs, and actions report what changed."""

    for_model = True

    async def backend(self) -> Backend:
        return await self.session.backend(self.context)

    @contextlib.asynccontextmanager
    async def acting(self) -> AsyncIterator[Action]:
        backend = await self.backend()
        action = Action(backend, await backend.windows.list())
        yield action
        action.changes += summarise(describe_changes(action.windows, await backend.windows.list()))

    @contextlib.asynccontextmanager
    async def observing(
        self, application: int | None, before: ElementTree | None = None
    ) -> AsyncIterator[Report]:
        async with observe(await self.backend(), application or 0, before) as report:
            yield report

    def choose_window(self, windows: Sequence[Window], name: str | int) -> Window:
        return choose_window(windows, name)

    async def windows_of(self, application: str | None) -> list[Window]:
        return await windows_of(await self.backend(), application)

    async def application(self, name: str) -> Application:
        if application_of(name) is None:
            raise MissingField("No application is named.", "Call list_applications.")
        backend = await self.backend()
        process = await choose_application(backend, name)
        for application in await backend.applications.list():
            if application.id == process:
                return application
        raise ApplicationNotFound(f"{name!r} has just ended.", "Call list_applications.")

    async def process(self, application: str | None) -> int | None:
        if application_of(application) is None:
            return None
        return await choose_application(await self.backend(), application)


def offer_operation(offer: ProfileTools, session: DesktopSession, operation: DesktopOperation) -> None:
    """Add the tool of an operation, if the profile has it."""
    if not operation.title or not offer.wants(operation.name):
        return
    if operation.prepare is not None:
        operation.prepare(session)

    async def run(context: ToolContext, read_mask: str = "", **arguments: Any) -> Any:
        result = await operation.function(ToolDesktop(session, context), **arguments)
        return _shown(result if isinstance(result, Reply) else Reply(result), read_mask)

    hints = {**operation.hints, **({"read_mask": str} if operation.maskable else {}), "context": ToolContext}
    defaults = {**_defaults(operation), "read_mask": ""}
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=defaults.get(name, inspect.Parameter.empty),
            annotation=hint,
        )
        for name, hint in hints.items()
    ]
    returned = _shape(operation.result, partial=operation.maskable)
    run.__name__ = operation.name
    run.__doc__ = operation.function.__doc__
    run.__annotations__ = {**hints, "return": returned}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    traits = dataclasses.asdict(operation.traits)
    del traits["acts"]
    offer(run, operation.title, **traits)


def _defaults(operation: DesktopOperation) -> dict[str, Any]:
    signature = inspect.signature(operation.function)
    return {name: parameter.default for name, parameter in signature.parameters.items()}


def _shown(reply: Reply[Any], read_mask: str) -> Any:
    data = masked(dataclasses.asdict(reply.data), read_mask)
    if reply.text is None:
        return data
    shown = answer(data, reply.text, *reply.images)
    return as_failure(shown) if reply.failed else shown


@functools.cache
def _shape(kind: Any, partial: bool = False) -> Any:
    """The type of the JSON form: a dictionary in the place of each dataclass."""
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        fields = {name: _shape(hint) for name, hint in hints.items()}
        return typing.TypedDict(kind.__name__, fields, total=not partial)  # type: ignore[operator]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is list:
        return list[_shape(arguments[0])]  # type: ignore[misc]
    if type(None) in arguments:
        return functools.reduce(lambda one, other: one | other, map(_shape, arguments))
    return kind
