"""Rows that were not written by Toolcrib: whatever format a row names, nothing in it is run."""

from __future__ import annotations

import asyncio
import base64
import json
import pickle
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dbos
import pytest
import pytest_asyncio
import sqlalchemy as sa
from dbos import DBOS

from tests.databases.postgres import running_postgres
from tests.features.workflows.engine.conftest import DEADLINE, OPTIONS, Bench
from tests.features.workflows.engine.sample_services import SampleServices
from tests.features.workflows.engine.sample_workflows import chain, workflow
from toolcrib.config.database_key import Signer
from toolcrib.features.workflows.engine import dbos_internals
from toolcrib.features.workflows.engine.dbos_internals import GENERAL, SystemSchema
from toolcrib.features.workflows.engine.documents import insert_run, root_document
from toolcrib.features.workflows.engine.opening import APPLICATION, ENGINE_VERSION, open_engine
from toolcrib.features.workflows.engine.serializer import RefusedValue
from toolcrib.features.workflows.engine.tables import events, waits
from toolcrib.graph.node_type import UserAnswer

pytestmark = pytest.mark.asyncio(loop_scope="module")

SERIALIZED = {
    "workflow_status",
    "operation_outputs",
    "notifications",
    "workflow_events",
    "workflow_events_history",
    "streams",
}
"""The tables whose rows name the format of their values; `workflow_input` and `_output` follow the status."""
ASK = workflow({"ask": {"type": "AskUser", "settings": {"message": "Well?"}}}, [])


@dataclass
class Payload:
    """A pickled object that creates a file when it is read."""

    file: Path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.file,)

    def text(self, **around: Any) -> str:
        return base64.b64encode(pickle.dumps({**around, "payload": self})).decode()


@pytest_asyncio.fixture(loop_scope="module", scope="module", params=["sqlite", "postgres"])
async def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Bench]:
    folder: Path = tmp_path_factory.mktemp("formats")
    services, changed = SampleServices(folder / "calls"), asyncio.Event()

    async def opened(url: str | None) -> AsyncIterator[Bench]:
        async with open_engine(
            folder / "home",
            services,
            url=url,
            signer=Signer.new(),
            options=OPTIONS,
            on_change=lambda run, step: changed.set(),
        ) as engine:
            yield Bench(engine, services, changed)

    if request.param == "sqlite":
        async for bench in opened(None):
            yield bench
    else:
        with running_postgres() as server:
            async for bench in opened(server.url()):
                yield bench


@pytest.fixture
def payload(tmp_path: Path) -> Payload:
    return Payload(tmp_path / "created")


async def insert(bench: Bench, table: str, **values: Any) -> None:
    into = SystemSchema.metadata_obj.tables[f"{dbos_internals.SCHEMA_PLACEHOLDER}.{table}"]
    await bench.engine.database.run(lambda connection: connection.execute(sa.insert(into).values(**values)))


async def enqueue(bench: Bench, run: str, inputs: str, serialization: str | None, **columns: Any) -> None:
    """A queued run as anyone with the database could write it."""
    now = int(time.time() * 1000)
    await insert_run(bench.engine.database, run, "forged", time.time())
    await insert(bench, "workflow_input", workflow_uuid=run, inputs=inputs, retention_timestamp=now)
    values = {
        "workflow_uuid": run,
        "status": "ENQUEUED",
        "name": "toolcrib_run",
        "application_version": ENGINE_VERSION,
        "queue_name": GENERAL,
        "priority": 0,
        "created_at": now,
        "updated_at": now,
        "recovery_attempts": 0,
        "serialization": serialization,
        "application_name": APPLICATION,
    }
    await insert(bench, "workflow_status", **{**values, **columns})


async def test_a_pickled_run_fails_and_others_go_on(shared: Bench, payload: Payload) -> None:
    await shared.finished(chain(1), queued=True)  # the queue is worked on
    await enqueue(shared, f"evil-{payload.file.parent.name}", payload.text(args=(), kwargs={}), "py_pickle")

    record = await shared.ended(f"evil-{payload.file.parent.name}")

    assert (record.state, record.error and record.error["kind"]) == ("failed", "refused_value")
    assert "pickled" in str(record.error)
    assert (await shared.finished(chain(2), queued=True)).outputs == {"total": 2}
    assert not payload.file.exists()


