"""Tables of identities.

Tokens are saved as SHA-256 hashes, so that the contents of these tables cannot be used to authenticate. Import this
module only where a query is made (see `core.tables`).
"""

from sqlalchemy import Column, Float, Index, Integer, PrimaryKeyConstraint, String, Table, Text

from outrider.core.tables import json_type, metadata

workspaces = Table(
    "identity_workspaces",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("created_at", Float, nullable=False),
)

members = Table(
    "identity_members",
    metadata,
    Column("workspace", String(64), nullable=False),
    Column("person", String(200), nullable=False),
    Column("role", String(16), nullable=False),  # viewer | member | owner
    Column("added_at", Float, nullable=False),
    PrimaryKeyConstraint("workspace", "person"),
    Index("ix_identity_members_person", "person"),
)

tokens = Table(
    "identity_tokens",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("hash", String(64), nullable=False),
    Column("label", String(200), nullable=False),
    Column("person", String(200), nullable=False),
    Column("role", String(16), nullable=False),  # upper limit; the person may have a lower role
    Column("workspaces", json_type, nullable=False),  # empty: all workspaces of the person
    Column("toolsets", json_type),  # None: all
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("used_at", Float),  # precise to about five minutes
    Column("revoked_at", Float),
    Index("ix_identity_tokens_hash", "hash", unique=True),
    Index("ix_identity_tokens_person", "person"),
)

# Changes to identities, and refused callers; tool calls are in `events`. Rows are never changed.
audit = Table(
    "identity_audit",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("at", Float, nullable=False, index=True),
    Column("person", String(200)),
    Column("credential", String(200)),
    Column("workspace", String(200)),
    Column("address", String(64)),
    Column("action", String(64), nullable=False),
    Column("outcome", String(64), nullable=False),
    Column("detail", Text, nullable=False),
)

# Usage of a quota in a time window; `key` is a hash of quota and owner.
counters = Table(
    "identity_counters",
    metadata,
    Column("key", String(64), nullable=False),
    Column("window", Integer, nullable=False),  # when it ends, in seconds since the epoch
    Column("used", Float, nullable=False),
    PrimaryKeyConstraint("key", "window"),
    Index("ix_identity_counters_window", "window"),
)
