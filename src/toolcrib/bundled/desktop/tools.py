"""The MCP tools of a server, made from the table of operations. Decides which tools the profiles small,
workflow and full offer, which parameters only full has, and how a result looks to a model."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import inspect
import typing
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

from toolcrib.bundled.desktop import operations
from toolcrib.bundled.desktop.backend import Application, Backend, ElementTree, Window
from toolcrib.bundled.desktop.elements.difference import describe_changes, summarise
from toolcrib.bundled.desktop.elements.observing import Report, observe
from toolcrib.bundled.desktop.failures import ApplicationNotFound, MissingField, OperationTimeout
from toolcrib.bundled.desktop.lists import masked
from toolcrib.bundled.desktop.operations.table import Action, Desktop, DesktopOperation, Reply, groups
from toolcrib.bundled.desktop.resources import application_of
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.bundled.desktop.window_lookup import choose_application, choose_window, windows_of
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.descriptions import describe
from toolcrib.serverkit.results import to_result
from toolcrib.serverkit.server import ToolServer

PROFILES: dict[str, frozenset[str] | None] = {
    "small": frozenset(
        {
            "list_windows",
            "focus_window",
            "find_elements",
            "click_element",
            "write_element_value",
            "find_text",
            "click",
            "type_text",
            "press_key",
            "scroll",
            "take_screenshot",
            "get_clipboard",
            "write_clipboard",
            "open_application",
        }
    ),
    "workflow": frozenset(
        {
            "take_screenshot",
            "find_text",
            "find_image",
            "click",
            "type_text",
            "press_key",
            "scroll",
            "list_windows",
            "focus_window",
        }
    ),
    "full": None,
}
"""None offers every tool."""

FULL_ONLY = frozenset(
    {
        "filter",
        "force_refresh",
        "order_by",
        "page_size",
        "read_mask",
        "visible_only",
        "get_clipboard.name",
        "write_clipboard.content",
        "write_clipboard.clear_existing",
    }
)
"""Parameters of the gRPC interface that only `full` shows: a model rarely needs them and they cost tokens."""


class UnspecifiedFailure(ToolFailure):
    """A failure without a more exact reason."""

    kind = "desktop_failed"
    reason = "FAILED_PRECONDITION"


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


def offer_profile(server: ToolServer, session: DesktopSession, profile: str) -> None:
    """Add the tools of a profile to a server; their descriptions are in files beside the operations."""
    wanted = PROFILES[profile]
    server.at_close(session.close_parts)
    for operation in (operation for group in groups().values() for operation in group):
        if operation.title and (wanted is None or operation.name in wanted):
            offer_operation(server, session, operation)
    for folder in operations.__path__:
        for file in sorted(Path(folder).glob("*.toml")):
            describe(server, file, partial=wanted is not None)
    if wanted is not None:
        _leave_out_parameters(server)


def _leave_out_parameters(server: ToolServer) -> None:
    for tool_name, tool in server.tools.items():
        properties = tool.definition["inputSchema"]["properties"]
        for name in list(properties):
            if FULL_ONLY & {name, f"{tool_name}.{name}"}:
                del properties[name]


def offer_operation(server: ToolServer, session: DesktopSession, operation: DesktopOperation) -> None:
    """Add the tool of an operation: a call ends in time, and a failure has a reason."""
    if operation.prepare is not None:
        operation.prepare(session)
    traits = dataclasses.asdict(operation.traits)
    del traits["acts"]
    limit = traits.pop("limit")

    async def run(context: ToolContext, read_mask: str = "", **arguments: Any) -> Any:
        try:
            async with asyncio.timeout(limit):
                result = await operation.function(ToolDesktop(session, context), **arguments)
                return _shown(result if isinstance(result, Reply) else Reply(result), read_mask)
        except TimeoutError:
            raise OperationTimeout(
                f"{operation.name} did not end within {limit:g} s.", "Look at the screen, and try again."
            ) from None
        except ToolFailure as failure:
            if failure.reason:
                raise
            raise UnspecifiedFailure(failure.message, failure.hint) from failure

    hints = {**operation.hints, **({"read_mask": str} if operation.maskable else {}), "context": ToolContext}
    declared = inspect.signature(operation.function).parameters
    defaults = {"read_mask": "", **{name: parameter.default for name, parameter in declared.items()}}
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=defaults.get(name, inspect.Parameter.empty),
            annotation=hint,
        )
        for name, hint in hints.items()
    ]
    run.__name__ = operation.name
    run.__doc__ = operation.function.__doc__
    run.__annotations__ = {**hints, "return": _shape(operation.result, partial=operation.maskable)}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    server.tool(title=operation.title, **traits)(run)


def _shown(reply: Reply[Any], read_mask: str) -> Any:
    """The structured data, with a short text for the model and pictures."""
    data = masked(dataclasses.asdict(reply.data), read_mask)
    if reply.text is None:
        return data
    failed = {"isError": True} if reply.failed else {}
    return {**to_result([*reply.images, reply.text]), "structuredContent": data, **failed}


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
