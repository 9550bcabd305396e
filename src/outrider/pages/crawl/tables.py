"""The tables of crawls. Import this only where a query is made (see `core.tables`)."""

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, String, Table, Text

from outrider.core.tables import json_type, metadata

crawls = Table(
    "crawls",
    metadata,
    Column("id", String(32), primary_key=True),  # of its owner and its plan
    Column("owner", String(64), nullable=False, index=True),  # SHA-256 of whoever it belongs to
    Column("start", Text, nullable=False),
    Column("plan", json_type, nullable=False),
    Column("round", Integer, nullable=False),  # how often it was begun
    Column("state", String(16), nullable=False),  # `running` until its last page is read, then `finished`
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("holder", String(200), nullable=False),  # the process that crawls, until `held_until`
    Column("held_until", Float, nullable=False),
    Column("errand", json_type),  # what another process needs to go on for a caller; None where nobody may
    Column("until", Float),  # when the caller's time is up
    Index("ix_crawls_state", "state", "held_until"),
)

crawl_pages = Table(
    "crawl_pages",
    metadata,
    Column("crawl", String(32), ForeignKey("crawls.id", ondelete="CASCADE"), primary_key=True),
    Column("key", String(64), primary_key=True),  # SHA-256 of the page's key
    Column("url", Text, nullable=False),
    Column("round", Integer, nullable=False),  # the last one in which it was found
    Column("number", Integer, nullable=False),  # in the order of finding
    Column("depth", Integer, nullable=False),
    Column("state", String(16), nullable=False),  # waiting, read, duplicate, skipped, failed, gone
    Column("detail", Text, nullable=False),  # why, or of what
    Column("again", Integer, nullable=False),  # whether a later attempt may work where this one failed
    Column("modified", Float, nullable=False),  # as the sitemap says it
    Column("final_url", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("sha256", String(64), nullable=False),  # of its Markdown
    Column("chars", Integer, nullable=False),
    Column("change", String(16), nullable=False),  # new, changed, same: against the round before
    Column("read_at", Float, nullable=False),
    Column("kept", String(80), nullable=False),  # where a store keeps it
    Index("ix_crawl_pages_next", "crawl", "round", "state", "depth", "number"),
    Index("ix_crawl_pages_sha256", "crawl", "sha256"),
)
