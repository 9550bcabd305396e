"""Database table of browser sessions that replicas share."""

from sqlalchemy import Column, Float, Index, String, Table, Text

from outrider.core.tables import json_type, metadata

browser_sessions = Table(
    "browser_sessions",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("owner", String(200), nullable=False),
    Column("replica", String(40), nullable=False, index=True),  # the process whose browser it is in
    Column("url", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("options", json_type, nullable=False),  # how it was opened
    Column("memory", Text),  # its cookies and local storage shortly after the last call, encrypted
    Column("created_at", Float, nullable=False),
    Column("used_at", Float, nullable=False),
    Index("ix_browser_sessions_owner", "owner", "created_at"),
)
