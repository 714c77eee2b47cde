"""Every module of `features/clients/transfer/formats` recognises only its own documents."""

from __future__ import annotations

from typing import cast

import pytest

from toolcrib import plugins
from toolcrib.features.clients.transfer.sources import FORMATS, Format


@pytest.mark.parametrize("name", plugins.names(FORMATS))
def test_a_format_has_a_title_and_leaves_other_documents_alone(name: str) -> None:
    found = cast("Format", plugins.find(FORMATS, name))

    assert found.title
    for other in ({}, {"mcpServers": {}}, {"name": "x"}, {"version": "1.0.0"}):
        assert found.matches(other) is False
    assert callable(found.read)
