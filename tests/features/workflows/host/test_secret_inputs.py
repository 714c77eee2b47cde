"""Secret inputs of workflows in a host: no value in its databases, files, questions, records and backups."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.conftest import Crib
from tests.features.workflows.host.workflow_sample import chain, in_state, opened, run, shown, tool

VALUE = 'hunter2-"Qx-9'
MARK = "Qx-9"
INPUTS = {"pw": {"secret": True}, "pin": {"type": "integer", "secret": True}}
GIVEN = {"pw": VALUE, "pin": 97531864}


def on_disk(home: Path) -> Iterator[bytes]:
    """All files of a home but the secrets."""
    for file in home.rglob("*"):
        if file.is_file() and file.name != "secrets.json":
            yield file.read_bytes()


def in_database(url: str) -> str:
    """Every row of every table."""
    listed = (
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema NOT IN (%s, %s)"
    )
    with psycopg.connect(url) as connection:
        tables = connection.execute(listed, ("pg_catalog", "information_schema")).fetchall()
        rows = [
            connection.execute(f'SELECT each::text FROM "{schema}"."{table}" each'.encode()).fetchall()
            for schema, table in tables
        ]
    return str(rows)


@pytest.mark.parametrize("shared", [False, True])
async def test_a_secret_input_is_nowhere_in_clear(crib: Crib, postgres_url: str, shared: bool) -> None:
    crib.setting(**({"database": postgres_url} if shared else {}))
    say = tool("box__echo", text="key {{input.pw}} {{input.pin}}")
    outputs = {"said": "{{say.text}}", "pin": "{{input.pin}}"}
    workflow = chain("secret", {"say": say}, outputs, inputs=INPUTS)

    async with opened(crib) as host:
        started = await run(host, "workflow_run", workflow=workflow, inputs=GIVEN, detach=True)
        await shown(host, started["run"], in_state("waiting"))
        (question,) = await run(host, "approvals")
        asked = [json.dumps(question), *map(str, on_disk(crib.home)), in_database(postgres_url)]
        await run(host, "approval_answer", id=question["id"], allow=True, scope="always")
        ended = await shown(host, started["run"], in_state("finished"))
        told = [
            json.dumps(await run(host, operation, **given))
            for operation, given in (
                ("workflow_show", {"run": "last", "definition": True}),
                ("workflow_step", {"run": "last", "step": "say"}),
                ("workflow_runs", {}),
                ("audit", {}),
                ("policy_list", {}),
            )
        ]

    assert "•••• (input pw)" in question["arguments"]["text"]
    assert "•••• (input pin)" in question["arguments"]["text"]
    assert question["scopes"] == ["once"]
    assert ended["outputs"]["pin"] == "•••"
    after = [*asked, *told, json.dumps(ended), *map(str, on_disk(crib.home)), in_database(postgres_url)]
    assert [text[:200] for text in after if MARK in text or "97531864" in text] == []


async def test_a_stored_secret_that_no_server_uses_is_masked_in_call_records(crib: Crib) -> None:
    crib.setting(approvals={"modes": {"cli": "off", "default": "off"}})
    async with opened(crib) as host:
        await run(host, "secret_set", name="unused", value="Sw0rdfish-Qx")
    async with opened(crib) as host:
        await run(host, "call", tool="box__echo", arguments={"text": "it is Sw0rdfish-Qx"})
        told = json.dumps(await run(host, "audit"))

    assert "box__echo" in told
    assert "Sw0rdfish" not in told
