"""What operators see of a running house: traces, metrics, logs. Built on OpenTelemetry; loaded only when asked for."""
