"""Run OpenTelemetry for this process, which its API allows only once."""

import asyncio
import importlib
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from opentelemetry import metrics, trace
from prometheus_client import make_asgi_app

from outrider import __version__
from outrider.core.errors import NotConfigured
from outrider.core.installation import suggest_extra
from outrider.serve.telemetry.settings import TelemetrySettings
from outrider.serve.uvicorn_server import serve_in_background

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource


@asynccontextmanager
async def run_telemetry(settings: TelemetrySettings) -> AsyncGenerator[str | None]:
    """Record traces and metrics while the block runs; yield the address of `/metrics`, if it is served.

    All traces are sent before the block ends. Raises NotConfigured without the extra `telemetry`, or if the port is
    taken.
    """
    if not settings.endpoint and not settings.metrics:
        yield None
        return
    try:
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    except ImportError:
        hint = f"{suggest_extra('telemetry')}, or leave telemetry.endpoint and telemetry.metrics unset"
        raise NotConfigured("telemetry is on, but its packages are not installed", hint=hint) from None
    resource = Resource.create({"service.name": "outrider", "service.version": __version__})
    resource = resource.merge(OTELResourceDetector().detect())  # OTEL_SERVICE_NAME wins
    async with AsyncExitStack() as stack:
        if settings.endpoint:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor

            provider = TracerProvider(resource=resource)
            address = f"{settings.endpoint.rstrip('/')}/v1/traces"
            provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(address)))
            trace.set_tracer_provider(provider)
            stack.push_async_callback(asyncio.to_thread, provider.shutdown)  # sends the last ones
        yield await stack.enter_async_context(_run_metrics(settings, resource))


@asynccontextmanager
async def _run_metrics(settings: TelemetrySettings, resource: "Resource") -> AsyncGenerator[str | None]:
    if not settings.metrics:
        yield None
        return
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], resource)
    metrics.set_meter_provider(provider)
    importlib.import_module("outrider.core.metrics")  # some metrics exist before the first call
    try:
        async with _serve_metrics(settings, reader) as address:
            yield address
    finally:
        provider.shutdown()


@asynccontextmanager
async def _serve_metrics(settings: TelemetrySettings, reader: Any) -> AsyncGenerator[str]:
    """Serve `/metrics` on a separate port without authentication; operators choose who can reach it."""
    from outrider.serve.telemetry.prometheus import build_registry

    app = make_asgi_app(build_registry(reader))
    host, _, port = settings.metrics.rpartition(":")
    async with serve_in_background(app, host.strip("[]"), int(port), setting="telemetry.metrics") as address:
        yield f"{address}/metrics"
