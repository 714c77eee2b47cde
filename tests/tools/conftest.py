from __future__ import annotations

import pytest
from tests.tools.connector import Connector


@pytest.fixture
def connector() -> Connector:
    """A door with an empty inline server behind it."""
    return Connector()
