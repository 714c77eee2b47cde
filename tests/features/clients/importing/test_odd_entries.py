"""Whatever stands in a file, it becomes a server or is refused with a reason; nothing else happens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolcrib.config.entries import parse_entry
from toolcrib.errors import ConfigError
from toolcrib.features.clients.files.client import client_names, find_client
from toolcrib.features.clients.transfer.dialect import ImportContext, Inexpressible, NotAServer
from toolcrib.features.clients.transfer.sources import read_words
from toolcrib.features.clients.transfer.translation import read_entry, write_entry

SPECIAL = [
    "env_vars",
    "http_headers",
    "env_http_headers",
    "bearer_token_env_var",
    "env_keys",
    "source",
    "path",
    "ours",
]
TEXTS = st.sampled_from(
    ["x", "", "${A}", "${env:A}", "$A", "${input:k}", "${secret:s}", "http://h/p", "stdio", "sse"]
)
SCALARS = st.none() | st.booleans() | st.integers(-5, 10**6) | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
LONG = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("host", client_names())
@LONG
@given(data=st.data())
def test_an_entry_of_a_host_is_a_server_or_is_refused(host: str, data: st.DataObject) -> None:
    client = find_client(host)
    keys = st.sampled_from([*sorted(client.dialect.keys()), *SPECIAL])
    raw = data.draw(st.dictionaries(keys, VALUES, max_size=6))
    try:
        draft = read_entry(host, client.dialect, "a", raw, ImportContext())
    except NotAServer:
        return
    parse_entry("a", draft.entry)
    try:
        written = write_entry(host, client.title, client.dialect, "a", draft.entry)
    except Inexpressible:
        return
    assert "ours" not in written.entry
    json.dumps(written.entry)


@LONG
@given(
    data=st.dictionaries(st.sampled_from(["name", "server", "packages", "remotes", "user_config"]), VALUES)
)
def test_a_document_is_a_server_or_is_refused(data: dict[str, Any]) -> None:
    manifest = {
        "server": {"mcp_config": data.get("server")},
        **{k: v for k, v in data.items() if k != "server"},
    }
    for document in (data, manifest):
        try:
            reading = read_words(json.dumps(document), Path("/x.json"))
        except ConfigError:
            continue
        assert len(reading.drafts) <= 1
