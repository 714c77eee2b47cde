"""Finds an operation by name, checks what it was given, and runs it: the folder is the list."""

from __future__ import annotations

from typing import Any, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from toolcrib import plugins
from toolcrib.control.needs import Emit, Operation
from toolcrib.errors import NotFound, UsageError
from toolcrib.host import Host

OPERATIONS = "toolcrib.control.operations"


class OperationParams(BaseModel):
    """What an operation is told; nothing that it does not know is accepted."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def find_operation(name: str) -> Operation:
    """The operation of this name; raises `NotFound`."""
    if not name.isidentifier():
        raise NotFound(f"There is no operation {name[:80]!r}.")
    return cast("Operation", plugins.find(OPERATIONS, name))


def read_params(operation: Operation, params: object) -> BaseModel:
    """What the caller gave, checked; raises `UsageError` that names the field."""
    try:
        return operation.Params.model_validate({} if params is None else params)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "params"
        raise UsageError(f"{where}: {first['msg']}.") from None


async def perform(host: Host, name: str, params: object, emit: Emit) -> Any:
    """Run an operation on this host."""
    operation = find_operation(name)
    return await operation.run(host, read_params(operation, params), emit)
