"""The tables of content stores. Import this only where a query is made (see `core.tables`).

They are the truth; keyword indexes and what is computed from vectors are made of them and can be thrown away.
"""

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, String, Table, Text

from outrider.core.tables import json_type, metadata

content_stores = Table(
    "content_stores",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("scope", String(64), nullable=False),  # of workspace, person and session (`Content.scope`)
    Column("default_of", String(64), unique=True),  # the scope whose default store it is
    Column("name", String(200), nullable=False),
    Column("description", Text, nullable=False),
    Column("languages", Text, nullable=False),  # all that its contents ever had, a space between them
    Column("created_at", Float, nullable=False),
    Column("modified_at", Float, nullable=False),
    # Every transaction that changes contents of the store counts here, and gives its count to what it touched.
    Column("generation", Integer, nullable=False),
    Column("stamp", String(16), nullable=False),  # a random text of that very change
    Column("swept", Integer, nullable=False),  # removals up to this generation are forgotten
    Column("embedded", Integer, nullable=False),  # counts the transactions that added vectors, as `generation` does
    Column("workspace", String(200), index=True),  # what `scope` was made of
    Column("identity", String(200)),
    Index("ix_content_stores_scope", "scope", "created_at"),
)
contents = Table(
    "contents",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("store_id", String(40), nullable=False),
    Column("generation", Integer, nullable=False),  # the store's, when it was added or last changed
    Column("version", Integer, nullable=False),
    Column("filename", String(255), nullable=False),
    Column("mime_type", String(127), nullable=False),
    Column("source", Text, nullable=False),  # the address or path that it came from; may be empty
    Column("title", Text, nullable=False),
    Column("language", String(16), nullable=False),  # of the stemmer; empty where unknown
    Column("hash", String(64), nullable=False),  # SHA-256 of the text
    Column("size", Integer, nullable=False),  # bytes of what was given
    Column("characters", Integer, nullable=False),
    Column("line_count", Integer, nullable=False),
    Column("chunk_count", Integer, nullable=False),
    Column("preview", Text, nullable=False),
    Column("facts", json_type, nullable=False),
    Column("unasked", Integer, nullable=False, default=0),  # 1: it was only read, and nobody asked to keep it
    Column("uploaded_at", Float, nullable=False),
    Column("modified_at", Float, nullable=False),
    Column("accessed_at", Float, nullable=False),
    Index("ix_contents_generation", "store_id", "generation"),
    Index("ix_contents_hash", "store_id", "hash"),
    Index("ix_contents_figures", "store_id", "chunk_count", "size"),  # a store's sums, without reading its rows
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
# Contents that are gone, for indexes that have not heard of it.
content_removals = Table(
    "content_removals",
    metadata,
    Column("store_id", String(40), primary_key=True),
    Column("content_id", String(40), primary_key=True),
    Column("generation", Integer, nullable=False),
    Column("at", Float, nullable=False, index=True),
    Index("ix_content_removals_generation", "store_id", "generation"),
)
# One chunk's vector under one embedder: dear to compute, so a part of the truth.
content_vectors = Table(
    "content_vectors",
    metadata,
    Column("chunk_id", String(64), primary_key=True),
    Column("embedder", String(100), primary_key=True),
    Column("content_id", String(40), nullable=False),
    Column("store_id", String(40), nullable=False),
    Column("embedded", Integer, nullable=False),  # the store's `embedded`, when it was added
    Column("vector", LargeBinary, nullable=False),  # unit length, little-endian float16
    Index("ix_content_vectors_store_id", "store_id", "embedder", "embedded"),
    Index("ix_content_vectors_content_id", "content_id"),
)
# What was deleted and still has rows, which nobody sees any more: of a whole store where `content_id` is empty.
content_leftovers = Table(
    "content_leftovers",
    metadata,
    Column("store_id", String(40), primary_key=True),
    Column("content_id", String(40), primary_key=True),
    Column("at", Float, nullable=False),
)
