"""The tables of crawls, imported only by queries (see `core.tables`)."""

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, String, Table, Text

from outrider.core.tables import json_type, metadata

crawls = Table(
    "crawls",
    metadata,
    Column("id", String(32), primary_key=True),  # derived from owner and plan
    Column("owner", String(64), nullable=False, index=True),  # SHA-256 of the owner
    Column("start", Text, nullable=False),
    Column("plan", json_type, nullable=False),
    Column("round", Integer, nullable=False),  # the number of its current reading, from 1
    Column("state", String(16), nullable=False),  # `running` until its last page is read, then `finished`
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("holder", String(200), nullable=False),  # the process with the lease, until `held_until`
    Column("held_until", Float, nullable=False),
    Column("errand", json_type),  # data for another process to resume the crawl; None if that is not wanted
    Column("until", Float),  # the end of the caller's time
    Index("ix_crawls_state", "state", "held_until"),
)

crawl_pages = Table(
    "crawl_pages",
    metadata,
    Column("crawl", String(32), ForeignKey("crawls.id", ondelete="CASCADE"), primary_key=True),
    Column("key", String(64), primary_key=True),  # SHA-256 of the page's key
    Column("url", Text, nullable=False),
    Column("round", Integer, nullable=False),  # the last round in which it was found
    Column("number", Integer, nullable=False),  # in the order of discovery
    Column("depth", Integer, nullable=False),
    Column("state", String(16), nullable=False),  # waiting, read, duplicate, skipped, failed, gone
    Column("detail", Text, nullable=False),  # the reason, or the address that it duplicates
    Column("again", Integer, nullable=False),  # whether a failure is transient
    Column("modified", Float, nullable=False),  # according to the sitemap
    Column("final_url", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("sha256", String(64), nullable=False),  # of its Markdown
    Column("chars", Integer, nullable=False),
    Column("change", String(16), nullable=False),  # new, changed or same, compared with the previous round
    Column("read_at", Float, nullable=False),
    Column("kept", String(80), nullable=False),  # its id in a content store
    Index("ix_crawl_pages_next", "crawl", "round", "state", "depth", "number"),
    Index("ix_crawl_pages_sha256", "crawl", "sha256"),
)
