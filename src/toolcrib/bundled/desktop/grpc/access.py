"""Lets in only calls with the token in their metadata: `authorization: Bearer …`."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
from grpc import aio

from toolcrib.bundled.desktop.grpc.failures import RpcFailure

OPEN = "/grpc.health.v1.Health/"
"""Says nothing but whether the server runs."""


class TokenCheck(aio.ServerInterceptor):  # type: ignore[misc]
    def __init__(self, token: str) -> None:
        self._expected = f"Bearer {token}".encode()

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: Any
    ) -> Any:
        if handler_call_details.method.startswith(OPEN) or self._is_known(handler_call_details):
            return await continuation(handler_call_details)
        return grpc.unary_unary_rpc_method_handler(_refuse)

    def _is_known(self, details: Any) -> bool:
        given = dict(details.invocation_metadata).get("authorization", "")
        text = given if isinstance(given, bytes) else given.encode("utf-8", "replace")
        return hmac.compare_digest(text, self._expected)


async def _refuse(request: Any, context: Any) -> None:
    refusal = RpcFailure(
        grpc.StatusCode.UNAUTHENTICATED,
        "PERMISSION_DENIED",
        "The call has no valid token. Send the metadata `authorization: Bearer TOKEN`, or start the server "
        "with --no-token.",
    )
    await refusal.abort(context)
