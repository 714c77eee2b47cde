"""Errors on the wire: which status code, reason and message a client gets for each error of the desktop, as a
`google.rpc.ErrorInfo`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, NoReturn

import grpc
from google.rpc import error_details_pb2, status_pb2

from toolcrib.errors import ToolcribError, UsageError
from toolcrib.serverkit.context import ToolFailure

logger = logging.getLogger(__name__)

DOMAIN = "macosusesdk.com"
DETAILS_KEY = "grpc-status-details-bin"
MAX_MESSAGE = 2000
"""Characters; a status travels in headers, whose size is limited."""


class RpcFailure(Exception):
    """What a method answers instead of a result."""

    def __init__(
        self, code: grpc.StatusCode, reason: str, message: str, metadata: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message[:MAX_MESSAGE]
        self.metadata = dict(metadata or {})

    @property
    def status(self) -> Any:
        """As a `google.rpc.Status`."""
        made = status_pb2.Status(code=self.code.value[0], message=self.message)
        info = error_details_pb2.ErrorInfo(reason=self.reason, domain=DOMAIN, metadata=self.metadata)
        made.details.add().Pack(info)
        return made

    async def abort(self, context: Any) -> NoReturn:
        trailing = ((DETAILS_KEY, self.status.SerializeToString()),)
        await context.abort(self.code, self.message, trailing)
        raise AssertionError("unreachable: abort raises")


def invalid(reason: str, message: str, field: str = "") -> RpcFailure:
    return RpcFailure(grpc.StatusCode.INVALID_ARGUMENT, reason, message, {"field": field} if field else None)


def not_found(kind: str, name: str) -> RpcFailure:
    """`kind` such as `WINDOW`."""
    return RpcFailure(
        grpc.StatusCode.NOT_FOUND, f"{kind}_NOT_FOUND", f"There is no {name}.", {"resource": name}
    )


def unimplemented(method: str, why: str) -> RpcFailure:
    return RpcFailure(grpc.StatusCode.UNIMPLEMENTED, "UNIMPLEMENTED", f"{method}: {why}", {"method": method})


def to_failure(error: Exception) -> RpcFailure:
    """What a client is answered for an error of the desktop."""
    if isinstance(error, RpcFailure):
        return error
    if isinstance(error, TimeoutError):
        return RpcFailure(grpc.StatusCode.DEADLINE_EXCEEDED, "TIMEOUT", "The desktop did not answer in time.")
    if isinstance(error, ToolcribError):
        code, reason = _code_of(error)
        metadata = {"hint": error.hint[:MAX_MESSAGE]} if error.hint else {}
        return RpcFailure(code, reason, error.message, metadata)
    logger.error("a method failed", exc_info=error)
    return RpcFailure(
        grpc.StatusCode.INTERNAL, "INTERNAL", f"The server failed: {type(error).__name__}. See its log."
    )


def _code_of(error: ToolcribError) -> tuple[grpc.StatusCode, str]:
    if isinstance(error, UsageError):
        return grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FORMAT"
    if isinstance(error, ToolFailure):
        reason = error.reason or "ACCESSIBILITY_API_FAILED"
        return _code_of_reason(reason), reason
    return grpc.StatusCode.UNAVAILABLE, error.kind.upper()


def _code_of_reason(reason: str) -> grpc.StatusCode:
    if reason.endswith("_NOT_FOUND"):
        return grpc.StatusCode.NOT_FOUND
    if reason.startswith(("INVALID_", "EMPTY_", "MISSING_")) or reason == "OUT_OF_RANGE":
        return grpc.StatusCode.INVALID_ARGUMENT
    if reason.endswith("_EXISTS"):
        return grpc.StatusCode.ALREADY_EXISTS
    codes = {
        "UNIMPLEMENTED": grpc.StatusCode.UNIMPLEMENTED,
        "TIMEOUT": grpc.StatusCode.DEADLINE_EXCEEDED,
        "PERMISSION_DENIED": grpc.StatusCode.PERMISSION_DENIED,
    }
    return codes.get(reason, grpc.StatusCode.FAILED_PRECONDITION)
