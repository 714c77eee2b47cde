"""Telemetry is there when it is asked for and installed, and costs nothing else."""

from __future__ import annotations

import logging
import os
import subprocess
import sys

import pytest

from toolcrib.config.paths import find_paths
from toolcrib.operations.checks.telemetry import check
from toolcrib.operations.health import CheckContext
from toolcrib.telemetry.setup import obstacle, open_telemetry, wanted

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}
PROGRAM = """
import asyncio, sys, toolcrib
async def main():
    async with toolcrib.open_host(sys.argv[1], only=["demo"]) as host:
        await host.ready()
        await host.call("demo__add", {"a": 1, "b": 2})
    print(*[name for name in sys.modules if name.startswith(("opentelemetry.sdk", "opentelemetry.exporter"))])
asyncio.run(main())
"""


EMBEDDED = """
import asyncio, sys, toolcrib
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
mine = InMemorySpanExporter()
trace.set_tracer_provider(TracerProvider())
trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(mine))
async def main():
    async with toolcrib.open_host(sys.argv[1], only=["demo"]) as host:
        await host.ready()
        with trace.get_tracer("app").start_as_current_span("question"):
            await host.call("demo__add", {"a": 1, "b": 2})
    call, question = mine.get_finished_spans()
    print(call.name, call.parent.span_id == question.context.span_id)
asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, False),
        (ENDPOINT, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, True),
        ({"OTEL_METRICS_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "none"}, False),
        ({**ENDPOINT, "OTEL_SDK_DISABLED": "True"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, False),
        ({"OTEL_SERVICE_NAME": "crib"}, False),
    ],
)
def test_the_usual_variables_turn_it_on(environ: dict[str, str], expected: bool) -> None:
    assert wanted(environ) is expected


async def test_without_the_variables_nothing_of_it_is_loaded(tmp_path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, timeout=60
    )

    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


async def test_a_program_with_tracing_of_its_own_finds_our_spans_in_it(tmp_path) -> None:
    environ = {**os.environ, "OTEL_TRACES_EXPORTER": "otlp", "OTEL_METRICS_EXPORTER": "none"}
    done = subprocess.run(
        [sys.executable, "-c", EMBEDDED, str(tmp_path)],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.stdout.strip() == "tools/call demo__add True", done.stderr


async def test_where_it_is_not_installed_the_host_says_how_to_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)

    with caplog.at_level(logging.WARNING):
        async with open_telemetry(ENDPOINT) as instruments:
            assert instruments is None

    assert "toolcrib[otel]" in caplog.text


def test_a_protocol_that_is_not_spoken_is_an_obstacle() -> None:
    assert "http/protobuf" in (obstacle({**ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}) or "")


async def test_the_doctor_says_when_it_is_asked_for_and_cannot_be_sent(
    tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = find_paths(tmp_path)

    (off,) = await check(CheckContext(paths=paths, environ={}))
    (on,) = await check(CheckContext(paths=paths, environ=ENDPOINT))
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    (missing,) = await check(CheckContext(paths=paths, environ=ENDPOINT))

    assert [off.verdict, on.verdict, missing.verdict] == ["ok", "ok", "warning"]
    assert "toolcrib[otel]" in missing.hint
