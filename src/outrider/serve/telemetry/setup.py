"""Turns OpenTelemetry on for this process, and off again. Once a process: that is how its interface is made."""

import asyncio
import importlib
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from opentelemetry import metrics, trace
from prometheus_client import make_asgi_app

from outrider import __version__
from outrider.core.errors import NotConfigured
from outrider.serve.telemetry.settings import TelemetrySettings
from outrider.serve.uvicorn_server import serve_in_background

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource


@asynccontextmanager
async def run_telemetry(settings: TelemetrySettings) -> AsyncGenerator[str | None]:
    """Traces and metrics of what happens in the body; yields the address of `/metrics`, if it listens.

    What is recorded is sent off before the body is left. Raises NotConfigured without the extra `telemetry`, and when
    the port is taken.
    """
    install_hint = "pip install 'outrider[telemetry]', or leave telemetry.endpoint and telemetry.metrics_port unset"
    if not settings.endpoint and settings.metrics_port is None:
        yield None
        return
    try:
        resource = _build_resource(settings)
    except ImportError:
        raise NotConfigured("telemetry is on, and what it needs is not installed", hint=install_hint) from None
    async with AsyncExitStack() as stack:
        if settings.endpoint:
            stack.push_async_callback(asyncio.to_thread, _start_tracing(settings, resource))
        yield await stack.enter_async_context(_run_metrics(settings, resource))


def _build_resource(settings: TelemetrySettings) -> "Resource":
    from opentelemetry.sdk.resources import Resource

    return Resource.create({"service.name": settings.service, "service.version": __version__})


def _start_tracing(settings: TelemetrySettings, resource: "Resource") -> Any:
    """Begins to send traces; returns what sends the last of them."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import ParentBasedTraceIdRatio

    provider = TracerProvider(resource=resource, sampler=ParentBasedTraceIdRatio(settings.sample))
    address = f"{settings.endpoint.rstrip('/')}/v1/traces"
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(address, headers=_parse_headers(settings))))
    trace.set_tracer_provider(provider)
    return provider.shutdown


@asynccontextmanager
async def _run_metrics(settings: TelemetrySettings, resource: "Resource") -> AsyncGenerator[str | None]:
    if settings.metrics_port is None:
        yield None
        return
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], resource)
    metrics.set_meter_provider(provider)
    importlib.import_module("outrider.core.meters")  # what is counted without any call is there from the start
    try:
        async with _serve_metrics(settings, reader) as address:
            yield address
    finally:
        provider.shutdown()


@asynccontextmanager
async def _serve_metrics(settings: TelemetrySettings, reader: Any) -> AsyncGenerator[str]:
    """`/metrics` on a port of its own, which needs no door: operators choose who can reach it."""
    from outrider.serve.telemetry.prometheus import build_registry

    app = make_asgi_app(build_registry(reader))
    async with serve_in_background(
        app, settings.metrics_host, settings.metrics_port or 0, setting="telemetry.metrics_port"
    ) as address:
        yield f"{address}/metrics"


def _parse_headers(settings: TelemetrySettings) -> dict[str, str]:
    given: dict[str, str] = {}
    for each in settings.headers.get_secret_value().split(","):
        with suppress(ValueError):
            name, value = each.split("=", 1)
            given[name.strip().lower()] = value.strip()
    return given
