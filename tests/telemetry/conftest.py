"""A collector on loopback, and servers that tell what they were sent."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.telemetry.collector import Collector, collecting

PROGRAM = Path(__file__).parent / "programs" / "telling.py"


@pytest.fixture(autouse=True)
def _no_telemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """Where everything is sent that is opened in this test."""
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        yield collector


@pytest.fixture
def telling(crib) -> Callable[..., None]:
    """Adds a server of either era that tells what it was sent."""

    def add(name: str, era: str = "modern") -> None:
        restart = {"firstDelay": 0.05, "longestDelay": 0.1}
        crib.entry(name, {"command": sys.executable, "args": [str(PROGRAM), era], "restart": restart})

    return add
