"""Map OpenTelemetry metrics to Prometheus.

OpenTelemetry's own exporter is a beta; this is its mapping (OpenTelemetry specification, "Prometheus and OpenMetrics
Compatibility").
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
    """Collects the metrics of an OpenTelemetry reader.

    Args:
        reader: A reader that counts from the process's start, which is the default.
    """

    def __init__(self, reader: InMemoryMetricReader) -> None:
        self._reader = reader

    def collect(self) -> Iterator[MetricFamily]:
        data = self._reader.get_metrics_data()
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                yield from filter(None, map(to_metric_family, scope.metrics))


def build_registry(reader: InMemoryMetricReader) -> CollectorRegistry:
    """Build a registry of the process's meters, memory, CPU and garbage collection."""
    registry = CollectorRegistry()
    for collector in (ProcessCollector, PlatformCollector, GCCollector):
        collector(registry=registry)
    registry.register(MeterCollector(reader))
    return registry


def to_metric_family(metric: Metric) -> MetricFamily | None:
    """Convert a metric to a Prometheus family; return None for kinds that are not used here."""
    name, help_ = build_metric_name(metric), metric.description or metric.name
    labels = sorted({_sanitize_label(key) for point in metric.data.data_points for key in point.attributes or {}})
    match metric.data:
        case Histogram(data_points=points):
            family: Any = HistogramMetricFamily(name, help_, labels=labels)
            for point in points:
                # Prometheus counts the values at or below each bound.
                bounds = [*(f"{bound:g}" for bound in point.explicit_bounds), "+Inf"]
                buckets = list(zip(bounds, map(float, accumulate(point.bucket_counts)), strict=True))
                family.add_metric(_collect_label_values(point, labels), buckets, point.sum)
        case Sum(data_points=points, is_monotonic=True):
            family = CounterMetricFamily(name, help_, labels=labels)
            for point in points:
                family.add_metric(_collect_label_values(point, labels), point.value)
        case Sum(data_points=points) | Gauge(data_points=points):
            family = GaugeMetricFamily(name, help_, labels=labels)
            for point in points:
                family.add_metric(_collect_label_values(point, labels), point.value)
        case _:
            return None
    return family


def build_metric_name(metric: Metric) -> str:
    """Build the Prometheus name: `outrider.tool.duration` in seconds is `outrider_tool_duration_seconds`."""
    unit_names = {"s": "seconds", "{token}": "tokens", "{character}": "characters", "{USD}": "usd"}
    unit = unit_names.get(metric.unit or "", "")
    name = INVALID_NAME_CHARS.sub("_", metric.name)
    return f"{name}_{unit}" if unit and not name.endswith(f"_{unit}") else name


def _sanitize_label(key: str) -> str:
    return INVALID_NAME_CHARS.sub("_", key)


def _collect_label_values(point: NumberDataPoint | HistogramDataPoint, labels: list[str]) -> list[str]:
    values = {_sanitize_label(key): str(value) for key, value in (point.attributes or {}).items()}
    return [values.get(label, "") for label in labels]
