"""Serves the desktop, its operations, health checks and reflection on one address. Limits: longest call,
largest message, most calls at once. Errors for missing fields and invalid tokens.

Most methods of the wire format are made from the table of operations: a request becomes the arguments, the
result a response. Streams and long-running operations are in `methods`, where a method is a coroutine called
like the RPC in snake case, or an async generator for a stream.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import importlib
import os
import pkgutil
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import grpc
from grpc import aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from toolcrib.bundled.desktop.grpc import methods
from toolcrib.bundled.desktop.grpc.failures import RpcFailure, invalid, to_failure, unimplemented
from toolcrib.bundled.desktop.grpc.messages import selector_value
from toolcrib.bundled.desktop.grpc.options import ServeOptions, free_socket, split_address
from toolcrib.bundled.desktop.grpc.records import to_message, to_plain
from toolcrib.bundled.desktop.grpc.schema import (
    OPERATIONS,
    SERVICE,
    is_required,
    message_class,
    pool,
    service,
)
from toolcrib.bundled.desktop.grpc.served import ServedDesktop
from toolcrib.bundled.desktop.grpc.stopping import Stopping
from toolcrib.bundled.desktop.grpc.targets import read_selector
from toolcrib.bundled.desktop.operations.table import DesktopOperation, Reply, groups
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.errors import UsageError

OPEN = "/grpc.health.v1.Health/"
"""Says nothing but whether the server runs."""


def method_of(
    operation: DesktopOperation, descriptor: Any, desktop: ServedDesktop
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


def arguments_of(operation: DesktopOperation, request: Any) -> dict[str, Any]:
    """The fields that are set, and required ones: a number that is 0 cannot be told from none."""
    given = to_plain(request)
    if "selector" in given:
        read_selector(request.selector)
        given["selector"] = selector_value(request.selector)
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


LONGEST_CALL = 300.0
"""Seconds; streams and operations may take longer."""
Method = Callable[[Any], Any]


_TABLE = {operation.rpc: operation for group in groups().values() for operation in group}


def handlers(desktop: ServedDesktop) -> list[Any]:
    """The generic handlers of both services."""
    return [
        _handler(SERVICE, by_hand(desktop), desktop),
        _handler(OPERATIONS, [desktop.operations], desktop),
    ]


def by_hand(desktop: ServedDesktop) -> list[object]:
    """The methods that are not made from the table."""
    names = [found.name for found in pkgutil.iter_modules(methods.__path__)]
    modules = [importlib.import_module(f"{methods.__name__}.{name}") for name in names]
    return [module.offer_methods(desktop) for module in modules]


def _handler(name: str, written: Sequence[object], desktop: ServedDesktop) -> Any:
    made = {method.name: _method_handler(method, written, desktop) for method in service(name).methods}
    return grpc.method_handlers_generic_handler(name, made)


def _method_handler(descriptor: Any, written: Sequence[object], desktop: ServedDesktop) -> Any:
    name = snake_case(descriptor.name)
    found = next((getattr(group, name) for group in written if hasattr(group, name)), None)
    operation = _TABLE.get(descriptor.name)
    if found is None and operation is not None:
        found = method_of(operation, descriptor, desktop)
        found = _stoppable(found, desktop.stopping) if operation.traits.acts else found
    method = _missing(descriptor) if found is None else _checked(found, descriptor.server_streaming)
    forms = {
        "request_deserializer": message_class(descriptor.input_type).FromString,
        "response_serializer": message_class(descriptor.output_type).SerializeToString,
    }
    if descriptor.server_streaming:
        return grpc.unary_stream_rpc_method_handler(_streamed(method), **forms)
    return grpc.unary_unary_rpc_method_handler(_answered(method), **forms)


def _answered(method: Method) -> Callable[[Any, Any], Any]:
    async def answer(request: Any, context: Any) -> Any:
        try:
            async with asyncio.timeout(LONGEST_CALL):
                return await method(request)
        except Exception as error:  # noqa: BLE001 - the edge of the server: every error becomes a status
            return await to_failure(error).abort(context)

    return answer


def _streamed(method: Method) -> Callable[[Any, Any], AsyncIterator[Any]]:
    async def stream(request: Any, context: Any) -> AsyncIterator[Any]:
        try:
            async for message in method(request):
                yield message
        except Exception as error:  # noqa: BLE001 - the edge of the server: every error becomes a status
            await to_failure(error).abort(context)

    return stream


def _checked(method: Method, is_stream: bool) -> Method:
    def stream(request: Any) -> Any:
        check_required(request)
        return method(request)

    async def answer(request: Any) -> Any:
        check_required(request)
        return await method(request)

    return stream if is_stream else answer


def _stoppable(method: Method, stopping: Stopping) -> Method:
    async def act(request: Any) -> Any:
        return await stopping.run(method(request))

    return act


def _missing(descriptor: Any) -> Method:
    refusal = unimplemented(descriptor.name, methods.MISSING[descriptor.name])

    async def refuse(request: Any) -> Any:
        raise refusal

    async def refuse_stream(request: Any) -> AsyncIterator[Any]:
        raise refusal
        yield

    return refuse_stream if descriptor.server_streaming else refuse


def check_required(request: Any) -> None:
    """Refuse a request without a field it needs; an empty parent means all applications."""
    for field in request.DESCRIPTOR.fields:
        if field.name == "parent" or not is_required(field) or _is_given(request, field):
            continue
        if field.name in ("name", "window"):
            raise invalid("MISSING_RESOURCE_NAME_FIELD", f"{field.name} is empty.", field.name)
        raise invalid("EMPTY_FIELD", f"{field.name} is missing.", field.name)


def _is_given(request: Any, field: Any) -> bool:
    """Numbers are always given: 0 cannot be told from nothing."""
    if field.is_repeated:
        return bool(getattr(request, field.name))
    if field.message_type is not None:
        return bool(request.HasField(field.name))
    value = getattr(request, field.name)
    return bool(value) if isinstance(value, str | bytes) or field.enum_type is not None else True


def snake_case(name: str) -> str:
    """`GetWindowState` → `get_window_state`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


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
