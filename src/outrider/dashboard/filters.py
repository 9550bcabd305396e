"""Template filters that format numbers and times."""

import json
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup, escape

from outrider.core.text import format_count

CLIP_CHARS = 200


def when(seconds: float | None) -> Markup:
    """Format seconds since the epoch as UTC; a script shows it as `3 min ago`."""
    if seconds is None:
        return Markup("–")
    at = datetime.fromtimestamp(seconds, UTC)
    exact = at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    return Markup('<time datetime="{}">{}</time>').format(exact, at.strftime("%Y-%m-%d %H:%M:%S"))


def duration(seconds: float | None) -> str:
    """Format as `8 ms`, `1.4 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds is None:
        return "–"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def size(count: float | None) -> str:
    """Format bytes as `812 B`, `3.1 kB`, `4.0 MB`."""
    if count is None:
        return "–"
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def number(count: float | None) -> str:
    """Format as `12,345`."""
    return "–" if count is None else f"{count:,.0f}"


def clip(text: Any, limit: int = CLIP_CHARS) -> str:
    """Cut a text to its beginning, with an ellipsis."""
    text = str(text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def pretty(value: Any) -> str:
    """Format a value as indented JSON."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def compact(value: Any, limit: int = CLIP_CHARS) -> str:
    """Format a value as JSON in one line, cut at `limit` characters."""
    return clip(json.dumps(value, ensure_ascii=False, default=str), limit)


def lines(text: str) -> Markup:
    """Keep the line breaks of a text."""
    return Markup("<br>").join(escape(line) for line in text.splitlines())


FILTERS = {each.__name__: each for each in (when, duration, size, number, clip, pretty, compact, lines)} | {
    "plural": format_count
}  # `{{ run.started_at | when }}`
