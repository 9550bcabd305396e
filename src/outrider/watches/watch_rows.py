"""Convert watches to rows of their table, and back."""

import hashlib
import zlib
from collections.abc import Mapping
from typing import Any

from outrider.core.database.database import to_storable_text
from outrider.watches.watch import Change, Reading, Watch, WatchDraft, WatchTarget

MAX_TEXT_CHARS = 1_000_000  # of a snapshot


def build_row(watch_id: str, owner: str, draft: WatchDraft, now: float, next_at: float) -> dict[str, Any]:
    """Return the row of a new watch that has not been looked at."""
    target = {"url": draft.target.url, "query": draft.target.query, "fields": draft.target.fields}
    numbers = dict.fromkeys(("looked_at", "changed_at", "held_until"), 0.0) | dict.fromkeys(
        ("looks", "changes", "failures"), 0
    )
    return numbers | {
        "id": watch_id,
        "owner": owner,
        "name": to_storable_text(draft.name or draft.target.label, 300),
        "kind": draft.target.kind,
        "target": target,
        "host": to_storable_text(draft.target.host, 255),
        "schedule": draft.schedule,
        "strict": int(draft.strict),
        "notify": list(draft.notify),
        "state": "active",
        "created_at": now,
        "next_at": next_at,
        "problem": "",
        "title": "",
        "sha256": "",
        "snapshot": None,
        "holder": "",
    }


def build_snapshot(reading: Reading) -> dict[str, Any]:
    """Return the columns that hold the snapshot."""
    text = reading.text[:MAX_TEXT_CHARS]
    data = text.encode("utf-8", "replace")
    return {
        "title": to_storable_text(reading.title, 300),
        "sha256": hashlib.sha256(data).hexdigest(),
        "snapshot": zlib.compress(data, 3),
    }


def read_snapshot(data: bytes | None) -> str | None:
    """Return the text of a snapshot; None if it is missing or damaged, so that the next look starts over."""
    try:
        return None if data is None else zlib.decompress(data).decode("utf-8", "replace")
    except zlib.error:
        return None


def parse_watch(row: Mapping[Any, Any]) -> Watch:
    """Return the watch of a row; it shows its host's problem if it has none, and waits until its host is free."""
    copied_names = ("id", "owner", "name", "schedule", "state", "created_at", "next_at", "looked_at", "changed_at")
    copied_names += ("looks", "changes", "failures", "problem", "title")
    target = WatchTarget(row["target"]["url"], row["target"]["query"], row["target"]["fields"])
    values = {name: row[name] for name in copied_names}
    if row.get("host_problem"):
        values |= {"problem": row["problem"] or row["host_problem"], "next_at": max(row["next_at"], row["free_at"])}
    return Watch(target=target, strict=bool(row["strict"]), notify=tuple(row["notify"]), **values)


def parse_change(row: Mapping[Any, Any]) -> Change:
    """Return the change of a row."""
    names = ("watch", "number", "at", "kind", "url", "summary", "difference")
    return Change(**{name: row[name] for name in names})
