"""Calls of a gRPC server from any event loop, each with a deadline; errors become `ToolFailure`, with hints
such as starting the server or the token file. Also the largest message."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from pathlib import Path
from typing import Any

import grpc
from google.rpc import error_details_pb2, status_pb2

from toolcrib.bundled.desktop.backend import ClickRefused
from toolcrib.bundled.desktop.backends.remote.target import RemoteTarget
from toolcrib.bundled.desktop.grpc.failures import DETAILS_KEY
from toolcrib.bundled.desktop.grpc.records import to_message
from toolcrib.bundled.desktop.grpc.schema import OPERATIONS, SERVICE, message_class, service
from toolcrib.serverkit.context import ToolFailure

LARGEST_MESSAGE = 72 << 20
MAX_MESSAGE = 2000
OPTIONS = (
    ("grpc.max_receive_message_length", LARGEST_MESSAGE),
    ("grpc.max_send_message_length", LARGEST_MESSAGE),
    # A server that was restarted is used at once, instead of after up to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.enable_http_proxy", 0),
)


class RemoteFailure(ToolFailure):
    """The server answered with an error, or not at all."""

    kind = "remote_desktop"

    def __init__(self, message: str, hint: str = "", code: Any = None) -> None:
        super().__init__(message, hint)
        self.code = code


class GrpcConnection:
    """The channel connects by itself, when it is used and again after a loss."""

    def __init__(self, target: RemoteTarget) -> None:
        self._target = target
        self._channel = _open(target)
        self._methods: dict[str, tuple[Any, Any]] = {}
        self._metadata = (("authorization", f"Bearer {target.token}"),) if target.token else ()

    async def call(self, method: str, *, within: float | None = None, **fields: Any) -> Any:
        """The response of a method such as `GetWindow`; raises `RemoteFailure` or `ClickRefused`.

        The fields of the request are plain data, as in `to_message`; `within` is in seconds.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        seconds = within or self._target.timeout
        request, send = self._method(method)
        call = send.future(to_message(request, fields), timeout=seconds, metadata=self._metadata)

        def done(finished: Any) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(_settle, answer, finished)

        call.add_done_callback(done)
        try:
            return await answer
        except grpc.RpcError as error:
            raise self._failure(error, method, seconds) from None
        finally:
            call.cancel()

    @property
    def timeout(self) -> float:
        """Seconds for a call, unless it names its own."""
        return self._target.timeout

    def close(self) -> None:
        self._channel.close()

    def _method(self, name: str) -> tuple[Any, Any]:
        """The class of its request, and what sends one."""
        if name not in self._methods:
            owner = OPERATIONS if name.endswith("Operation") else SERVICE
            descriptor = service(owner).methods_by_name[name]
            request = message_class(descriptor.input_type)
            self._methods[name] = (
                request,
                self._channel.unary_unary(
                    f"/{owner}/{name}",
                    request_serializer=request.SerializeToString,
                    response_deserializer=message_class(descriptor.output_type).FromString,
                ),
            )
        return self._methods[name]

    def _failure(self, error: Any, method: str, seconds: float) -> ToolFailure:
        code, said = error.code(), (error.details() or "")[:MAX_MESSAGE]
        address = self._target.address
        if code == grpc.StatusCode.UNAVAILABLE:
            return RemoteFailure(
                f"The desktop server at {address} does not answer: {said[:300]}",
                "Start it with `toolcrib desktop serve --grpc`, or check MACOS_USE_SERVER_ADDR and "
                "MACOS_USE_SERVER_TLS.",
                code,
            )
        if code == grpc.StatusCode.DEADLINE_EXCEEDED and not _info(error).reason:
            return RemoteFailure(
                f"The desktop server at {address} did not answer {method} within {seconds:g} s.",
                "Try again, or raise MACOS_USE_REQUEST_TIMEOUT.",
                code,
            )
        if code == grpc.StatusCode.UNAUTHENTICATED:
            return RemoteFailure(
                f"The desktop server at {address} requires a token.",
                "Set MACOS_USE_SERVER_TOKEN_FILE to the file that the server names when it starts.",
                code,
            )
        return status_failure(code, said, _info(error))


def status_failure(code: Any, said: str, info: Any) -> ToolFailure:
    """The error of a call or an operation."""
    hint = info.metadata.get("hint", "")[:MAX_MESSAGE]
    if info.reason == "CLICK_REFUSED":
        return ClickRefused(said, hint)
    if code == grpc.StatusCode.UNIMPLEMENTED:
        return RemoteFailure(f"The desktop server cannot do this. {said}", hint, code)
    return RemoteFailure(said or f"The desktop server failed: {code}.", hint, code)


def operation_failure(status: Any) -> ToolFailure:
    """The error of a finished operation."""
    codes = {code.value[0]: code for code in grpc.StatusCode}
    return status_failure(codes.get(status.code), status.message[:MAX_MESSAGE], _unpacked(status))


def _settle(answer: asyncio.Future[Any], finished: Any) -> None:
    if answer.done():
        return
    try:
        answer.set_result(finished.result())
    except grpc.FutureCancelledError:
        answer.cancel()
    except Exception as error:  # noqa: BLE001 - it belongs to the caller that waits
        answer.set_exception(error)


def _info(error: Any) -> Any:
    trailing = dict(error.trailing_metadata() or ())
    return _unpacked(status_pb2.Status.FromString(trailing.get(DETAILS_KEY, b"")))


def _unpacked(status: Any) -> Any:
    info = error_details_pb2.ErrorInfo()
    for detail in status.details:
        if detail.Unpack(info):
            break
    return info


def _open(target: RemoteTarget) -> Any:
    if not target.tls:
        return grpc.insecure_channel(target.address, OPTIONS)
    return grpc.secure_channel(target.address, grpc.ssl_channel_credentials(_roots(target)), OPTIONS)


def _roots(target: RemoteTarget) -> bytes | None:
    file = target.certificate or Path(ssl.get_default_verify_paths().cafile or "/nonexistent")
    return file.read_bytes() if file.is_file() else None
