"""ONNX Runtime's telemetry, which is on by default."""

import os


def disable_onnx_telemetry() -> None:
    """Keep ONNX Runtime from reporting to its vendor; call this before importing it.

    From version 1.29 on it writes a device ID below `~/.cache/Microsoft` and sends events, past the egress guard.
    If the operator has set the variable, it stays unchanged.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
