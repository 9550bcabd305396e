"""ONNX Runtime's telemetry, which is on by default."""

import os


def disable_onnx_telemetry() -> None:
    """Keep ONNX Runtime from reporting to its maker; call this before importing it.

    From version 1.29 on it writes a device ID below `~/.cache/Microsoft` and sends events, past the egress guard.
    An operator who has set the variable decides.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
