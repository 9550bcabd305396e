"""Write the notices of changes."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from outrider.core.notices.notifier import Notice
from outrider.watches.tables import watch_changes, watches
from outrider.watches.watch import Change, Watch
from outrider.watches.watch_rows import parse_change, parse_watch


async def load_notice(connection: AsyncConnection, row: Any) -> Notice | None:
    """Return the notice of a row of `watch_notices`; None if its watch was removed."""
    this_change = (watch_changes.c.watch == row["watch"]) & (watch_changes.c.number == row["number"])
    watch = (await connection.execute(select(watches).where(watches.c.id == row["watch"]))).mappings().first()
    change = (await connection.execute(select(watch_changes).where(this_change))).mappings().first()
    if watch is None or change is None:
        return None
    return build_notice(row["name"], parse_watch(watch), parse_change(change))


def build_notice(name: str, watch: Watch, change: Change) -> Notice:
    """Return the notice of a change, for the configured channel of that name."""
    max_subject_chars = 200
    words = "Changed" if change.kind == "changed" else "Cannot be read"
    subject = " ".join(f"{words}: {watch.name} ({change.summary})".split())
    return Notice(
        id=f"{watch.id}-{change.number}-{name}",
        name=name,
        subject=subject[:max_subject_chars].replace("\0", ""),
        url=change.url or watch.target.url,
        text=change.difference,
        event={
            "type": f"watch.{change.kind}",
            "timestamp": datetime.fromtimestamp(change.at, UTC).isoformat(timespec="seconds"),
            "data": {
                "watch": {"id": watch.id, "name": watch.name, "kind": watch.target.kind, "target": watch.target.label},
                "number": change.number,
                "url": change.url,
                "summary": change.summary,
                "difference": change.difference,
            },
        },
    )