@pytest.mark.parametrize("name", ["py_jsonpickle", "py_dill", "", "PY_PICKLE", None])
async def test_other_formats_are_no_way_around(shared: Bench, payload: Payload, name: str | None) -> None:
    run = f"other-{payload.file.parent.name}-{name}"
    await enqueue(shared, run, payload.text(args=(), kwargs={}), name)

    assert (await shared.ended(run)).state == "failed"
    assert not payload.file.exists()


async def test_a_pickled_step_fails_its_run(shared: Bench, payload: Payload) -> None:
    run = f"step-{payload.file.parent.name}"
    now = int(time.time() * 1000)
    for number in (1, 2):
        await insert(
            shared,
            "operation_outputs",
            workflow_uuid=run,
            function_id=number,
            function_name="n0",
            output=payload.text(),
            serialization="py_pickle",
            retention_timestamp=now,
        )

    record = await shared.finished(chain(1), run_id=run)

    assert (record.state, record.error and record.error["kind"]) == ("failed", "refused_value")
    assert await shared.engine.steps(run) is not None
    assert not payload.file.exists()


async def test_no_table_is_read_with_pickle(shared: Bench, payload: Payload) -> None:
    """Also by those functions of DBOS that the engine does not use today."""
    run, now = f"all-{payload.file.parent.name}", int(time.time() * 1000)
    await shared.engine.start(ASK, run_id=run)
    await shared.until(run, "waiting")
    pickled = {"serialization": "py_pickle"}
    text = payload.text(args=(), kwargs={})
    await insert(shared, "workflow_events", workflow_uuid=run, key="k", value=text, **pickled)
    history = {"workflow_uuid": run, "key": "k", "value": text, "function_id": 9}
    await insert(shared, "workflow_events_history", **history, **pickled)
    stream = {"workflow_uuid": run, "key": "k", "value": text, "offset": 0, "function_id": 9}
    await insert(shared, "streams", **stream, **pickled)
    note = {"destination_uuid": run, "topic": "t", "message": text, "message_uuid": run}
    await insert(shared, "notifications", **note, created_at_epoch_ms=now, consumed=False, **pickled)
    await enqueue(shared, f"{run}-over", text, "py_pickle", status="SUCCESS")
    over = {"workflow_uuid": f"{run}-over", "output": text, "error": text, "retention_timestamp": now}
    await insert(shared, "workflow_output", **over)

    with pytest.raises(RefusedValue, match="pickled"):
        await DBOS.get_event_async(run, "k", 1.0)
    with pytest.raises(RefusedValue, match="pickled"):
        await DBOS.get_all_events_async(run)
    with pytest.raises(RefusedValue, match="pickled"):
        _ = [value async for value in DBOS.read_stream_async(run, "k")]
    with pytest.raises(RefusedValue, match="pickled"):
        await (await DBOS.retrieve_workflow_async(f"{run}-over")).get_result()
    await DBOS.list_workflows_async(workflow_ids=[run, f"{run}-over"], load_input=True, load_output=True)
    system = dbos_internals._get_dbos_instance()._sys_db
    with pytest.raises(RefusedValue, match="pickled"):
        await asyncio.to_thread(system.recv, run, 50, 51, "t", 1.0)
    with suppress(RefusedValue):
        await asyncio.wait_for(shared.engine.steps(run), DEADLINE)

    assert not payload.file.exists()
    await shared.engine.cancel(run)


async def test_a_run_that_no_host_started_is_refused(shared: Bench, tmp_path: Path) -> None:
    forged, copied = f"forged-{tmp_path.name}", f"copied-{tmp_path.name}"
    document = root_document(chain(1), {}, run=forged, started="2030-01-01T00:00:00+00:00")
    inputs = json.dumps({"args": [document], "kwargs": {}})
    await enqueue(shared, forged, inputs, "toolcrib_json")
    original = (await shared.finished(chain(1))).run
    await enqueue(shared, copied, await stored(shared, "workflow_input", "inputs", original), "toolcrib_json")

    for run in (forged, copied):
        record = await shared.ended(run)
        assert (record.state, record.error and record.error["kind"]) == ("failed", "refused_value")
        assert shared.calls(run) == []
        with pytest.raises(RefusedValue, match="signature"):
            await shared.engine.rerun(run)
    assert [step.state for step in await shared.engine.steps(original)] == ["done"]


