"""A collector as others run it: takes OTLP over HTTP on loopback and keeps what it was sent, decoded."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

DEADLINE = 60.0


class Collector(ThreadingHTTPServer):
    """Everything that arrived."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.arrived = threading.Condition()
        self.resources: list[dict[str, Any]] = []
        self.spans: list[Any] = []
        self.metrics: list[Any] = []
        self.bodies: list[bytes] = []

    @property
    def url(self) -> str:
        """What goes into OTEL_EXPORTER_OTLP_ENDPOINT."""
        return f"http://127.0.0.1:{self.server_port}"

    def take(self, path: str, body: bytes) -> None:
        """Keep one export."""
        with self.arrived:
            self.bodies.append(body)
            if path == "/v1/traces":
                for group in ExportTraceServiceRequest.FromString(body).resource_spans:
                    self.resources.append(plain(group.resource.attributes))
                    self.spans += [span for scope in group.scope_spans for span in scope.spans]
            else:
                for group in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                    self.metrics += [metric for scope in group.scope_metrics for metric in scope.metrics]
            self.arrived.notify_all()

    def span(self, name: str) -> Any:
        """The only span of this name, once it has arrived."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: any(span.name == name for span in self.spans), DEADLINE)
            (found,) = [span for span in self.spans if span.name == name]
            return found

    def points(self, name: str) -> list[tuple[dict[str, Any], Any]]:
        """The data points of a metric, each with its attributes, as they were last sent."""
        latest = [metric for metric in self.metrics if metric.name == name][-1]
        data = getattr(latest, latest.WhichOneof("data"))
        return [(plain(point.attributes), point) for point in data.data_points]


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.take(self.path, body)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Quiet."""


def plain(attributes: Any) -> dict[str, Any]:
    """Attributes as a dict."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector for as long as the block runs."""
    collector = Collector()
    thread = threading.Thread(target=collector.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        collector.shutdown()
        collector.server_close()
        thread.join(DEADLINE)
