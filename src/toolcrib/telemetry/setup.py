"""Enables telemetry if the environment asks for it (`OTEL_…` variables) and the packages are installed; else
imports nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolcrib.telemetry.instruments import Instruments

logger = logging.getLogger(__name__)

ENDPOINTS = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
)
EXPORTERS = ("OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER")
PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL"
INSTALL = "pip install 'toolcrib[otel]'"


def wanted(environ: Mapping[str, str]) -> bool:
    """Whether the standard variables set an endpoint or exporter."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    named = any(environ.get(name, "").strip() for name in ENDPOINTS)
    return named or any(environ.get(name, "").strip() == "otlp" for name in EXPORTERS)


def obstacle(environ: Mapping[str, str]) -> str | None:
    """Why telemetry cannot be sent; None if it can."""
    if environ.get(PROTOCOL, "http/protobuf").strip() not in ("", "http/protobuf"):
        return f"{PROTOCOL} must be http/protobuf."
    parts = ("opentelemetry", "opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
    if not all(_is_installed(part) for part in parts):
        return f"OpenTelemetry is not installed: {INSTALL}"
    return None


@asynccontextmanager
async def open_telemetry(environ: Mapping[str, str]) -> AsyncIterator[Instruments | None]:
    """The instruments while the block runs, or None; flushed at the end, within a time limit."""
    if not wanted(environ):
        yield None
        return
    reason = obstacle(environ)
    if reason is not None:
        logger.warning("no telemetry: %s", reason)
        yield None
        return
    from toolcrib.telemetry.exporters import Exporters

    exporters = await asyncio.to_thread(Exporters, environ)
    try:
        yield exporters.instruments
    finally:
        await exporters.close()


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
