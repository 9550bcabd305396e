"""Settings of telemetry."""

from pydantic import BaseModel, Field, SecretStr


class TelemetrySettings(BaseModel, extra="forbid", defer_build=True):
    """OpenTelemetry: off unless `endpoint` or `metrics_port` is set. Needs the extra `telemetry`."""

    endpoint: str = Field(
        default="",
        description="Collector for traces over OTLP/HTTP, for instance http://collector:4318; "
        "the usual OTEL_* variables apply as well",
    )
    headers: SecretStr = Field(
        default=SecretStr(""), description="Headers for the collector, as name=value,name=value; a secret"
    )
    sample: float = Field(default=1.0, ge=0, le=1, description="Share of traces that are recorded, 0 to 1")
    service: str = Field(default="outrider", max_length=200, description="Name under which this process reports")
    metrics_host: str = Field(default="127.0.0.1", description="Address on which /metrics listens")
    metrics_port: int | None = Field(
        default=None, ge=0, le=65535, description="Port for Prometheus' /metrics, not that of MCP; unset means none"
    )
