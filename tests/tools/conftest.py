from __future__ import annotations

import pytest

from tests.tools.workshop import Workshop


@pytest.fixture
def workshop() -> Workshop:
    """A door with an empty inline server behind it."""
    return Workshop()
