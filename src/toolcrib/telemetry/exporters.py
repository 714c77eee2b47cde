"""Exports traces and metrics over OTLP/HTTP, in threads of the SDK, which reads its own variables. Decides
how long closing waits until the rest is sent.

If the embedding program has set up OpenTelemetry, its providers are used unchanged.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping

from opentelemetry import metrics, trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from toolcrib.telemetry.instruments import Instruments
from toolcrib.version import __version__

logger = logging.getLogger(__name__)

CLOSE_TIMEOUT = 3.0
"""Seconds to send the rest at the end; a hanging collector does not block the exit."""


class Exporters:
    """The providers of one host."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._closers: list[Callable[[], object]] = []
        resource = Resource.create({SERVICE_NAME: _service(environ), SERVICE_VERSION: __version__})
        self.instruments = Instruments(
            self._tracing(environ, resource).get_tracer("toolcrib", __version__),
            self._metering(environ, resource).get_meter("toolcrib", __version__),
        )

    def _tracing(self, environ: Mapping[str, str], resource: Resource) -> trace.TracerProvider:
        theirs = trace.get_tracer_provider()
        if isinstance(theirs, TracerProvider):
            return theirs
        if _is_off(environ, "OTEL_TRACES_EXPORTER"):
            return trace.NoOpTracerProvider()
        ours = TracerProvider(resource=resource, shutdown_on_exit=False)
        ours.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._closers.append(ours.shutdown)
        return ours

    def _metering(self, environ: Mapping[str, str], resource: Resource) -> metrics.MeterProvider:
        theirs = metrics.get_meter_provider()
        if isinstance(theirs, MeterProvider):
            return theirs
        if _is_off(environ, "OTEL_METRICS_EXPORTER"):
            return metrics.NoOpMeterProvider()
        reader = PeriodicExportingMetricReader(OTLPMetricExporter())
        ours = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        self._closers.append(ours.shutdown)
        return ours

    async def close(self) -> None:
        """Flush traces and metrics in parallel, and stop."""
        done = [threading.Event() for _ in self._closers]
        for closer, event in zip(self._closers, done, strict=True):
            # Daemon threads: unlike the loop's threads, these do not block the exit.
            threading.Thread(target=_close, args=(closer, event), daemon=True).start()
        deadline = asyncio.get_running_loop().time() + CLOSE_TIMEOUT
        while not all(event.is_set() for event in done):
            if asyncio.get_running_loop().time() > deadline:
                logger.warning("some telemetry was not sent", extra={"seconds": CLOSE_TIMEOUT})
                return
            await asyncio.sleep(0.01)


def _close(closer: Callable[[], object], done: threading.Event) -> None:
    try:
        closer()
    finally:
        done.set()


def _service(environ: Mapping[str, str]) -> str:
    return environ.get("OTEL_SERVICE_NAME", "").strip() or "toolcrib"


def _is_off(environ: Mapping[str, str], variable: str) -> bool:
    return environ.get(variable, "").strip().lower() == "none"
