"""Encode a frame: header length (4 bytes, big endian), header as JSON, JPEG."""

import json
import time

from outrider.browser.live.screencast import ScreencastFrame


def encode_frame(session_id: str, frame: ScreencastFrame) -> bytes:
    """Encode with the fields of gsd-browser's `frame` event; times in seconds since the epoch, sizes in CSS pixels."""
    now = time.time()
    header = {
        "seq": frame.seq,
        "session_id": session_id,
        "captured_ts": frame.captured_at,
        "received_ts": frame.received_at,
        "emitted_ts": now,
        "latency_ms": round((now - frame.captured_at) * 1_000, 1),
        "metadata": {"width": frame.size[0], "height": frame.size[1], "scale": frame.scale},
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    return len(text).to_bytes(4, "big") + text + frame.data
