"""Makes gRPC methods from the table of operations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from toolcrib.bundled.desktop.grpc.failures import invalid
from toolcrib.bundled.desktop.grpc.records import to_message, to_plain
from toolcrib.bundled.desktop.grpc.schema import message_class
from toolcrib.bundled.desktop.grpc.served import ServedDesktop
from toolcrib.bundled.desktop.operations.table import Operation, Reply


def method_of(
    operation: Operation, descriptor: Any, desktop: ServedDesktop
) -> Callable[[Any], Awaitable[Any]]:
    """What answers a request: it is read into the operation's arguments, and its result made a response."""
    response = message_class(descriptor.output_type)
    if operation.prepare is not None:
        operation.prepare(desktop.session)

    async def answer(request: Any) -> Any:
        result = await operation.function(desktop, **arguments_of(operation, request))
        message = to_message(response, result.data if isinstance(result, Reply) else result)
        return masked(message, request.read_mask) if operation.maskable else message

    return answer


def arguments_of(operation: Operation, request: Any) -> dict[str, Any]:
    """The fields that are set, and required ones: a number that is 0 cannot be told from none."""
    given = to_plain(request)
    fields = request.DESCRIPTOR.fields_by_name
    return {
        name: getattr(request, name) if _is_number(fields[name]) or name not in given else given[name]
        for name in operation.hints
        if name in fields and (name in given or name in operation.required)
    }


def _is_number(field: Any) -> bool:
    """JSON has no NaN and no 64-bit numbers."""
    return isinstance(field.default_value, int | float) and field.enum_type is None and not field.is_repeated


def masked(message: Any, mask: Any) -> Any:
    """Only the fields that a mask names; all of them without one."""
    if not mask.paths or "*" in mask.paths:
        return message
    if not mask.IsValidForDescriptor(message.DESCRIPTOR):
        raise invalid("INVALID_FORMAT", "read_mask names a field that does not exist.", "read_mask")
    made = type(message)()
    mask.MergeMessage(message, made)
    return made
