"""Every module of `features/clients/programs` describes one MCP client."""

from __future__ import annotations

import pytest

from toolcrib import plugins
from toolcrib.features.clients.files.client import CLIENTS, McpClient
from toolcrib.features.clients.transfer.dialect import EXPRESSIBLE
from toolcrib.servers.transport import TRANSPORTS


def test_what_files_of_clients_express_are_types_of_transports() -> None:
    assert set(EXPRESSIBLE) <= set(plugins.names(TRANSPORTS))


@pytest.mark.parametrize("name", plugins.names(CLIENTS))
def test_a_client_has_a_title_and_a_dialect_of_known_types(name: str) -> None:
    client = plugins.find(CLIENTS, name).client

    assert isinstance(client, McpClient)
    assert client.title
    assert {*client.dialect.types, *client.dialect.addresses.values()} <= set(EXPRESSIBLE)
