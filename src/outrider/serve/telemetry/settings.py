"""Settings of telemetry."""

from pydantic import BaseModel, Field


class TelemetrySettings(BaseModel, extra="forbid", defer_build=True):
    """OpenTelemetry: off unless one is set. Needs the extra `telemetry`."""

    endpoint: str = Field(
        default="",
        description="Collector for traces over OTLP/HTTP, for instance http://collector:4318; "
        "headers, the service's name and sampling come from the usual OTEL_* variables",
    )
    metrics: str = Field(
        default="",
        pattern=r"^((\[[^\]\s]+\]|[^:\s]+):\d{1,5})?$",
        description="Address of Prometheus' /metrics, separate from MCP, for instance 127.0.0.1:9464; empty means none",
    )
