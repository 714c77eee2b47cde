"""Listens: the desktop, its operations, health checks and reflection on one address."""

from __future__ import annotations

import contextlib
import hmac
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
from grpc import aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from toolcrib.bundled.desktop.grpc.failures import RpcFailure
from toolcrib.bundled.desktop.grpc.options import ServeOptions, free_socket, split_address
from toolcrib.bundled.desktop.grpc.schema import OPERATIONS, SERVICE, pool
from toolcrib.bundled.desktop.grpc.served import ServedDesktop
from toolcrib.bundled.desktop.grpc.service import handlers
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.errors import UsageError

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


LARGEST_MESSAGE = 72 << 20
"""Bytes: the largest clipboard, and a little more."""
MOST_CALLS = 256
GRACE = 1.0
"""Seconds for calls to end when the server stops."""
SERVICES = (SERVICE, OPERATIONS)
CHANNEL_OPTIONS = (
    ("grpc.max_receive_message_length", LARGEST_MESSAGE),
    ("grpc.max_send_message_length", LARGEST_MESSAGE),
)


@contextlib.asynccontextmanager
async def serving(session: DesktopSession, options: ServeOptions, token: str | None) -> AsyncIterator[str]:
    """Listen for the block; yields the address, such as `127.0.0.1:50051` or `unix:/run/desktop.sock`."""
    desktop = ServedDesktop(session, options.stop_key)
    # Without the first option, two servers could share a port, and clients would reach either.
    server = aio.server(
        interceptors=[TokenCheck(token)] if token is not None else [],
        options=(("grpc.so_reuseport", 0), *CHANNEL_OPTIONS),
        maximum_concurrent_rpcs=MOST_CALLS,
    )
    server.add_generic_rpc_handlers(handlers(desktop))
    healthy = await _add_health(server)
    reflection.enable_server_reflection([*SERVICES, reflection.SERVICE_NAME], server, pool())
    try:
        address = _listen(server, options)
        await server.start()
        yield address
    finally:
        await healthy.enter_graceful_shutdown()
        await server.stop(GRACE)
        await desktop.close()
        if options.socket is not None:
            options.socket.unlink(missing_ok=True)


async def _add_health(server: Any) -> Any:
    healthy = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    for name in ("", *SERVICES):
        await healthy.set(name, health_pb2.HealthCheckResponse.SERVING)
    return healthy


def _listen(server: Any, options: ServeOptions) -> str:
    if options.socket is not None:
        return _listen_on_socket(server, options.socket)
    try:
        if options.certificate is not None and options.key is not None:
            port = server.add_secure_port(options.address, _credentials(options.certificate, options.key))
        else:
            port = server.add_insecure_port(options.address)
    except RuntimeError:
        raise UsageError(
            f"The address {options.address} cannot be used.",
            hint="Another program may listen there; choose another port with --address.",
        ) from None
    host, _ = split_address(options.address)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _listen_on_socket(server: Any, path: Path) -> str:
    free_socket(path)
    before = os.umask(0o177)  # from its first moment, only the user can connect
    try:
        server.add_insecure_port(f"unix:{path}")
    except RuntimeError:
        raise UsageError(f"The socket {path} cannot be made.", hint="Choose a shorter path.") from None
    finally:
        os.umask(before)
    return f"unix:{path}"


def _credentials(certificate: Path, key: Path) -> Any:
    try:
        return grpc.ssl_server_credentials([(key.read_bytes(), certificate.read_bytes())])
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be read: {error.strerror}.") from None
