"""Database tables of content stores.

Import this only where a query is built (see `core.tables`). These rows are the source of truth; keyword indexes and
vector codes are derived from them and can be deleted.
"""

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, String, Table, Text

from outrider.core.tables import json_type, metadata

content_stores = Table(
    "content_stores",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("scope", String(64), nullable=False),  # of workspace, person and session (`Call.scope`)
    Column("default_of", String(64), unique=True),  # the scope whose default store it is
    Column("name", String(200), nullable=False),
    Column("description", Text, nullable=False),
    Column("languages", Text, nullable=False),  # of all contents it ever had, separated by spaces
    Column("created_at", Float, nullable=False),
    Column("modified_at", Float, nullable=False),
    # Incremented by every transaction that changes contents of the store; changed rows get the new value.
    Column("generation", Integer, nullable=False),
    Column(
        "stamp", String(16), nullable=False
    ),  # random, new with each change: distinguishes a restored backup from the original
    Column("swept", Integer, nullable=False),  # removals up to this generation have been purged
    Column("embedded", Integer, nullable=False),  # incremented by every transaction that adds vectors
    Column("workspace", String(200), index=True),  # the parts of `scope`
    Column("identity", String(200)),
    Index("ix_content_stores_scope", "scope", "created_at"),
)
contents = Table(
    "contents",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("store_id", String(40), nullable=False),
    Column("generation", Integer, nullable=False),  # the store's generation when it was added or last changed
    Column("version", Integer, nullable=False),
    Column("filename", String(255), nullable=False),
    Column("mime_type", String(127), nullable=False),
    Column("source", Text, nullable=False),  # address or path of the original; may be empty
    Column("title", Text, nullable=False),
    Column("language", String(16), nullable=False),  # name of the stemmer; empty if unknown
    Column("hash", String(64), nullable=False),  # SHA-256 of the text
    Column("size", Integer, nullable=False),  # bytes of the original
    Column("characters", Integer, nullable=False),
    Column("line_count", Integer, nullable=False),
    Column("chunk_count", Integer, nullable=False),
    Column("preview", Text, nullable=False),
    Column("facts", json_type, nullable=False),
    Column("unasked", Integer, nullable=False, default=0),  # 1: saved automatically, never added by request
    Column("uploaded_at", Float, nullable=False),
    Column("modified_at", Float, nullable=False),
    Column("accessed_at", Float, nullable=False),
    Index("ix_contents_generation", "store_id", "generation"),
    Index("ix_contents_hash", "store_id", "hash"),
    Index("ix_contents_figures", "store_id", "chunk_count", "size"),  # covers the totals of a store
    Index("ix_contents_uploaded_at", "store_id", "uploaded_at"),
    Index("ix_contents_source", "source"),
    Index("ix_contents_unasked", "unasked", "accessed_at"),
)
content_chunks = Table(
    "content_chunks",
    metadata,
    Column("id", String(64), primary_key=True),  # <content id>.<version>.<number>
    Column("content_id", String(40), nullable=False),
    Column("store_id", String(40), nullable=False),
    Column("number", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("from_line", Integer, nullable=False),
    Column("to_line", Integer, nullable=False),
    Column("heading", Text, nullable=False),
    Column("text", Text, nullable=False),
    Index("ix_content_chunks_content_id", "content_id", "number", unique=True),
    Index("ix_content_chunks_store_id", "store_id"),
)
# Deleted contents, for keyword indexes that have not applied the deletion yet.
content_removals = Table(
    "content_removals",
    metadata,
    Column("store_id", String(40), primary_key=True),
    Column("content_id", String(40), primary_key=True),
    Column("generation", Integer, nullable=False),
    Column("at", Float, nullable=False, index=True),
    Index("ix_content_removals_generation", "store_id", "generation"),
)
# The vector of a chunk under one embedder. Expensive to compute, so it is stored and not derived.
content_vectors = Table(
    "content_vectors",
    metadata,
    Column("chunk_id", String(64), primary_key=True),
    Column("embedder", String(100), primary_key=True),
    Column("content_id", String(40), nullable=False),
    Column("store_id", String(40), nullable=False),
    Column("embedded", Integer, nullable=False),  # the store's `embedded` when it was added
    Column("vector", LargeBinary, nullable=False),  # unit length, little-endian float16
    Index("ix_content_vectors_store_id", "store_id", "embedder", "embedded"),
    Index("ix_content_vectors_content_id", "content_id"),
)
# The file of a content, if its text alone cannot reproduce every byte.
content_originals = Table(
    "content_originals",
    metadata,
    Column("content_id", String(40), primary_key=True),
    Column("store_id", String(40), nullable=False, index=True),
    Column("body", LargeBinary, nullable=False),
)
# Deleted contents whose rows have not been purged yet; a whole store if `content_id` is empty.
content_leftovers = Table(
    "content_leftovers",
    metadata,
    Column("store_id", String(40), primary_key=True),
    Column("content_id", String(40), primary_key=True),
    Column("at", Float, nullable=False),
)
