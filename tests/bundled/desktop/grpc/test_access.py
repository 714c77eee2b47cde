"""Who may connect, and how the server ends."""

from __future__ import annotations

import concurrent.futures
import json
import socket
import stat
import subprocess
from pathlib import Path

import grpc
import pytest
from click.testing import CliRunner
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from tests.bundled.desktop.conftest import Programs, is_alive
from tests.bundled.desktop.grpc.certificates import make_certificate
from tests.bundled.desktop.grpc.conftest import Client, Failed, Served, Servers, until
from toolcrib.bundled.desktop.grpc.options import ServeOptions, free_socket
from toolcrib.bundled.desktop.grpc.schema import OPERATIONS, SERVICE, v1
from toolcrib.cli.entry import program
from toolcrib.errors import UsageError


def test_a_call_needs_the_token(served: Served, servers: Servers) -> None:
    for token in (None, "wrong", f"{served.token}x"):
        with pytest.raises(Failed) as refused:
            Client(served.address, token).ListWindows()
        assert refused.value.code == grpc.StatusCode.UNAUTHENTICATED
        assert refused.value.info.reason == "PERMISSION_DENIED"
    assert Client(served.address, served.token).ListDisplays().displays
    file = servers.home / "state" / "desktop-grpc.token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert served.token is not None
    assert len(served.token) >= 40


def test_health_checks_need_no_token_and_reflection_lists_the_services(served: Served) -> None:
    channel = grpc.insecure_channel(served.address)
    health = health_pb2_grpc.HealthStub(channel)
    for name in ("", SERVICE, OPERATIONS):
        answer = health.Check(health_pb2.HealthCheckRequest(service=name), timeout=20)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    with_token = grpc.intercept_channel(channel, _WithToken(served.token or ""))
    reflected = ProtoReflectionDescriptorDatabase(with_token)
    assert {SERVICE, OPERATIONS} <= set(reflected.get_services())
    assert reflected.FindFileContainingSymbol(SERVICE).package == "macosusesdk.v1"


class _WithToken(grpc.StreamStreamClientInterceptor):  # type: ignore[misc]
    def __init__(self, token: str) -> None:
        self._metadata = (("authorization", f"Bearer {token}"),)

    def intercept_stream_stream(self, continuation, details, requests):  # type: ignore[no-untyped-def]
        return continuation(details._replace(metadata=self._metadata), requests)


def test_a_unix_socket_is_for_the_user_alone(servers: Servers, tmp_path: Path) -> None:
    path = tmp_path / "desktop.sock"
    left_over = socket.socket(socket.AF_UNIX)
    left_over.bind(str(path))
    left_over.close()
    served = servers.start("--socket", str(path))
    assert (served.address, served.token) == (f"unix:{path}", None)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Client(served.address, None).ListDisplays().displays
    with pytest.raises(UsageError, match="Another server listens"):
        free_socket(path)
    assert served.end() == 0
    assert not path.exists()


def test_other_addresses_need_tls_and_a_token(served: Served, servers: Servers, tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    for options in (
        {"address": "0.0.0.0:50051"},
        {"address": "[::]:50051"},
        {"address": "192.168.1.2:50051", "token": False, "certificate": certificate, "key": key},
        {"address": "desktop.example:50051"},
        {"address": "127.0.0.1"},
        {"address": "127.0.0.1:50051", "key": key},
        {"socket": tmp_path / "s", "certificate": certificate, "key": key},
    ):
        with pytest.raises(UsageError) as refused:
            ServeOptions(**options)  # type: ignore[arg-type]
        assert refused.value.hint
    assert ServeOptions(address="0.0.0.0:50051", certificate=certificate, key=key).needs_token
    taken = servers.launch("--address", served.address)
    assert "choose another port" in taken.communicate(timeout=60)[1]
    assert taken.returncode == 2


@pytest.mark.acceptance
def test_a_stopped_server_ends_its_display_and_its_streams(servers: Servers, tmp_path: Path) -> None:
    served = servers.start("--no-token", "--address", "127.0.0.1:0", "--headless", "640x480")
    client = Client(served.address, None)
    assert client.CaptureScreenshot().width == 640
    client.finish(client.OpenApplication(id="xterm"))
    [application] = client.ListApplications().applications
    watch = client.WatchAccessibility(name=application.name)
    children = _children(served.process.pid)
    assert len(children) >= 4
    assert served.end() == 0
    with pytest.raises(grpc.RpcError):
        next(watch)
    until(lambda: not any(map(is_alive, [*children, application.pid])))


def _children(pid: int) -> list[int]:
    files = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(each) for file in files for each in file.read_text().split()]


def test_without_a_display_the_reason_and_the_way_out_are_said(servers: Servers) -> None:
    without = {name: value for name, value in servers.environment.items() if name != "DISPLAY"}
    done = subprocess.run(
        [*_words(servers), "--json"], env={**without, "WAYLAND_DISPLAY": ""}, capture_output=True, text=True
    )
    said = json.loads(done.stderr or done.stdout)
    assert done.returncode != 0
    assert "--headless" in json.dumps(said)


def test_help_says_what_the_options_mean() -> None:
    shown = CliRunner().invoke(program(), ["desktop", "serve", "--help"]).output
    for option in ("--grpc", "--address", "--socket", "--headless", "--no-token", "--tls-cert", "--stop-key"):
        assert option in shown
    assert "serve" in CliRunner().invoke(program(), ["desktop"]).output


def _words(servers: Servers) -> list[str]:
    process = servers.started[0]
    assert isinstance(process.args, list)
    words = [str(word) for word in process.args]
    return words[: words.index("--grpc") + 1]


def test_the_stop_key_ends_input_until_a_restart(servers: Servers, programs: Programs) -> None:
    served = servers.start("--address", "127.0.0.1:0", "--stop-key", "ctrl+alt+k")
    client = Client(served.address, served.token)
    process = programs.start("zenity", "--entry", "--title=Stop")
    field = client.find(process.pid, role="textbox")
    parent = f"applications/{process.pid}"
    typed = v1.InputAction(type_text=v1.TextInput(text="slowly" * 5, char_delay=0.5))
    client.CreateInput(parent=parent, input=v1.Input(action=v1.InputAction(press_key=v1.KeyPress(key="a"))))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        typing = pool.submit(client.CreateInput, parent=parent, input=v1.Input(action=typed))
        name = f"{parent}/elements/{field.element_id}"
        until(lambda: len(client.GetElement(name=name).text) > 2)
        subprocess.run(
            ["xdotool", "key", "--clearmodifiers", "ctrl+alt+k"], env=servers.environment, check=True
        )
        with pytest.raises(Failed) as stopped:
            typing.result(timeout=30)
    assert stopped.value.info.reason == "INPUT_STOPPED"
    assert len(client.GetElement(name=name).text) < 30
    with pytest.raises(Failed, match="stopped all input"):
        client.ClickElement(parent=parent, element_id=field.element_id)
    assert served.end() == 0
