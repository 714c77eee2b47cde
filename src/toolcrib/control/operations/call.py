"""`call`: run one tool, through the same door as everybody else."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from toolcrib.control.answers.calls import CallProgress, CallResult
from toolcrib.control.arguments import Word, typed_arguments
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import find_tool, possible_owners
from toolcrib.control.needs import Configured, Emit, Needs
from toolcrib.control.relay import relay
from toolcrib.control.shapes import result_json
from toolcrib.control.surface import is_page
from toolcrib.host import Host
from toolcrib.schema.tools import Principal

FOR_PAGES = True

Event = CallProgress


class Params(OperationParams):
    """The tool, its arguments as they are, and further ones to be typed by its schema."""

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    words: tuple[Word, ...] = ()
    timeout: float | None = Field(default=None, gt=0, le=86_400)
    principal: str = "cli"


def needs(params: Params, configured: Configured) -> Needs:
    """The one server that is meant, as far as the name says; the others stay asleep."""
    return Needs(servers=possible_owners(params.tool, configured()), lazy=True)


async def run(host: Host, params: Params, emit: Emit) -> CallResult:
    """The MCP result; emits `{"progress", "total", "message"}` as the server tells of it."""
    tool = await find_tool(host, params.tool)
    arguments = {**params.arguments, **typed_arguments(tool.definition.input_schema, params.words)}
    async with relay(emit) as put:

        def on_progress(progress: float, total: float | None, message: str | None) -> None:
            put({"progress": progress, "total": total, "message": message})

        result = await host.call(
            tool.name,
            arguments,
            principal=Principal(name="page" if is_page() else params.principal),
            timeout=params.timeout,
            on_progress=on_progress,
        )
    return result_json(result)
