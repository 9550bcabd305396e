"""The table of the page cache, imported only by queries.

See `core.tables`.
"""

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, String, Table, Text

from outrider.core.tables import metadata

pages = Table(
    "pages",
    metadata,
    Column("key", String(64), primary_key=True),  # SHA-256 of canonical address and main flag
    Column("url", Text, nullable=False),  # the canonical requested address
    Column("final_url", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("content_type", String(255), nullable=False),
    Column("fetched_at", Float, nullable=False),
    Column("checked_at", Float, nullable=False),  # when the server last sent or confirmed it
    Column("fresh_until", Float, nullable=False),
    Column("etag", Text, nullable=False),
    Column("last_modified", Text, nullable=False),
    Column("cut", Integer, nullable=False),
    Column("size", Integer, nullable=False),  # bytes of the row's contents and its words
    Column("used_at", Float, nullable=False),
    Column("document", LargeBinary, nullable=False),  # zlib of its JSON
    Column("html", LargeBinary),  # zlib of the decoded source
    # Covers the sum of sizes and the order of eviction, so that they do not read all the contents.
    Index("ix_pages_room", "used_at", "size", "key"),
)
