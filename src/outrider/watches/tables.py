"""The tables of watches, imported only by queries.

See `core.tables`.
"""

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, LargeBinary, String, Table, Text

from outrider.core.tables import json_type, metadata

watches = Table(
    "watches",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("owner", String(64), nullable=False, index=True),  # `Call.owner_folder`; empty for the machine's one user
    Column("name", Text, nullable=False),
    Column("kind", String(16), nullable=False),  # page, query or fields
    Column("target", json_type, nullable=False),  # `url`, `query` and `fields`, as the kind needs them
    Column("host", String(255), nullable=False),  # its watches are looked at one at a time
    Column("schedule", String(200), nullable=False),
    Column("strict", Integer, nullable=False),  # whether dates and counters count
    Column("notify", json_type, nullable=False),  # names of notices
    Column("state", String(16), nullable=False),  # active or paused
    Column("created_at", Float, nullable=False),
    Column("next_at", Float, nullable=False),
    Column("looked_at", Float, nullable=False),  # 0: never
    Column("changed_at", Float, nullable=False),
    Column("looks", Integer, nullable=False),
    Column("changes", Integer, nullable=False),  # the number of the newest change
    Column("failures", Integer, nullable=False),  # in a row
    Column("problem", Text, nullable=False),  # why the last look failed
    Column("title", Text, nullable=False),
    Column("sha256", String(64), nullable=False),  # of the last seen text
    Column("snapshot", LargeBinary),  # zlib of that text
    Column("holder", String(200), nullable=False),  # the process that looks, until `held_until`
    Column("held_until", Float, nullable=False),
    Index("ix_watches_due", "state", "next_at"),
)

watch_changes = Table(
    "watch_changes",
    metadata,
    Column("watch", String(16), ForeignKey("watches.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("at", Float, nullable=False, index=True),
    Column("kind", String(16), nullable=False),  # changed or problem
    Column("url", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("difference", Text, nullable=False),
)

# Hosts get requests from one process at a time, and a failing host rests for all of its watches.
watch_hosts = Table(
    "watch_hosts",
    metadata,
    Column("host", String(255), primary_key=True),  # as in `watches`; empty for searches
    Column("free_at", Float, nullable=False),
    Column("crawl_delay_s", Float, nullable=False),
    Column("failures", Integer, nullable=False),  # in a row
    Column("problem", Text, nullable=False),
)

# Written in the transaction of their change and deleted once sent, so that none is lost or made twice.
watch_notices = Table(
    "watch_notices",
    metadata,
    Column("watch", String(16), ForeignKey("watches.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("name", String(100), primary_key=True),
    Column("state", String(16), nullable=False),  # waiting or failed
    Column("attempts", Integer, nullable=False),
    Column("next_at", Float, nullable=False),
    Column("problem", Text, nullable=False),
    Column("holder", String(200), nullable=False),
    Column("held_until", Float, nullable=False),
    Index("ix_watch_notices_due", "state", "next_at"),
)
