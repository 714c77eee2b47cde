"""What went wrong with a remote server, in words: each kind of failure is its own error and sentence.

Addresses are shown by their origin alone; many servers are reached by a path that holds a key.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

import httpx2

from toolcrib.errors import AuthRequired, ConnectionLost, PeerError, RemoteUnreachable, ToolcribError

INVALID_REQUEST = -32600


def request_error(server: str, url: httpx2.URL, error: httpx2.RequestError) -> ToolcribError:
    """The error for a request that got no response at all."""
    if isinstance(error, httpx2.TimeoutException):
        return RemoteUnreachable(
            f"{server} did not answer at {_origin(url)}: the connection timed out.",
            hint="Check that the host is up and that no firewall is in the way.",
        )
    if isinstance(error, httpx2.ProxyError):
        return RemoteUnreachable(
            f"The proxy on the way to {server} refused: {_reason(error)}",
            hint="Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.",
        )
    if isinstance(error, httpx2.ConnectError | httpx2.UnsupportedProtocol):
        return _connect_error(server, _origin(url), error)
    return ConnectionLost(
        f"The connection to {server} broke before it answered.",
        hint=f"{_reason(error)} The call may or may not have taken effect.",
    )


def cut_off_error(server: str, error: Exception) -> ConnectionLost:
    """The error for a response that stopped in the middle."""
    return ConnectionLost(
        f"The connection to {server} was cut in the middle of an answer.",
        hint=f"{_reason(error)} The call may or may not have taken effect.",
    )


def refusal_error(server: str, url: httpx2.URL, response: httpx2.Response, said: str) -> ToolcribError:
    """The error for a status that refuses a request; `said` is the reason the server gave."""
    status = response.status_code
    because = f": {said}" if said else ""
    if status in (401, 403):
        return _auth_error(server, response, because)
    if status >= 500 or status in (408, 425, 429):
        wait = response.headers.get("retry-after", "")
        return RemoteUnreachable(
            f"{server} cannot answer now (HTTP {status}{because}).",
            hint=f"It asks to wait {wait} s." if wait.isdigit() else "It is tried again by itself.",
        )
    return PeerError(
        f"{server} refused the request (HTTP {status}{because}).",
        code=INVALID_REQUEST,
        data={"status": status},
        hint=f"Check the path of {_origin(url)}, and whether the type (http or sse) is right.",
    )


def _auth_error(server: str, response: httpx2.Response, because: str) -> AuthRequired:
    challenge = response.headers.get("www-authenticate", "")
    what = "wants a sign-in" if response.status_code == 401 else "does not allow this"
    hint = f"Sign in with `toolcrib login {server}`, or set its Authorization header."
    return AuthRequired(
        f"{server} {what} (HTTP {response.status_code}{because}).",
        hint=f"{hint} It says: {challenge}" if challenge else hint,
    )


def _connect_error(server: str, address: str, error: httpx2.RequestError) -> RemoteUnreachable:
    for cause in _causes(error):
        if isinstance(cause, socket.gaierror):
            return RemoteUnreachable(
                f"{server} cannot be found: the host name of {address} does not resolve.",
                hint="Check the spelling of the url, and the network.",
            )
        if isinstance(cause, ssl.SSLError):
            return RemoteUnreachable(
                f"No secure connection to {server} at {address}: {_reason(cause)}",
                hint="Check the certificate; `verify` can name the file of your own authority.",
            )
        if isinstance(cause, ConnectionRefusedError):
            return RemoteUnreachable(
                f"{server} is not running at {address}: the connection was refused.",
                hint="Start the server, or check the port in its url.",
            )
    return RemoteUnreachable(
        f"{server} cannot be reached at {address}: {_reason(error)}", hint="Check the url and the network."
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what lies under it; the pool drops causes, but errors carry them as an argument too."""
    yield error
    below = [error.__cause__] if error.__cause__ is not None else [*error.args[:1]]
    if isinstance(error, BaseExceptionGroup):  # one attempt for each address of the host
        below = list(error.exceptions)
    for cause in below:
        if isinstance(cause, BaseException):
            yield from _causes(cause)


def _reason(error: BaseException) -> str:
    return f"{str(error) or type(error).__name__}."


def _origin(url: httpx2.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode()}"
