"""Which gRPC server to use, from the environment: the variables of MacosUseSDK, and two for the token;
default address and timeout, and when the token is not sent."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from toolcrib.bundled.desktop.grpc.options import is_loopback, read_token, split_address, token_file
from toolcrib.errors import UsageError

PREFIX = "MACOS_USE_SERVER_"
CHOOSING = (f"{PREFIX}ADDR", f"{PREFIX}SOCKET_PATH", f"{PREFIX}TLS")
DEFAULT_ADDRESS = "localhost:50051"
DEFAULT_TIMEOUT = 30.0
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)\s*s?")


def is_chosen(environment: Mapping[str, str] = os.environ) -> bool:
    return any(environment.get(name) for name in CHOOSING)


@dataclass(frozen=True)
class RemoteTarget:
    address: str
    """`HOST:PORT`, or `unix:PATH`."""
    tls: bool = False
    certificate: Path | None = None
    """The root certificate (PEM); None for those of the system."""
    timeout: float = DEFAULT_TIMEOUT
    """Seconds for one call."""
    token: str | None = field(default=None, repr=False)

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] = os.environ) -> RemoteTarget:
        def value(name: str) -> str:
            return environment.get(f"{PREFIX}{name}", "").strip()

        path = value("SOCKET_PATH")
        address = f"unix:{path}" if path else value("ADDR") or DEFAULT_ADDRESS
        certificate = value("CERT_FILE")
        return cls(
            address=address,
            tls=value("TLS").lower() in ("true", "1", "yes"),
            certificate=Path(certificate) if certificate else None,
            timeout=_seconds(environment.get("MACOS_USE_REQUEST_TIMEOUT", "")),
            token=_token(address, value("TOKEN"), value("TOKEN_FILE")),
        )

    @property
    def is_local(self) -> bool:
        return self.address.startswith("unix:") or is_loopback(split_address(self.address)[0])

    def check(self) -> None:
        """Raises `UsageError` with what is wrong."""
        if not self.is_local and self.token and not self.tls:
            raise UsageError(
                f"The token would be sent to {self.address} without encryption.",
                hint=f"Set {PREFIX}TLS=true.",
            )
        if self.certificate is not None and not self.certificate.is_file():
            raise UsageError(
                f"The certificate {self.certificate} does not exist.", hint=f"Change {PREFIX}CERT_FILE."
            )


def _token(address: str, token: str, file: str) -> str | None:
    """The given one; on this machine, that of our own server. It is never sent to another machine unasked."""
    if token:
        return token
    if file:
        return Path(file).read_text(encoding="ascii").strip() if Path(file).is_file() else None
    if address.startswith("unix:") or not is_loopback(address.rpartition(":")[0].strip("[]")):
        return None
    return read_token(token_file())


def _seconds(text: str) -> float:
    found = _SECONDS.fullmatch(text.strip())
    return float(found[1]) if found and float(found[1]) > 0 else DEFAULT_TIMEOUT
