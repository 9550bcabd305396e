"""What the meters show, as Prometheus reads it.

OpenTelemetry's own exporter is a beta; what it does is this mapping (OpenTelemetry specification, "Prometheus and
OpenMetrics Compatibility").
"""

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from opentelemetry.sdk.metrics.export import (
    Gauge,
    Histogram,
    HistogramDataPoint,
    InMemoryMetricReader,
    Metric,
    NumberDataPoint,
    Sum,
)
from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

INVALID_NAME_CHARS = re.compile(r"[^a-zA-Z0-9_]+")
MetricFamily = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily


class MeterCollector(Collector):
    """Collects what a reader of OpenTelemetry's metrics holds.

    Args:
        reader: One that counts from the process's start, as all readers do unless told otherwise.
    """

    def __init__(self, reader: InMemoryMetricReader) -> None:
        self._reader = reader

    def collect(self) -> Iterator[MetricFamily]:
        data = self._reader.get_metrics_data()
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                yield from filter(None, map(to_metric_family, scope.metrics))


def build_registry(reader: InMemoryMetricReader) -> CollectorRegistry:
    """All that this process has to show: its meters, memory, CPU and garbage."""
    made = CollectorRegistry()
    for kind in (ProcessCollector, PlatformCollector, GCCollector):
        kind(registry=made)
    made.register(MeterCollector(reader))
    return made


def to_metric_family(metric: Metric) -> MetricFamily | None:
    """A meter as Prometheus' family; None for kinds that nobody here makes."""
    name, help_ = build_metric_name(metric), metric.description or metric.name
    labels = sorted({_sanitize_label(key) for point in metric.data.data_points for key in point.attributes or {}})
    match metric.data:
        case Histogram(data_points=points):
            shown: Any = HistogramMetricFamily(name, help_, labels=labels)
            for point in points:
                shown.add_metric(_collect_label_values(point, labels), _build_buckets(point), point.sum)
        case Sum(data_points=points, is_monotonic=True):
            shown = CounterMetricFamily(name, help_, labels=labels)
            for point in points:
                shown.add_metric(_collect_label_values(point, labels), point.value)
        case Sum(data_points=points) | Gauge(data_points=points):
            shown = GaugeMetricFamily(name, help_, labels=labels)
            for point in points:
                shown.add_metric(_collect_label_values(point, labels), point.value)
        case _:
            return None
    return shown


def build_metric_name(metric: Metric) -> str:
    """`outrider.tool.duration` in seconds is `outrider_tool_duration_seconds`."""
    unit_names = {"s": "seconds", "{token}": "tokens", "{character}": "characters", "{USD}": "usd"}
    unit = unit_names.get(metric.unit or "", "")
    name = INVALID_NAME_CHARS.sub("_", metric.name)
    return f"{name}_{unit}" if unit and not name.endswith(f"_{unit}") else name


def _sanitize_label(key: str) -> str:
    return INVALID_NAME_CHARS.sub("_", key)


def _collect_label_values(point: NumberDataPoint | HistogramDataPoint, labels: list[str]) -> list[str]:
    given = {_sanitize_label(key): str(value) for key, value in (point.attributes or {}).items()}
    return [given.get(label, "") for label in labels]


def _build_buckets(point: HistogramDataPoint) -> list[tuple[str, float]]:
    """Upper bounds with how many lie at or below them."""
    bounds = [*(f"{bound:g}" for bound in point.explicit_bounds), "+Inf"]
    return list(zip(bounds, map(float, accumulate(point.bucket_counts)), strict=True))
