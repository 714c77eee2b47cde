"""A span and metrics for each call, and the states of servers, with OpenTelemetry's semantic conventions:
names, attributes, buckets of durations, most tools with metrics of their own.

Those for MCP are still in development: https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/.
Arguments, results and error messages are never included.
"""

from __future__ import annotations

from contextvars import Token
from typing import Final

from opentelemetry import context, trace
from opentelemetry.context import Context
from opentelemetry.metrics import Meter
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from toolcrib.errors import PeerError, ToolcribError
from toolcrib.schema.servers import ServerStatus
from toolcrib.schema.tools import Outcome, Principal, Tool
from toolcrib.telemetry.propagation import Trace, carried

METHOD: Final = "tools/call"
OPERATION: Final = "execute_tool"
MAX_TOOLS = 1000
"""The most tools with their own metrics; the rest share one, as a server may invent names without end."""
OTHER_TOOLS = "_OTHER"
SECONDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
"""The bucket boundaries of the conventions."""

Attributes = dict[str, str]
_propagator = TraceContextTextMapPropagator()


class Instruments:
    """The metrics and spans of a host."""

    def __init__(self, tracer: Tracer, meter: Meter) -> None:
        self._tracer = tracer
        self.duration = meter.create_histogram(
            "mcp.client.operation.duration",
            unit="s",
            description="Duration of tool calls.",
            explicit_bucket_boundaries_advisory=SECONDS,
        )
        self.in_flight = meter.create_up_down_counter(
            "toolcrib.calls.in_flight", unit="{call}", description="Calls in progress."
        )
        self._state = meter.create_gauge(
            "toolcrib.server.state", description="1 for the current state of a server, 0 for earlier states."
        )
        self._restarts = meter.create_counter(
            "toolcrib.server.restarts", unit="{restart}", description="Restarts after a failure."
        )
        self._known: set[str] = set()
        self._servers: dict[str, ServerStatus] = {}

    def began(self, tool: Tool, principal: Principal) -> CallSpan:
        """Start the span of a call."""
        return CallSpan(self, self._tracer, tool, principal)

    def server_changed(self, status: ServerStatus) -> None:
        before = self._servers.get(status.name)
        self._servers[status.name] = status
        if before is not None and before.state != status.state:
            self._state.set(0, _state(before))
        self._state.set(1, _state(status))
        more = status.restarts - (before.restarts if before is not None else 0)
        if more > 0:
            self._restarts.add(more, {"toolcrib.server": status.name})

    def server_removed(self, name: str) -> None:
        status = self._servers.pop(name, None)
        if status is not None:
            self._state.set(0, _state(status))

    def metric_name(self, tool: Tool) -> str:
        """The tool's name in metrics."""
        if tool.name not in self._known:
            if len(self._known) >= MAX_TOOLS:
                return OTHER_TOOLS
            self._known.add(tool.name)
        return tool.name


class CallSpan:
    """The span of one call: a child of the client's trace if given, and the parent for the server."""

    __slots__ = ("_attached", "_carrying", "_instruments", "_labels", "_span", "_tool")

    def __init__(self, instruments: Instruments, tracer: Tracer, tool: Tool, principal: Principal) -> None:
        self._instruments = instruments
        self._tool = tool
        self._labels = _labels(tool)
        given = carried.get()
        parent = _parent(given)
        kind = SpanKind.CLIENT if tool.origin == "mcp" else SpanKind.INTERNAL
        attributes = {**self._labels, "gen_ai.tool.name": tool.name, **_principal(principal)}
        name = METHOD if tool.origin == "mcp" else OPERATION
        self._span = tracer.start_span(f"{name} {tool.name}", parent, kind, attributes)
        self._attached = context.attach(trace.set_span_in_context(self._span, parent))
        self._carrying: Token[Trace | None] = carried.set(_own_trace(self._span, given))
        instruments.in_flight.add(1, self._labels)

    def ended(self, outcome: Outcome, ms: float, error: ToolcribError | None) -> None:
        carried.reset(self._carrying)
        context.detach(self._attached)
        labels = {**self._labels, "gen_ai.tool.name": self._instruments.metric_name(self._tool)}
        kind = _error_type(outcome, error)
        if kind is not None:
            labels["error.type"] = kind
            self._span.set_attribute("error.type", kind)
            # No description: an error message may quote arguments or results.
            self._span.set_status(StatusCode.ERROR)
        if isinstance(error, PeerError):
            self._span.set_attribute("rpc.response.status_code", str(error.code))
        self._span.end()
        self._instruments.in_flight.add(-1, self._labels)
        self._instruments.duration.record(ms / 1000, labels)


def _labels(tool: Tool) -> Attributes:
    labels = {"gen_ai.operation.name": OPERATION}
    if tool.origin == "mcp":
        labels["mcp.method.name"] = METHOD
    if tool.server is not None:
        labels["toolcrib.server"] = tool.server
    return labels


def _principal(principal: Principal) -> Attributes:
    session = {} if principal.session is None else {"mcp.session.id": principal.session}
    return {"toolcrib.principal": principal.name, **session}


def _parent(given: Trace | None) -> Context | None:
    """The client's span; None for the current one."""
    return None if given is None else _propagator.extract(given, context=context.get_current())


def _own_trace(span: Span, given: Trace | None) -> Trace | None:
    """The trace for the server: our span and the client's baggage; without a span, the client's trace."""
    if not span.get_span_context().is_valid:
        return given
    carrier: dict[str, str] = {}
    _propagator.inject(carrier, trace.set_span_in_context(span))
    if given is not None and "baggage" in given:
        carrier["baggage"] = given["baggage"]
    return carrier


def _error_type(outcome: Outcome, error: ToolcribError | None) -> str | None:
    if outcome == "ok":
        return None
    if isinstance(error, PeerError):
        return str(error.code)
    return outcome if error is None else error.kind


def _state(status: ServerStatus) -> Attributes:
    return {"toolcrib.server": status.name, "toolcrib.server.state": status.state.value}
