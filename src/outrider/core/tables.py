"""Tables of the core, and the metadata that every domain's tables join.

Portable between SQLite and Postgres: text ids made by the application, times as seconds since the
epoch (UTC), JSON that Postgres stores as JSONB. Import this only where a query is made, because
SQLAlchemy is slow to import.
"""

from sqlalchemy import JSON, BigInteger, Column, Float, Integer, MetaData, String, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

metadata = MetaData(naming_convention={"ix": "ix_%(table_name)s_%(column_0_name)s", "pk": "pk_%(table_name)s"})
json_type = JSON().with_variant(JSONB(), "postgresql")

events = Table(
    "events",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("at", Float, nullable=False, index=True),
    Column("session", String(200), nullable=False, index=True),
    Column("assistant", String(200)),
    Column("thread", String(200)),
    Column("identity", String(200)),
    Column("toolset", String(64), nullable=False),
    Column("tool", String(64), nullable=False, index=True),
    Column("arguments", json_type, nullable=False),
    Column("outcome", String(64), nullable=False),
    Column("message", Text, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("size", Integer, nullable=False),
    Column("workspace", String(200)),
    Column("credential", String(200)),  # a token's id, or the client of an identity provider
    Column("address", String(64)),  # of the caller on the network
    Column("provider", String(100)),  # that answered, for tools that choose one of several
    Column("written", BigInteger, index=True),  # Postgres only: the transaction id, for core/call_history.py
)

artifacts = Table(
    "artifacts",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("created_at", Float, nullable=False, index=True),
    Column("session", String(200), nullable=False, index=True),
    Column("name", String(255), nullable=False),
    Column("mime_type", String(127), nullable=False),
    Column("size", Integer().with_variant(BigInteger, "postgresql"), nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("workspace", String(200), index=True),  # not visible in others
    Column("identity", String(200)),  # the person for whom it was made
)

citation_counters = Table(
    "citation_counters",
    metadata,
    Column("key", String(500), primary_key=True),
    Column("used", Integer, nullable=False),
    Column("updated_at", Float, nullable=False),
)

replicas = Table(
    "replicas",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("address", String(300), nullable=False),  # where other replicas reach it; empty if they cannot
    Column("started_at", Float, nullable=False),
    Column("seen_at", Float, nullable=False),
)
