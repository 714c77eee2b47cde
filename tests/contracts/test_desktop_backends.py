"""What every desktop backend offers, and which one a system gets."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from toolcrib import plugins
from toolcrib.bundled.desktop.backends import backend_module, remote
from toolcrib.bundled.desktop.backends.remote.target import CHOOSING
from toolcrib.serverkit.context import ToolFailure

FOLDER = "toolcrib.bundled.desktop.backends"


@pytest.fixture(autouse=True)
def no_remote_desktop(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in CHOOSING:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", plugins.names(FOLDER))
def test_a_backend_says_where_it_works_and_what_is_missing(name: str) -> None:
    module: Any = plugins.find(FOLDER, name)

    assert isinstance(module.PLATFORM, str)
    assert all(problem.message and problem.hint for problem in module.probe(module.user_target()))
    assert inspect.iscoroutinefunction(module.open_backend)


def test_macos_is_driven_through_its_grpc_server() -> None:
    module = backend_module("darwin")

    assert module is remote
    assert module.user_target().address == "localhost:50051"


def test_a_system_without_a_backend_says_what_is_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ToolFailure, match="no backend for desktops of win32") as failure:
        backend_module("win32")
    assert "MACOS_USE_SERVER_ADDR" in failure.value.hint

    monkeypatch.setenv("MACOS_USE_SERVER_ADDR", "mac.example:50051")
    assert backend_module("win32") is remote
