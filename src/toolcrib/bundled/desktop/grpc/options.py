"""Where the gRPC server listens and who may connect; loopback and a token unless the user says otherwise. Has
the default address, the token file, and the errors for unsafe settings (TLS, Unix socket)."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import secrets
import socket
import stat
from dataclasses import dataclass
from pathlib import Path

from toolcrib.bundled.desktop.consent.stop import DEFAULT_STOP_KEY
from toolcrib.config.paths import find_paths, make_private
from toolcrib.errors import UsageError

DEFAULT_ADDRESS = "127.0.0.1:50051"


@dataclass(frozen=True)
class ServeOptions:
    """What `toolcrib desktop serve` was asked for; raises `UsageError` if that would not be safe."""

    address: str = DEFAULT_ADDRESS
    socket: Path | None = None
    """A Unix socket instead of the address."""
    headless: tuple[int, int] | None = None
    scripts: Path | None = None
    """The folder in which scripts run; None if they are not allowed."""
    stop_key: str = DEFAULT_STOP_KEY
    """Stops all input on the user's display; empty for none."""
    token: bool = True
    """Require a token on the address; a Unix socket is for the user alone anyway."""
    certificate: Path | None = None
    key: Path | None = None

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise UsageError(
                "TLS needs both a certificate and its key.", hint="Give --tls-cert and --tls-key."
            )
        if self.socket is not None:
            if self.certificate is not None:
                raise UsageError("A Unix socket uses no TLS.", hint="Leave out --tls-cert and --tls-key.")
            return
        host, _ = split_address(self.address)
        if not is_loopback(host) and (self.certificate is None or not self.token):
            raise UsageError(
                f"{host} can be reached from other machines, so it needs TLS and a token.",
                hint="Give --tls-cert and --tls-key without --no-token, or listen on 127.0.0.1.",
            )

    @property
    def needs_token(self) -> bool:
        return self.token and self.socket is None


def split_address(address: str) -> tuple[str, int]:
    """The host and the port of `HOST:PORT`; an IPv6 address is in brackets."""
    host, _, port = address.strip().rpartition(":")
    if not host or not port.isascii() or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"{address!r} is not an address.", hint=f"Such as {DEFAULT_ADDRESS}.")
    return host.removeprefix("[").removesuffix("]"), int(port)


def is_loopback(host: str) -> bool:
    """Other names are not looked up: what they mean can change."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def token_file(home: Path | None = None) -> Path:
    """Where the token of this home's servers is."""
    return find_paths(home).state / "desktop-grpc.token"


def read_token(file: Path) -> str | None:
    """The token that a server on this machine requires; None if none has been made."""
    try:
        return file.read_text(encoding="ascii").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def ensure_token(file: Path) -> str:
    """The token, made if necessary, in a file that only the user can read."""
    make_private(file.parent)
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as stream:
            stream.write(secrets.token_urlsafe(32))
    file.chmod(0o600)
    token = read_token(file)
    if token is None:
        raise UsageError(f"{file} is empty.", hint="Remove it; a new token is made at the next start.")
    return token


def free_socket(path: Path) -> None:
    """Remove a socket that no server uses any more; raises `UsageError` for anything else at this place."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise UsageError(f"{path} exists and is not a socket.", hint="Choose another path.")
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(2)
        try:
            client.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise UsageError(f"Another server listens on {path}.", hint="Choose another path.")
