"""Record a session's steps as one HTML file that replays them."""

import json
import struct
import time
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from outrider.browser.page.screenshot import take_screenshot
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.redact import redact_url
from outrider.core.errors import Unavailable

PLAYER_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<style>
 body {{ margin: 0; font: 14px/1.4 system-ui, sans-serif }}
 body {{ display: grid; grid-template-columns: 20rem 1fr; height: 100vh }}
 ol {{ overflow: auto; margin: 0; padding: 0; border-right: 1px solid #ccc; list-style: none }}
 button {{ width: 100%; padding: .5rem; border: 0; background: none; text-align: left; font: inherit; cursor: pointer }}
 button[aria-current=true] {{ background: #dbe9ff }}
 main {{ overflow: auto; padding: 1rem }}
 img {{ max-width: 100%; border: 1px solid #ccc }}
 pre {{ white-space: pre-wrap }}
</style></head><body><ol aria-label="Steps"></ol>
<main><h1></h1><p></p><img alt="The page after this step"><h2>Outline</h2><pre></pre></main>
<script type="application/json" id="steps">{steps}</script>
<script>
 const steps = JSON.parse(document.getElementById('steps').textContent)
 const list = document.querySelector('ol'), find = name => document.querySelector(`main ${{name}}`)
 let current = 0
 const show = number => {{
   current = Math.min(Math.max(number, 0), steps.length - 1)
   const step = steps[current]
   find('h1').textContent = step.label
   find('p').textContent = `${{step.time}} · ${{step.title}} · ${{step.url}}`
   find('img').src = step.picture
   find('pre').textContent = step.outline
   list.querySelectorAll('button').forEach((button, i) => button.setAttribute('aria-current', i === current))
   list.children[current].scrollIntoView({{block: 'nearest'}})
 }}
 steps.forEach((step, i) => {{
   const button = document.createElement('button')
   button.textContent = `${{i + 1}}. ${{step.label}}`
   button.onclick = () => show(i)
   list.appendChild(document.createElement('li')).append(button)
 }})
 addEventListener('keydown', event => {{
   const step = {{ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}}[event.key]
   if (step) {{ event.preventDefault(); show(current + step) }}
 }})
 show(0)
</script></body></html>
"""


@dataclass(frozen=True)
class TraceStep:
    """The page after a call. `at` is in seconds since the epoch, `picture` a WebP."""

    at: float
    label: str
    url: str
    title: str
    outline: str
    picture: bytes


class Trace:
    """The newest 200 steps since the recording began, up to 40 MB of pictures.

    Args:
        describe_call: Names the call in progress.
    """

    def __init__(self, describe_call: Callable[[], str]) -> None:
        self._describe_call = describe_call
        self.steps: list[TraceStep] = []
        self.dropped = 0

    async def record_step(self, page: BrowserPage, title: str, outline: str) -> None:
        """Add the current state of a page, and drop the oldest steps past the limits."""
        max_steps, max_bytes = 200, 40_000_000
        shot = await take_screenshot(page, format="webp", quality=50)
        self.steps.append(
            TraceStep(time.time(), self._describe_call(), redact_url(page.url), title, outline, shot.data)
        )
        while len(self.steps) > max_steps or sum(len(step.picture) for step in self.steps) > max_bytes:
            self.steps.pop(0)
            self.dropped += 1

    def to_video(self) -> bytes:
        """Return the pictures as an animated WebP.

        Each is shown as long as its step took, 0.4 to 2 seconds.
        """
        self._require_steps()
        ends = [step.at for step in self.steps[1:]] + [self.steps[-1].at + 2]
        pauses_s = [min(max(end - step.at, 0.4), 2.0) for step, end in zip(self.steps, ends, strict=True)]
        return build_animation([step.picture for step in self.steps], [round(pause * 1e3) for pause in pauses_s])

    def to_html(self) -> bytes:
        """Return a page that replays the steps, without any request. Raises Unavailable if there are none."""
        self._require_steps()
        steps: list[dict[str, Any]] = [
            {
                "time": time.strftime("%H:%M:%S UTC", time.gmtime(step.at)),
                "label": step.label,
                "url": step.url,
                "title": step.title,
                "outline": step.outline,
                "picture": f"data:image/webp;base64,{b64encode(step.picture).decode()}",
            }
            for step in self.steps
        ]
        # Text of a page could end the script element.
        data = json.dumps(steps, ensure_ascii=False).replace("<", "\\u003c")
        return PLAYER_PAGE.format(title=escape(f"Trace of {self.steps[0].title}"), steps=data).encode()

    def _require_steps(self) -> None:
        if not self.steps:
            hint = "use the session, then stop the recording"
            raise Unavailable("the trace has no steps", code="no_steps", hint=hint)


@dataclass(frozen=True)
class _Frame:
    """A picture's chunks of image data, size in pixels, and transparency."""

    chunks: bytes
    width: int
    height: int
    has_alpha: bool


def build_animation(pictures: Sequence[bytes], durations_ms: Sequence[int]) -> bytes:
    """Return an animated WebP that repeats (RFC 9649, section 2.7). A smaller picture is shown at the top left.

    Raises:
        ValueError: A picture is not a WebP with lossy image data, as browsers take them.
    """
    max_duration_ms = 2**24 - 1
    frames = [_read_frame(picture) for picture in pictures]
    width, height = max(frame.width for frame in frames), max(frame.height for frame in frames)
    flags = 0x02 | (0x10 if any(frame.has_alpha for frame in frames) else 0)
    parts = [
        _build_chunk(b"VP8X", bytes([flags, 0, 0, 0]) + _pack_24(width - 1) + _pack_24(height - 1)),
        _build_chunk(b"ANIM", struct.pack("<IH", 0xFFFFFFFF, 0)),
    ]
    for frame, duration_ms in zip(frames, durations_ms, strict=True):
        size = _pack_24(frame.width - 1) + _pack_24(frame.height - 1)
        timing = _pack_24(min(max(duration_ms, 0), max_duration_ms))
        clears_first = b"\x03"  # not blended with the previous frame, and cleared before the next
        parts.append(_build_chunk(b"ANMF", bytes(6) + size + timing + clears_first + frame.chunks))
    body = b"WEBP" + b"".join(parts)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _read_frame(picture: bytes) -> _Frame:
    """Read a WebP picture's image data."""
    if picture[:4] != b"RIFF" or picture[8:12] != b"WEBP":
        raise ValueError("the picture is not a WebP")
    chunks, offset = {}, 12
    while offset + 8 <= len(picture):
        kind, size = struct.unpack_from("<4sI", picture, offset)
        chunks[kind] = picture[offset + 8 : offset + 8 + size]
        offset += 8 + size + size % 2
    image = chunks.get(b"VP8 ", b"")
    if image[3:6] != b"\x9d\x01\x2a" or len(image) < 10:  # the start code of a key frame (RFC 6386, section 9.1)
        raise ValueError("the picture has no lossy image data")
    width, height = (side & 0x3FFF for side in struct.unpack_from("<HH", image, 6))
    alpha = chunks.get(b"ALPH")
    prefix = _build_chunk(b"ALPH", alpha) if alpha is not None else b""
    return _Frame(prefix + _build_chunk(b"VP8 ", image), width, height, alpha is not None)


def _build_chunk(kind: bytes, payload: bytes) -> bytes:
    return kind + struct.pack("<I", len(payload)) + payload + bytes(len(payload) % 2)


def _pack_24(number: int) -> bytes:
    return number.to_bytes(3, "little")
