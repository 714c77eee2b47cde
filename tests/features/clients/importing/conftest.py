"""A home that knows nothing yet, and the files of other hosts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolcrib.config.secret_detection import looks_secret
from toolcrib.features.clients.transfer.plan import KnownServers

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture
def fixture() -> Callable[[str], Path]:
    """A file as another host writes it."""
    return lambda name: FIXTURES / name


@pytest.fixture
def knowledge() -> Callable[..., KnownServers]:
    """What a home knows: its entries and its secrets."""

    def make(servers: dict[str, Any] | None = None, secrets: dict[str, str] | None = None) -> KnownServers:
        return KnownServers(servers=servers or {}, stored=(secrets or {}).get, looks_secret=looks_secret)

    return make