async def test_a_step_of_another_run_or_place_is_refused(shared: Bench, tmp_path: Path) -> None:
    original = (await shared.finished(chain(2))).run
    run, now = f"swapped-{tmp_path.name}", int(time.time() * 1000)
    output = await stored(shared, "operation_outputs", "output", original)
    for number in (1, 2):
        step = {"workflow_uuid": run, "function_id": number, "function_name": f"n{number - 1}"}
        await insert(
            shared,
            "operation_outputs",
            **step,
            output=output,
            serialization="toolcrib_json",
            retention_timestamp=now,
        )

    record = await shared.finished(chain(2), run_id=run)

    assert (record.state, record.error and record.error["kind"]) == ("failed", "refused_value")
    assert shared.calls(run) == []


async def test_an_answer_that_no_host_stored_is_refused(shared: Bench, tmp_path: Path) -> None:
    run, other = f"asked-{tmp_path.name}", f"answered-{tmp_path.name}"
    for name in (run, other):
        await shared.engine.start(ASK, run_id=name)
        await shared.until(name, "waiting")
    (question,) = await shared.engine.questions(other)
    await shared.engine.answer(other, "ask", UserAnswer(choice=question.choices[0]))
    assert (await shared.ended(other)).state == "finished"
    answer = sa.select(waits.c.answer).where(waits.c.run == other)
    replay = sa.update(waits).where(waits.c.run == run).values(answer=answer.scalar_subquery())
    await shared.engine.database.run(lambda connection: connection.execute(replay))

    record = await shared.ended(run)

    assert (record.state, record.error and record.error["kind"]) == ("failed", "refused_value")


async def test_a_changed_question_is_not_shown(shared: Bench, tmp_path: Path) -> None:
    run = f"shown-{tmp_path.name}"
    await shared.engine.start(ASK, run_id=run)
    await shared.until(run, "waiting")
    content = sa.func.replace(waits.c.content, "Well?", "Hello?")
    change = sa.update(waits).where(waits.c.run == run).values(content=content)
    await shared.engine.database.run(lambda connection: connection.execute(change))

    assert await shared.engine.questions(run) == []
    await shared.engine.cancel(run)


async def test_an_event_that_no_host_stored_is_refused(shared: Bench, tmp_path: Path) -> None:
    event = {"type": "Wait", "settings": {"event": "go"}}
    run = f"event-{tmp_path.name}"
    await shared.engine.start(workflow({"signal": event}, []), run_id=run)
    values = {"run": run, "name": "go", "data": "{}", "sent": time.time(), "source": ""}
    await shared.engine.database.run(lambda connection: connection.execute(events.insert().values(values)))

    record = await shared.ended(run)

    assert (record.state, record.error and record.error["kind"]) == ("failed", "refused_value")


async def stored(bench: Bench, table: str, column: str, run: str) -> str:
    source = SystemSchema.metadata_obj.tables[f"{dbos_internals.SCHEMA_PLACEHOLDER}.{table}"]
    query = sa.select(source.c[column]).where(source.c.workflow_uuid == run).limit(1)
    return str(await bench.engine.database.run(lambda connection: connection.execute(query).scalar()))


async def test_dbos_has_no_format_that_is_not_known_here() -> None:
    """After an upgrade of DBOS: another serializer or table must be looked at before it is used."""
    folder = Path(dbos.__file__).parent
    reading = ("pickle", "dill", "marshal", "shelve", "eval(", "exec(", "yaml.load", "yaml.unsafe")
    users = {
        file.name: [word for word in reading if word in text]
        for file in folder.glob("*.py")
        if any(word in (text := _without_comments(file)) for word in reading)
    }
    formats = {
        kind.__name__ for kind in dbos.Serializer.__subclasses__() if kind.__module__.startswith("dbos")
    }
    tables = {table.name for table in SystemSchema.metadata_obj.sorted_tables if "serialization" in table.c}

    assert users == {"_serialization.py": ["pickle"]}
    assert formats == {"DefaultSerializer", "DBOSPortableJSONSerializer"}
    assert tables == SERIALIZED
    assert not hasattr(dbos_internals._serialization.pickle, "loads")


def _without_comments(file: Path) -> str:
    return "\n".join(line.partition("#")[0] for line in file.read_text().splitlines())


async def test_only_the_workflow_of_graphs_can_be_started_by_a_row() -> None:
    from dbos._dbos import _get_or_create_dbos_registry

    registry = _get_or_create_dbos_registry()

    assert set(registry.workflow_info_map) == {"toolcrib_run"}
    assert not registry.class_info_map
    assert not registry.instance_info_map
