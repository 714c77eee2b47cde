"""Real counterparts on loopback: dovecot for IMAP, and an SMTP server that keeps what it receives."""

from __future__ import annotations

import asyncio
import contextlib
import email.policy
import grp
import os
import pwd
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

PASSWORD = "correct-horse"
START_DEADLINE = 20.0


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@dataclass(frozen=True)
class Certificate:
    """Self-signed for localhost."""

    file: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key)
        return context


def make_certificate(folder: Path) -> Certificate:
    made = Certificate(folder / "cert.pem", folder / "key.pem")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-keyout", str(made.key), "-out", str(made.file), "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )
    return made


@dataclass
class Dovecot:
    """Accepts any user with the one password; a user's mail is a Maildir in `mail`."""

    folder: Path
    port: int
    tls_port: int
    certificate: Certificate
    capability: str = ""
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        program = shutil.which("dovecot", path=f"{os.environ['PATH']}:/usr/sbin")
        assert program, "The tests of mail need dovecot: run scripts/test-needs.sh"
        config = self.folder / "dovecot.conf"
        config.write_text(self._config())
        self.process = subprocess.Popen([program, "-F", "-c", str(config)])
        deadline = time.monotonic() + START_DEADLINE
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as probe:
                if probe.recv(100).startswith(b"* OK"):
                    return
            assert self.process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.02)
        raise AssertionError("dovecot did not start: " + (self.folder / "log").read_text())

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(10)

    def maildir(self, user: str) -> Path:
        return self.folder / "mail" / user / "Maildir"

    def own(self, path: Path) -> None:
        """Give files that a test wrote to the user that dovecot reads mail as."""
        if os.getuid() == 0:
            user = pwd.getpwnam("mail")
            for each in [path, *path.rglob("*")]:
                os.chown(each, user.pw_uid, user.pw_gid)

    def _config(self) -> str:
        root = os.getuid() == 0
        user = "mail" if root else pwd.getpwuid(os.getuid()).pw_name
        group = "mail" if root else grp.getgrgid(os.getgid()).gr_name
        mail = self.folder / "mail"
        mail.mkdir(exist_ok=True)
        self.own(mail)
        internal = "" if root else f"default_internal_user = {user}\ndefault_login_user = {user}\n"
        internal += "" if root else f"default_internal_group = {group}\n"
        return f"""
{internal}
base_dir = {self.folder}/run
state_dir = {self.folder}/state
log_path = {self.folder}/log
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <{self.certificate.file}
ssl_key = <{self.certificate.key}
disable_plaintext_auth = no
auth_mechanisms = plain login
mail_location = maildir:~/Maildir
mail_max_userip_connections = 100
first_valid_uid = 1
first_valid_gid = 1
mail_plugins = quota
{self.capability}
protocol imap {{
  mail_plugins = quota imap_quota
}}
plugin {{
  quota = maildir:User quota
  quota_rule = *:storage=2G
  quota_rule2 = Full:storage=+0
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {self.port}
  }}
  inet_listener imaps {{
    port = {self.tls_port}
  }}
}}
auth_failure_delay = 0 secs
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
passdb {{
  driver = static
  args = password={PASSWORD}
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={mail}/%u
}}
namespace inbox {{
  inbox = yes
  separator = /
  mailbox Sent {{
    auto = create
    special_use = \\Sent
  }}
  mailbox Drafts {{
    auto = create
    special_use = \\Drafts
  }}
  mailbox Trash {{
    auto = create
    special_use = \\Trash
  }}
  mailbox Junk {{
    auto = create
    special_use = \\Junk
  }}
}}
"""


@contextmanager
def running_dovecot(capability: str = "") -> Iterator[Dovecot]:
    folder = Path(tempfile.mkdtemp(prefix="tc-dovecot-", dir="/tmp"))
    folder.chmod(0o755)
    made = Dovecot(folder, free_port(), free_port(), make_certificate(folder), capability)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def relay(
    port: int, cut: Callable[[bytes], bool] = lambda data: False, change: Callable[[bytes], bytes] = bytes
) -> Iterator[tuple[int, list[int]]]:
    """Passes connections on to a port, and ends one whose client sends what `cut` accepts.

    `change` gets what a client sends, and returns what the server receives.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    cuts: list[int] = []

    def pump(source: socket.socket, target: socket.socket, watch: bool) -> None:
        try:
            while data := source.recv(65536):
                if watch and cut(data):
                    cuts.append(1)
                    break
                target.sendall(change(data) if watch else data)
        except OSError:
            pass
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", port))
            threading.Thread(target=pump, args=(client, server, True), daemon=True).start()
            threading.Thread(target=pump, args=(server, client, False), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield int(listener.getsockname()[1]), cuts
    finally:
        listener.close()


@dataclass
class Received:
    sender: str
    recipients: list[str]
    data: bytes

    @property
    def message(self) -> EmailMessage:
        found = message_from_bytes(self.data.replace(b"\r\n", b"\n"), policy=email.policy.default)
        assert isinstance(found, EmailMessage)
        return found


@dataclass
class Sink:
    """An SMTP server. Recipients that start with `no-` are refused, those with `full-` are over quota."""

    port: int
    received: list[Received] = field(default_factory=list)
    signed_in: list[str] = field(default_factory=list)
    reply_to_data: str = "250 OK"
    drop_after_data: bool = False
    on_data: Callable[[], None] = lambda: None
    """Called before a message is accepted."""
    controller: Controller | None = None

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address.startswith("no-"):
            return "550 5.1.1 No such user"
        if address.startswith("full-"):
            return "552 5.2.2 Mailbox full"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        await asyncio.to_thread(self.on_data)
        if self.drop_after_data:
            server.transport.abort()
            await asyncio.sleep(0)
        if self.reply_to_data.startswith("2"):
            content = envelope.content
            assert isinstance(content, bytes)
            self.received.append(Received(str(envelope.mail_from), list(envelope.rcpt_tos), content))
        return self.reply_to_data

    def authenticate(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any
    ) -> Any:
        right = isinstance(data, LoginPassword) and data.password == PASSWORD.encode()
        if right:
            self.signed_in.append(data.login.decode())
        return AuthResult(
            success=right, handled=right, message=None if right else "535 5.7.8 Bad credentials"
        )


@contextmanager
def running_sink(
    mode: str = "plain", certificate: Certificate | None = None, **options: Any
) -> Iterator[Sink]:
    sink = Sink(free_port())
    options.setdefault("data_size_limit", 100_000_000)
    tls = certificate.context() if certificate else None
    sink.controller = Controller(
        sink,
        hostname="127.0.0.1",
        port=sink.port,
        ssl_context=tls if mode == "tls" else None,
        tls_context=tls if mode == "starttls" else None,
        require_starttls=mode == "starttls",
        auth_require_tls=mode == "starttls",
        authenticator=sink.authenticate,
        auth_required=True,
        enable_SMTPUTF8=options.pop("utf8", True),
        **options,
    )
    sink.controller.start()
    try:
        yield sink
    finally:
        sink.controller.stop()


__all__ = ["PASSWORD", "Dovecot", "Received", "Sink", "free_port", "relay", "running_dovecot", "running_sink"]
