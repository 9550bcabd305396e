"""Traces, metrics and logs for operators, built on OpenTelemetry."""
